import { until } from '../harness/process.ts';

/** In milliseconds; long, because a machine may be slow, and the runner ends a test that hangs. */
const defaultTimeout = 90_000;

/** The part of the W3C WebDriver protocol that these tests need, over plain fetch. */
export class WebDriver {
  private constructor(
    private readonly base: string,
    private readonly session: string,
  ) {}

  /** Starts the program at `binary` through a running WebKitWebDriver. */
  static async open(driver: string, binary: string): Promise<WebDriver> {
    const options = { alwaysMatch: { 'webkitgtk:browserOptions': { binary, args: [] } } };
    const created = await call('POST', `${driver}/session`, { capabilities: options }, defaultTimeout);
    const page = new WebDriver(driver, created.sessionId);
    await page.post('timeouts', { script: defaultTimeout, pageLoad: defaultTimeout, implicit: 0 });
    return page;
  }

  /** Runs the body of a function in the page. */
  run<T>(body: string, ...args: unknown[]): Promise<T> {
    return this.post('execute/sync', { script: body, args });
  }

  /** Runs a function, which may not use anything outside itself, and waits for its result. */
  runAsync<T>(fn: () => Promise<T>): Promise<T> {
    return this.post('execute/async', { script: `const done = arguments[0]; (${fn})().then(done, (error) => done([String(error)]))`, args: [] });
  }

  /**
   * Waits until the body of a function returns something truthy. The check runs in the page whenever it changes, so a
   * busy page is not polled.
   */
  awaitChange(body: string, ...args: unknown[]): Promise<void> {
    const script = `const [args, done] = arguments;
      const check = () => (function () { ${body} }).apply(null, args) && (observer.disconnect(), done(null));
      const observer = new MutationObserver(check);
      observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ['aria-label'] });
      check();`;
    return this.post('execute/async', { script, args: [args] });
  }

  async click(css: string): Promise<void> {
    await this.clickFound(css, `return document.querySelector(arguments[0])`, css);
  }

  /** Presses the first button or disclosure whose name begins with `name`, as soon as it is enabled. */
  async press(name: string, within = 'body'): Promise<void> {
    const script = `return [...document.querySelectorAll(arguments[1] + ' :is(button, summary)')].find((button) => !button.disabled && button.offsetParent
      && (button.getAttribute('aria-label') ?? button.innerText).trim().startsWith(arguments[0]))`;
    await this.clickFound(`a button "${name}"`, script, name, within);
  }

  /**
   * Clicks the element that the body of a function returns, as soon as it exists and no longer moves: the driver clicks
   * where the element was when it located it.
   */
  private async clickFound(description: string, body: string, ...args: string[]): Promise<void> {
    const script = `const found = (function () { ${body} }).apply(null, arguments);
      return found ? { element: found, box: JSON.stringify(found.getBoundingClientRect()) } : null`;
    let before = '';
    const element = await until(description, async () => {
      const found = await this.run<{ element: Record<string, string>; box: string } | null>(script, ...args);
      const isStill = found !== null && found.box === before;
      before = found?.box ?? '';
      return isStill && found.element;
    });
    await this.post(`element/${Object.values(element)[0]}/click`, {});
  }

  async type(css: string, text: string): Promise<void> {
    await this.typeInto(await this.find(css), text);
  }

  /** Types into an element that a script returned. */
  async typeInto(element: string | Record<string, string>, text: string): Promise<void> {
    await this.post(`element/${typeof element === 'string' ? element : Object.values(element)[0]}/value`, { text });
  }

  /** Presses keys together, wherever the focus is: each is held while the next is pressed. */
  async keys(...keys: string[]): Promise<void> {
    const actions = [...keys.map((value) => ({ type: 'keyDown', value })), ...keys.toReversed().map((value) => ({ type: 'keyUp', value }))];
    await this.post('actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }

  /** Inserts text into the focused field at once, like pasting, because the driver types key by key. */
  async paste(text: string): Promise<void> {
    await this.run(`document.execCommand('insertText', false, arguments[0])`, text);
  }

  /** The visible text of the page, or of the first element that matches. */
  text(css = 'body'): Promise<string> {
    return this.run<string>('return document.querySelector(arguments[0])?.innerText ?? ""', css);
  }

  has(css: string): Promise<boolean> {
    return this.run<boolean>('return document.querySelector(arguments[0]) !== null', css);
  }

  /** Returns a PNG. The first request after a resize may never be answered, so it is repeated. */
  async screenshot(): Promise<Buffer> {
    const url = `${this.base}/session/${this.session}/screenshot`;
    const data = await call('GET', url, undefined, 10_000).catch(() => call('GET', url, undefined, defaultTimeout));
    return Buffer.from(data, 'base64');
  }

  /** Ends the session; the program may have ended already. */
  async close(): Promise<void> {
    await call('DELETE', `${this.base}/session/${this.session}`, undefined, 10_000).catch(() => undefined);
  }

  private async find(css: string): Promise<string> {
    const element = await this.post('element', { using: 'css selector', value: css });
    return Object.values(element)[0] as string;
  }

  private post(path: string, body: object): Promise<any> {
    return call('POST', `${this.base}/session/${this.session}/${path}`, body, defaultTimeout);
  }
}

async function call(method: string, url: string, body: object | undefined, timeout: number): Promise<any> {
  const response = await fetch(url, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(timeout),
  });
  const reply = (await response.json()) as { value: any };
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${reply.value?.error}: ${reply.value?.message}`);
  return reply.value;
}
