import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { findLayoutProblems, waitUntilSettled } from '../harness/reach.ts';
import { exhaustive } from '../harness/tier.ts';
import { xdotool } from './dragging.ts';
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
    await runCommand(page, 'Instructions, temperature and effort of this session');
    await until('the settings of the session', () => page.has(dialog));
  },
  settings: pressKeys('ctrl+comma', '.settings'),
};

for (const [width, height] of [[1280, 800], [900, 600]]) {
  test(`at 200 % everything can be reached and read in a window of ${width} x ${height}`, exhaustive, async () => {
    const env = await WindowEnv.open({ LANG: 'C' }, '1440x1000');
    const { page } = env.desktop;
    try {
      await env.talk('A question about the harbour', '## An answer\n\n| Port | Depth |\n|---|---|\n| Kiel | 11 m |\n\n```go\nfunc depth() int { return 11 }\n```\n', 'return 11');
      await env.talk('And what else', 'A paragraph about the harbour, which is long enough for some lines at this size.\n\n'.repeat(6), 'at this size.');
      await page.press('Hide inspector');
      xdotool('windowsize', env.desktop.window, width!, height!);
      await until('the window has its size', () => page.run<boolean>('return Math.abs(innerWidth - arguments[0]) < 20', width));
      const fontSize = () => page.run<number>('return parseFloat(getComputedStyle(document.documentElement).fontSize)');
      for (let size = await fontSize(); size < 32; size = await fontSize()) {
        xdotool('key', 'ctrl+plus');
        await until('the text is larger', async () => (await fontSize()) > size);
      }
      expect(await fontSize()).toBe(32);
      for (const [name, show] of Object.entries(screens)) {
        await show(page);
        await page.runAsync(waitUntilSettled);
        expect.soft(await page.runAsync<string[]>(findLayoutProblems), name).toEqual([]);
        const isClosed = () => page.run<boolean>(
          `return !document.querySelector('${dialog}, .settings, [role="tree"], .drawer')`,
        );
        await until(`${name} is closed`, async () => {
          xdotool('key', 'Escape'); // once for each layer
          return isClosed();
        });
      }
    } finally {
      await env.close();
    }
  });
}
