import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { unreachableHere } from '../harness/reach.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import type { Desktop } from './desktop.ts';
import { Room } from './room.ts';
import type { WebDriver } from './webdriver.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which is Linux alone');

const dialog = 'dialog[open]';

/** Runs a command of the palette with real keys. */
async function command(page: WebDriver, title: string): Promise<void> {
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has(`${dialog} [role="combobox"]`));
  await page.paste(`>${title}`);
  await until(`the command “${title}”`, async () => (await page.text(`${dialog} [role="option"]`)).includes(title));
  xdotool('key', 'Return');
  await until('the palette is closed', async () => !(await page.has(`${dialog} [role="combobox"]`)));
}

/** Turns the wheel over the conversation: until the user has scrolled, it returns to its end whenever it grows. */
async function wheelUp(desktop: Desktop): Promise<void> {
  const at = await onScreen(desktop, await middle(desktop, '.transcript'));
  xdotool('mousemove', at.x, at.y, 'click', 4);
}

const tab = (title: string) => async (page: WebDriver) => {
  await command(page, title);
  await until(title, () => page.run<boolean>(`const panel = document.querySelector('[role="tabpanel"]'); return panel !== null && panel.querySelector('[aria-busy="true"]') === null`));
};
const key = (keys: string, css: string) => async (page: WebDriver) => {
  xdotool('key', keys);
  await until(`${keys} shows ${css}`, () => page.has(css));
};

/** Each is left with Esc. */
const screens: Record<string, (page: WebDriver) => Promise<void>> = {
  conversation: async () => {},
  branches: tab('Show the branches'),
  pending: tab('Show pending turns'),
  memory: tab('Show the memory'),
  xray: tab('Show the next prompt'),
  state: tab('Show the state summary and its history'),
  activity: tab('Show activity: jobs, figures, recovery'),
  tree: async (page) => {
    await command(page, 'Show the tree at full size');
    await until('the tree', () => page.has('[role="tree"]'));
  },
  palette: key('ctrl+k', `${dialog} [role="combobox"]`),
  search: key('ctrl+shift+f', '[role="combobox"][aria-label*="Search titles"]'),
  find: key('ctrl+f', '[role="search"] input'),
  shortcuts: key('ctrl+slash', dialog),
  'session settings': async (page) => {
    await command(page, 'System prompt, temperature and effort of this session');
    await until('its settings', () => page.has(dialog));
  },
  settings: key('ctrl+comma', '.settings'),
};

for (const [width, height] of [[1280, 800], [900, 600]]) {
  test(`at 200 % everything is reachable and readable in a window of ${width} x ${height}`, async () => {
    const room = await Room.open({ LANG: 'C' }, '1440x1000');
    const { page } = room.desktop;
    try {
      const { desktop } = room;
      await room.talk('A question about the harbour', '## An answer\n\n| Port | Depth |\n|---|---|\n| Kiel | 11 m |\n\n```go\nfunc depth() int { return 11 }\n```\n', 'return 11');
      await room.talk('And what else', 'A paragraph about the harbour, which is long enough for some lines at this size.\n\n'.repeat(6), 'at this size.');
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
        if (name === 'conversation' || name === 'find') await wheelUp(desktop);
        let problems: string[] = [];
        await until(`${name} without problems`, async () => (problems = await page.runAsync<string[]>(unreachableHere)).length === 0, 15_000).catch(() => undefined);
        expect.soft(problems, name).toEqual([]);
        xdotool('key', 'Escape');
        await until(`${name} is left`, () => page.run<boolean>(`return !document.querySelector('${dialog}, .settings, [role="tree"], .drawer')`), 3_000).catch(() => xdotool('key', 'Escape'));
      }
    } finally {
      await room.close();
    }
  });
}
