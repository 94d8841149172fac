import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Home } from '../harness/home.ts';
import { built, processesWithHome, until } from '../harness/process.ts';
import { Provider } from '../harness/provider.ts';
import { Vendors } from '../harness/vendors.ts';
import { FakeShell } from './fakeshell.ts';
import { Desktop } from './desktop.ts';
import { completeFirstRun, composer, conversationText, sendMessage } from './fixtures.ts';
import { TestDisplay } from './display.ts';

/**
 * An open window of the production program with everything it needs. Tests that do not affect each other can share one,
 * because starting takes longer than the tests.
 */
export class WindowEnv {
  private constructor(
    readonly display: TestDisplay,
    readonly home: Home,
    readonly provider: Provider,
    readonly vendors: Vendors,
    readonly shell: FakeShell,
    private current: Desktop,
  ) {}

  get desktop(): Desktop {
    return this.current;
  }

  /**
   * Starts the program with more environment variables, which may refer to files of the home, a screen size, and more
   * configuration. Completes the first run.
   */
  static async open(extraEnv: Record<string, string> | ((home: Home) => Record<string, string>) = {}, screen?: string, extraConfig = ''): Promise<WindowEnv> {
    const display = await TestDisplay.start(screen);
    const home = new Home();
    const provider = await Provider.start();
    home.configure(provider, extraConfig);
    const vendors = await Vendors.start(home, provider);
    const desktop = await Desktop.start(home, built('contextinfinity'), { ...vendors.env, ...(typeof extraEnv === 'function' ? extraEnv(home) : extraEnv) });
    const env = new WindowEnv(display, home, provider, vendors, new FakeShell(home), desktop);
    await completeFirstRun(desktop);
    return env;
  }

  /** Closes the window as a user does, and opens it again with the same home. */
  async reopen(extraEnv: Record<string, string>): Promise<void> {
    if (!(await this.desktop.close())) throw new Error('the program did not end with its window');
    this.current = await Desktop.start(this.home, built('contextinfinity'), { ...this.vendors.env, ...extraEnv });
    await until('the conversation is open again', async () => /branch/.test(await this.desktop.page.text('h1')) && (await this.desktop.page.has(composer)));
  }

  /**
   * Sends a message, and waits until the end of the answer is shown and the turn is final, which is required to fork
   * after it.
   */
  async talk(question: string, answer: string, lastWords = answer): Promise<void> {
    this.provider.answer(question, answer);
    await sendMessage(this.desktop, question);
    await until(`the answer to “${question}”`, async () => (await conversationText(this.desktop)).includes(lastWords));
    await until('the turn is final', () => this.desktop.page.run<boolean>(`return !/accepted|preparing|responding/.test([...document.querySelectorAll('article[data-turn]')].at(-1)?.getAttribute('aria-label') ?? 'responding')`));
  }

  /** Creates a file in the home, and returns its URL. */
  createFile(name: string, content: string | Buffer): string {
    writeFileSync(join(this.home.root, name), content);
    return pathToFileURL(join(this.home.root, name)).href;
  }

  async close(): Promise<void> {
    await this.shell.stop();
    await this.desktop.cleanUp();
    await this.vendors.stop();
    await this.provider.stop();
    await until('all processes of the test have ended', () => processesWithHome(this.home.root).length === 0);
    this.home.remove();
    await this.display.stop();
  }
}
