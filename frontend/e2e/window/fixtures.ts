import { writeFileSync } from 'node:fs';
import { test as base } from '@playwright/test';
import { Home, canaryKey } from '../harness/home.ts';
import { built, processesWithHome, until } from '../harness/process.ts';
import { Provider } from '../harness/provider.ts';
import { Vendors } from '../harness/vendors.ts';

import { parseByteCounts } from '../browser/recovery.ts';
import { FakeShell } from './fakeshell.ts';
import { Desktop } from './desktop.ts';
import { TestDisplay } from './display.ts';

interface Fixtures {
  /** The test's own screen and session bus. */
  display: TestDisplay;
  home: Home;
  provider: Provider;
  vendors: Vendors;
  /** Opens the production window, with more environment variables. If the test fails, a screenshot of it is saved. */
  open: (extraEnv?: Record<string, string>) => Promise<Desktop>;
  /** Starts fake programs of the desktop on request. They are stopped after the test. */
  shell: FakeShell;
}

export const test = base.extend<Fixtures>({
  display: async ({}, use) => {
    const display = await TestDisplay.start();
    await use(display);
    await display.stop();
  },
  home: async ({ display }, use) => {
    void display; // the processes of the home must end before the display stops
    const home = new Home();
    await use(home);
    // A process that outlives its test is an error in the program or in the test.
    await until('all processes of the test have ended', () => processesWithHome(home.root).length === 0);
    home.remove();
  },
  provider: async ({}, use) => {
    const provider = await Provider.start();
    await use(provider);
    await provider.stop();
  },
  vendors: async ({ home, provider }, use) => {
    const vendors = await Vendors.start(home, provider);
    await use(vendors);
    await vendors.stop();
  },
  shell: async ({ home }, use) => {
    const shell = new FakeShell(home);
    await use(shell);
    await shell.stop();
  },
  open: async ({ home, vendors }, use, info) => {
    const opened: Desktop[] = [];
    await use(async (extraEnv = {}) => {
      const desktop = await Desktop.start(home, built('contextinfinity'), { ...vendors.env, ...extraEnv });
      opened.push(desktop);
      return desktop;
    });
    for (const desktop of opened) {
      if (info.status !== info.expectedStatus && desktop.running) {
        const picture = await desktop.page.screenshot().catch(() => undefined);
        if (picture) writeFileSync(info.outputPath('window.png'), picture);
      }
      await desktop.cleanUp();
    }
  },
});

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

export const composer = 'textarea[aria-label="Your message"]';

/** Waits until the page of the first run is drawn: the program then receives its window's events. */
export async function waitForFirstRun({ page }: Desktop): Promise<void> {
  await until('the first page', () => page.has('input[type="password"]'));
}

/** Completes the first run with a key: enters it, waits until it is tested, and starts with one of its models. */
export async function completeFirstRunWithKey(desktop: Desktop): Promise<void> {
  const { page } = desktop;
  await waitForFirstRun(desktop);
  await page.type('input[type="password"]', canaryKey);
  await page.press('Test the key');
  await page.press('OpenAI'); // the format of the key does not show its provider
  await until('the key is tested', async () => /OpenAI, .*model/.test(await page.text()));
  await page.press('Start with'); // the first button with this text: that of the key
  await until('an open conversation', async () => /branch/.test(await page.text('h1')));
  await openInspector(desktop);
}

/** Opens the inspector, which is closed by default and which most tests need. */
async function openInspector({ page }: Desktop): Promise<void> {
  const button = 'button[aria-label^="Show inspector"]';
  await page.run(`document.querySelector('${button}')?.click()`);
  await until('the inspector is open', async () => !(await page.has(button)));
}

/** The text of all turns in the page. */
export function conversationText(desktop: Desktop): Promise<string> {
  return desktop.page.run<string>(`return [...document.querySelectorAll('article')].map((turn) => turn.innerText).join('\\n')`);
}

/** The tooltip of a field of the header. */
export async function tooltip({ page }: Desktop, field: string): Promise<string> {
  return page.run<string>(`const field = document.querySelector('[data-field="' + arguments[0] + '"]'); return field?.dataset.tip ?? field?.title ?? ''`, field);
}

/** A field of the session's state, as the tooltip of the status in the header has it. */
export async function field(desktop: Desktop, label: string): Promise<string> {
  return (await tooltip(desktop, 'status')).split('\n').find((line) => line.startsWith(`${label}: `)) ?? '';
}

/** The byte counts of the stream. */
export async function byteCounts(desktop: Desktop): Promise<ReturnType<typeof parseByteCounts>> {
  return parseByteCounts(await field(desktop, 'Stream'));
}

/** The accessible name of the first turn, which contains its state. */
export function turnName(desktop: Desktop): Promise<string> {
  return desktop.page.run<string>(`return document.querySelector('article')?.getAttribute('aria-label') ?? ''`);
}

/** Completes the first run with the configured model. */
export async function completeFirstRun(desktop: Desktop): Promise<void> {
  await waitForFirstRun(desktop);
  await desktop.page.press('Use mock');
  await until('an open conversation', async () => /branch/.test(await desktop.page.text('h1')));
  await openInspector(desktop);
}

/** Types and sends a message. */
export async function sendMessage({ page }: Desktop, text: string): Promise<void> {
  await until('the composer', () => page.has(composer));
  await page.type(composer, `${text}\uE007`);
}
