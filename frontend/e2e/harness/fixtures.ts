import { test as base, type Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Home } from './home.ts';
import { Child, built, freePort, listeningPorts, repository, until } from './process.ts';
import { Provider } from './provider.ts';

/** The dev build: the real program, which also serves its page and services to Chromium on the loopback. */
export class Served {
  private constructor(
    private readonly child: Child,
    readonly url: string,
  ) {}

  static async start(home: Home, extra: Record<string, string> = {}): Promise<Served> {
    const port = await freePort();
    const env = home.env({
      devserver: `127.0.0.1:${port}`,
      assetdir: join(repository, 'frontend/dist'),
      CONTEXTINFINITY_BLANK_WINDOW: '1', // Chromium shows the page, so the program's own window stays blank
      // No request of a test may leave the machine; a test that needs the vendors sets its own proxy.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      ...extra,
    });
    const child = new Child(built('contextinfinity-dev'), [], env, home.root);
    const served = new Served(child, `http://127.0.0.1:${port}`);
    try {
      await until('the page is available', () => served.answers());
    } catch (error) {
      await child.crash();
      throw new Error(`${error}\n${child.output}`);
    }
    return served;
  }

  get output(): string {
    return this.child.output;
  }

  get running(): boolean {
    return this.child.running;
  }

  /** kill -9. */
  crash(): Promise<void> {
    return this.child.crash();
  }

  stop(): Promise<boolean> {
    return this.child.stop();
  }

  private async answers(): Promise<boolean> {
    if (!this.child.running) throw new Error('the program ended');
    // Another program may have taken the port since it was chosen.
    if (process.platform === 'linux' && !listeningPorts(this.child.pid).includes(Number(new URL(this.url).port))) return false;
    return fetch(this.url).then((answer) => answer.ok, () => false);
  }
}

interface Parts {
  home: Home;
  provider: Provider;
  /**
   * Starts the program and opens its page; after a crash, again with the same home. If the home has a configuration,
   * the first run is skipped.
   */
  launch: (extra?: Record<string, string>) => Promise<Served>;
}

/** A home, a provider, and a program that the test starts. Everything is removed afterwards. */
export const test = base.extend<Parts>({
  home: async ({}, use) => {
    const home = new Home();
    await use(home);
    home.remove();
  },
  provider: async ({}, use) => {
    const provider = await Provider.start();
    await use(provider);
    await provider.stop();
  },
  launch: async ({ home, page }, use, info) => {
    const started: Served[] = [];
    const problems = watch(page);
    await page.addInitScript(reportLoops);
    await page.addInitScript(openInspector);
    await use(async (extra) => {
      const served = await Served.start(home, extra);
      started.push(served);
      await page.goto(served.url);
      if (home.configured && (await page.evaluate(passFirstStart))) await page.reload();
      return served;
    });
    for (const served of started) await served.stop();
    if (info.status !== info.expectedStatus) {
      await info.attach('program output', { body: started.map((one) => one.output).join('\n---\n') });
      await info.attach('page problems', { body: problems.join('\n') });
    } else if (problems.length > 0) {
      throw new Error(`the page reported errors:\n${problems.join('\n')}`);
    }
  },
});

/** Calls the service that the buttons of the first run call; returns whether that was necessary. */
async function passFirstStart(): Promise<boolean> {
  const { Settings } = (window as unknown as { go: { api: { Settings: Record<string, (...args: unknown[]) => Promise<any>> } } }).go.api;
  if (!(await Settings.Startup?.())?.firstRun) return false;
  await Settings.FinishFirstRun?.('');
  return true;
}

/**
 * Opens the inspector, which is closed by default and which most tests need. Changes by the test are kept. A frame in
 * the page has no storage.
 */
function openInspector(): void {
  if (window !== window.top) return;
  const key = 'contextinfinity.layout';
  if (localStorage.getItem(key) === null) localStorage.setItem(key, JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
}

/** Writes a ResizeObserver loop to the console: the browser reports it only to the window, so no test would notice. */
function reportLoops(): void {
  addEventListener('error', (event) => event.message.startsWith('ResizeObserver') && console.error(event.message));
}

/**
 * Errors and warnings of the page, except known ones of Wails' own script in a browser: it draws its overlay before the
 * body exists ('nodes'), and forwards an event before the page's runtime is loaded ('EventsNotify'). The latter is
 * harmless, because a page starts with snapshots.
 */
function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => {
    if (!/reading '(nodes|EventsNotify)'/.test(error.message)) problems.push(String(error.stack ?? error));
  });
  page.on('console', (message) => {
    const text = message.text();
    const known = /favicon|WebSocket|ERR_CONNECTION|wails/i.test(text + message.location().url);
    // The frame of a preview reports what its policy refuses, as intended.
    const refused = /^(?:Blocked|Loading)/.test(text) && `${text} ${message.location().url}`.includes('about:srcdoc');
    if (['error', 'warning'].includes(message.type()) && !known && !refused) problems.push(text.replace(/(data:[^;,]*)[^'")\s]*/g, '$1'));
  });
  return problems;
}

/** Runs a command of the same program on a home and returns its output. */
export function verb(home: Home, ...args: string[]): string {
  return execFileSync(built('contextinfinity'), args, { env: home.env(), encoding: 'utf8' });
}

export { expect } from '@playwright/test';
