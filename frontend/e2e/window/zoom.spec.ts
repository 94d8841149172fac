import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { findLayoutProblems } from '../harness/reach.ts';
import { variants } from '../harness/tier.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import type { Desktop } from './desktop.ts';
import { WindowEnv } from './windowenv.ts';
import type { WebDriver } from './webdriver.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const dialog = 'dialog[open]';

/** Runs a command of the palette with real keys. */
async function runCommand(page: WebDriver, title: string): Promise<void> {
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has(`${dialog} [role="combobox"]`));
  await page.paste(`>${title}`);
  await until(`the command “${title}”`, async () => (await page.text(`${dialog} [role="option"]`)).includes(title));
  xdotool('key', 'Return');
  await until('the palette is closed', async () => !(await page.has(`${dialog} [role="combobox"]`)));
}

/** Scrolls the conversation with the wheel. Until the user has scrolled, it jumps to its end whenever it grows. */
async function scrollUp(desktop: Desktop): Promise<void> {
  const point = await onScreen(desktop, await middle(desktop, '.transcript'));
  xdotool('mousemove', point.x, point.y, 'click', 4);
}

const openTab = (title: string) => async (page: WebDriver) => {
  await runCommand(page, title);
  await until(title, () => page.run<boolean>(`const panel = document.querySelector('[role="tabpanel"]'); return panel !== null && panel.querySelector('[aria-busy="true"]') === null`));
};
const pressKeys = (keys: string, css: string) => async (page: WebDriver) => {
  xdotool('key', keys);
  await until(`${keys} shows ${css}`, () => page.has(css));
};

/** Opens each screen; Esc leaves it. */
const screens: Record<string, (page: WebDriver) => Promise<void>> = {
  conversation: async () => {},
  branches: openTab('Show the branches'),
  pending: openTab('Show pending turns'),
  memory: openTab('Show the memory'),
  xray: openTab('Show the next prompt'),
  state: openTab('Show the state summary and its history'),
  activity: openTab('Show activity: jobs, metrics, recovery'),
  tree: async (page) => {
    await runCommand(page, 'Show the tree at full size');
    await until('the tree', () => page.has('[role="tree"]'));
  },
  palette: pressKeys('ctrl+k', `${dialog} [role="combobox"]`),
  search: pressKeys('ctrl+shift+f', '[role="combobox"][aria-label*="Search titles"]'),
  find: pressKeys('ctrl+f', '[role="search"] input'),
  shortcuts: pressKeys('ctrl+slash', dialog),
  'session settings': async (page) => {
    await runCommand(page, 'System prompt, temperature and effort of this session');
    await until('the settings of the session', () => page.has(dialog));
  },
  settings: pressKeys('ctrl+comma', '.settings'),
};

for (const [width, height] of variants([900, 600], [1280, 800])) {
  test(`at 200 % everything can be reached and read in a window of ${width} x ${height}`, async () => {
    const env = await WindowEnv.open({ LANG: 'C' }, '1440x1000');
    const { page } = env.desktop;
    try {
      const { desktop } = env;
      await env.talk('A question about the harbour', '## An answer\n\n| Port | Depth |\n|---|---|\n| Kiel | 11 m |\n\n```go\nfunc depth() int { return 11 }\n```\n', 'return 11');
      await env.talk('And what else', 'A paragraph about the harbour, which is long enough for some lines at this size.\n\n'.repeat(6), 'at this size.');
      await page.press('Hide inspector');
      xdotool('windowsize', desktop.window, width!, height!);
      await until('the window has its size', () => page.run<boolean>('return Math.abs(innerWidth - arguments[0]) < 20', width));
      for (let step = 0; step < 10 && (await page.run<string>('return getComputedStyle(document.documentElement).fontSize')) !== '32px'; step++) {
        xdotool('key', 'ctrl+plus');
        await new Promise((done) => setTimeout(done, 300));
      }
      expect(await page.run('return getComputedStyle(document.documentElement).fontSize')).toBe('32px');
      for (const [name, show] of Object.entries(screens)) {
        await show(page);
        if (name === 'conversation' || name === 'find') await scrollUp(desktop);
        let problems: string[] = [];
        await until(`${name} without problems`, async () => (problems = await page.runAsync<string[]>(findLayoutProblems)).length === 0, 15_000).catch(() => undefined);
        expect.soft(problems, name).toEqual([]);
        xdotool('key', 'Escape');
        await until(`${name} is closed`, () => page.run<boolean>(`return !document.querySelector('${dialog}, .settings, [role="tree"], .drawer')`), 3_000).catch(() => xdotool('key', 'Escape'));
      }
    } finally {
      await env.close();
    }
  });
}
