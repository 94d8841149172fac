import { test as base, type Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Home } from './home.ts';
import { Child, built, freePort, listeningPorts, repository, until } from './process.ts';
import { Provider } from './provider.ts';

/** The dev build of the program, which also serves its page and services to Chromium on the loopback interface. */
export class DevBuild {
  private constructor(
    private readonly child: Child,
    readonly url: string,
  ) {}

  static async start(home: Home, extraEnv: Record<string, string> = {}): Promise<DevBuild> {
    const port = await freePort();
    const env = home.env({
      devserver: `127.0.0.1:${port}`,
      assetdir: join(repository, 'frontend/dist'),
      CONTEXTINFINITY_BLANK_WINDOW: '1', // Chromium shows the page, so the program's own window stays blank
      // No request of a test may leave the machine. A test that needs the vendors sets its own proxy.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      ...extraEnv,
    });
    const child = new Child(built('contextinfinity-dev'), [], env, home.root);
    const program = new DevBuild(child, `http://127.0.0.1:${port}`);
    try {
      await until('the page is available', () => program.isAvailable());
    } catch (error) {
      await child.crash();
      throw new Error(`${error}\n${child.output}`);
    }
    return program;
  }

  get output(): string {
    return this.child.output;
  }

  get running(): boolean {
    return this.child.running;
  }

  /** Kills the program with SIGKILL. */
  crash(): Promise<void> {
    return this.child.crash();
  }

  stop(): Promise<boolean> {
    return this.child.stop();
  }

  private async isAvailable(): Promise<boolean> {
    if (!this.child.running) throw new Error('the program ended');
    // Another program may have taken the port since it was chosen.
    if (process.platform === 'linux' && !listeningPorts(this.child.pid).includes(Number(new URL(this.url).port))) return false;
    return fetch(this.url).then((response) => response.ok, () => false);
  }
}

interface Fixtures {
  /** Set by tests of durability: the home is on a disk. */
  isOnDisk: boolean;
  home: Home;
  provider: Provider;
  /**
   * Starts the program and opens its page. After a crash, a test can call it again with the same home. If the home has
   * a configuration, the first run is skipped.
   */
  launch: (extraEnv?: Record<string, string>) => Promise<DevBuild>;
  /** Set by tests whose answers contain what the page's policy refuses: that the browser reports it is no problem. */
  isHostile: boolean;
}

/** Provides a home, a provider, and a function that starts the program. Everything is removed after the test. */
export const test = base.extend<Fixtures>({
  isOnDisk: [false, { option: true }],
  home: async ({ isOnDisk }, use) => {
    const home = new Home(isOnDisk);
    await use(home);
    home.remove();
  },
  provider: async ({}, use) => {
    const provider = await Provider.start();
    await use(provider);
    await provider.stop();
  },
  isHostile: [false, { option: true }],
  launch: async ({ home, page, isHostile }, use, info) => {
    const started: DevBuild[] = [];
    const refusals = isHostile ? await collectRefusals(page) : new Set<string>();
    const found = collectProblems(page);
    await page.addInitScript(reportLoops);
    await page.addInitScript(openInspector);
    await use(async (extraEnv) => {
      const program = await DevBuild.start(home, extraEnv);
      started.push(program);
      if (home.configured && started.length === 1) await skipFirstRun(page, program.url);
      await page.goto(program.url);
      return program;
    });
    for (const program of started) await program.stop();
    // Only now: the browser may report a refusal to the console before it says what the message is about.
    const problems = found.filter((text) => !refusals.has(text)).map(withoutData);
    if (info.status !== info.expectedStatus) {
      await info.attach('program output', { body: started.map((program) => program.output).join('\n---\n') });
      await info.attach('page problems', { body: problems.join('\n') });
    } else if (problems.length > 0) {
      throw new Error(`the page reported errors:\n${problems.join('\n')}`);
    }
  },
});

/**
 * Calls the service that the buttons of the first run call, from an empty document: loading the page takes a second of
 * processor time, and the first run would have to be loaded before the conversation.
 */
async function skipFirstRun(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/wails/assetdir`); // a line of text
  const answer = await page.evaluate(() => new Promise<{ error?: unknown }>((resolve, reject) => {
    const socket = new WebSocket(`ws://${location.host}/wails/ipc`);
    socket.onopen = () => socket.send(`C${JSON.stringify({ name: 'api.Settings.FinishFirstRun', args: [''], callbackID: 'first-run' })}`);
    socket.onerror = () => reject(new Error('the program does not answer'));
    // Events that the program sends to every page begin with another letter.
    socket.onmessage = ({ data }) => {
      if (!data.startsWith('c')) return;
      socket.close();
      resolve(JSON.parse(data.slice(1)));
    };
  }));
  if (answer.error) throw new Error(`the first run is not skipped: ${JSON.stringify(answer.error)}`);
}

/**
 * Opens the inspector, which is closed by default and which most tests need. Changes by the test are kept. A sandboxed
 * frame has no storage, so only the top page is changed.
 */
function openInspector(): void {
  if (window !== window.top) return;
  const key = 'contextinfinity.layout';
  if (localStorage.getItem(key) === null) localStorage.setItem(key, JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
}

/**
 * Writes ResizeObserver loop errors to the console: browsers report them only as events of the window, which no test
 * would see.
 */
function reportLoops(): void {
  addEventListener('error', (event) => event.message.startsWith('ResizeObserver') && console.error(event.message));
}

/**
 * Collects errors and warnings of the page, except known ones of Wails' own script in a browser: it draws its overlay
 * before the body exists ('nodes'), and forwards an event before the page's runtime is loaded ('EventsNotify'). The
 * latter is harmless, because a page starts with snapshots.
 */
function collectProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => {
    if (!/reading '(nodes|EventsNotify)'/.test(error.message)) problems.push(String(error.stack ?? error));
  });
  page.on('console', (message) => {
    const text = message.text();
    const isKnown = /favicon|WebSocket|ERR_CONNECTION|wails/i.test(text + message.location().url);
    // The frame of a preview reports what its policy refuses, which is intended.
    const isRefusal = `${text} ${message.location().url}`.includes('about:srcdoc');
    if (['error', 'warning'].includes(message.type()) && !isKnown && !isRefusal) problems.push(text);
  });
  return problems;
}

/** Shortens data URLs. */
function withoutData(text: string): string {
  return text.replace(/(data:[^;,]*)[^'")\s]*/g, '$1');
}

/**
 * Collects the messages that the browser classifies as being about security. Their wording differs from version to
 * version, and not all name the frame that they are about.
 */
async function collectRefusals(page: Page): Promise<ReadonlySet<string>> {
  const refusals = new Set<string>();
  const session = await page.context().newCDPSession(page);
  session.on('Log.entryAdded', ({ entry }) => entry.source === 'security' && refusals.add(entry.text));
  await session.send('Log.enable');
  return refusals;
}

/** Runs the command line of the production program with a home, and returns its output. */
export function cli(home: Home, ...args: string[]): string {
  return execFileSync(built('contextinfinity'), args, { env: home.env(), encoding: 'utf8' });
}

export { expect } from '@playwright/test';
