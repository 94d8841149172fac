import { writeFileSync } from 'node:fs';
import { test as base } from '@playwright/test';
import { Home, canaryKey } from '../harness/home.ts';
import { belonging, built, until } from '../harness/process.ts';
import { Provider } from '../harness/provider.ts';
import { Vendors } from '../harness/vendors.ts';
import { plain } from '../browser/conversation.ts';
import { read } from '../browser/recovery.ts';
import { Desk } from './desk.ts';
import { Desktop } from './desktop.ts';
import { Surroundings } from './surroundings.ts';

interface Parts {
  /** The test's own screen and session bus. */
  surroundings: Surroundings;
  home: Home;
  provider: Provider;
  vendors: Vendors;
  /** Opens the production window, with more environment variables; if the test fails, a picture of it is saved. */
  open: (extra?: Record<string, string>) => Promise<Desktop>;
  /** The programs around the window: none until the test starts them, and none after it. */
  desk: Desk;
}

export const test = base.extend<Parts>({
  surroundings: async ({}, use) => {
    const surroundings = await Surroundings.stand();
    await use(surroundings);
    await surroundings.clear();
  },
  home: async ({ surroundings }, use) => {
    void surroundings;
    const home = new Home();
    await use(home);
    // A process that outlives its test is a fault in the program or in the test.
    await until('all processes of the test have ended', () => belonging(home.root).length === 0);
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
  desk: async ({ home }, use) => {
    const desk = new Desk(home);
    await use(desk);
    await desk.clear();
  },
  open: async ({ home, vendors }, use, info) => {
    const opened: Desktop[] = [];
    await use(async (extra = {}) => {
      const desktop = await Desktop.start(home, built('contextinfinity'), { ...vendors.env, ...extra });
      opened.push(desktop);
      return desktop;
    });
    for (const desktop of opened) {
      if (info.status !== info.expectedStatus && desktop.running) {
        const picture = await desktop.page.screenshot().catch(() => undefined);
        if (picture) writeFileSync(info.outputPath('window.png'), picture);
      }
      await desktop.abandon();
    }
  },
});

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

export const composer = 'textarea[aria-label="Your message"]';

/** Waits until the first page is drawn: the program has then started and receives its window's events. */
export async function begun({ page }: Desktop): Promise<void> {
  await until('the first start', () => page.has('input[type="password"]'));
}

/** Pastes a key, waits for its test, and starts with a model that it unlocks. */
export async function firstStart(desktop: Desktop): Promise<void> {
  const { page } = desktop;
  await begun(desktop);
  await page.type('input[type="password"]', canaryKey);
  await page.press('Test the key');
  await page.press('OpenAI'); // the form of the key does not show its provider
  await until('the key is tested', async () => /OpenAI, .*model/.test(await page.text()));
  await page.press('Start with'); // the first of the three ways, the one with the key
  await until('an open conversation', async () => /branch/.test(await page.text('h1')));
  await openInspector(desktop);
}

/** Opens the inspector, which is closed by default and which most tests need. */
async function openInspector({ page }: Desktop): Promise<void> {
  const button = 'button[aria-label^="Show inspector"]';
  await page.run(`document.querySelector('${button}')?.click()`);
  await until('the inspector is open', async () => !(await page.has(button)));
}

export function said(desktop: Desktop): Promise<string> {
  return desktop.page.run<string>(`return [...document.querySelectorAll('article')].map((turn) => turn.innerText).join('\\n')`);
}

/** The text of a field of the header. */
export async function field(desktop: Desktop, name: string): Promise<string> {
  return plain(await desktop.page.text(`[data-field="${name}"]`));
}

export async function streamed(desktop: Desktop): Promise<ReturnType<typeof read>> {
  return read(await desktop.page.text('[data-field="stream"]'));
}

export function turnName(desktop: Desktop): Promise<string> {
  return desktop.page.run<string>(`return document.querySelector('article')?.getAttribute('aria-label') ?? ''`);
}

/** Completes the first run with the configured model. */
export async function pastFirstStart(desktop: Desktop): Promise<void> {
  await begun(desktop);
  await desktop.page.press('Use mock');
  await until('an open conversation', async () => /branch/.test(await desktop.page.text('h1')));
  await openInspector(desktop);
}

/** Types and sends a message. */
export async function say({ page }: Desktop, text: string): Promise<void> {
  await until('the composer', () => page.has(composer));
  await page.type(composer, `${text}\uE007`);
}
