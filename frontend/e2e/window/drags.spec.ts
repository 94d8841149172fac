import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { Home } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import { dragOut, dragWithin, middle, pull, xdotool } from './dragging.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
// A window for each test: after a drag from its own page, the driven WebKitGTK sometimes missed the next press.

let room: Room;
async function open(locale: string): Promise<void> {
  room = await Room.open({ LANG: locale });
  // Installed before the first code is drawn: checks that the worker colours it, under the page's policy and from
  // Wails' scheme.
  await room.desktop.page.run(`
    const Made = window.Worker;
    window.worked = 0;
    window.Worker = class extends Made {
      constructor(...given) { super(...given); this.addEventListener('message', () => window.worked++); }
    };`);
  await room.talk('Carry me away', 'Far away we go.\n\n```js\nconst away = "far";\n```\n\nThere.', 'There.');
}
test.afterEach(() => room?.close());

interface Listed {
  sessions: { session_id: string }[];
}
const sessions = (home: Home) => (JSON.parse(verb(home, 'sessions', '--json')) as Listed).sessions;
const run = <T>(body: string, ...args: unknown[]) => room.desktop.page.run<T>(body, ...args);

/** Pressing the button alone writes no file. */
const unwritten = async () => expect(existsSync(join(room.home.dataDir, 'drags'))).toBe(false);

for (const locale of ['C', 'de_DE.UTF-8']) {
  test.describe(`under ${locale}`, () => {
    test.beforeEach(() => open(locale));

    test('code is coloured by the worker, and attachments are reordered with the keyboard and by dragging', async () => {
      await until('coloured code', () => run<boolean>(`return document.querySelector('article code [class*="hljs-"]') !== null`));
      expect(await run<number>('return window.worked')).toBeGreaterThan(0);

      const names = ['one.md', 'two.md', 'three.md'];
      for (const name of names) {
        await run(`const given = new DataTransfer(); given.items.add(new File(['# ' + arguments[0]], arguments[0], { type: 'text/markdown' }));
          const field = [...document.querySelectorAll('form[aria-label="Message"] input[type="file"]')].at(-1); field.files = given.files; field.dispatchEvent(new Event('change', { bubbles: true }))`, name);
        await until(`${name} is attached`, () => run<boolean>(`return document.querySelector('li[data-kind="files"] button[aria-label="Remove ' + arguments[0] + '"]') !== null`, name));
      }
      const order = () => run<string[]>(`return [...document.querySelectorAll('li[data-kind="files"] button[aria-label^="Remove"]')].map((button) => button.getAttribute('aria-label').replace('Remove ', ''))`);
      expect(await order()).toEqual(names);
      await run(`document.querySelector('button[aria-label="Remove one.md"]').focus()`);
      xdotool('key', 'alt+Right');
      await until('the first one is second', async () => (await order()).join() === 'two.md,one.md,three.md');
      await dragWithin(room.desktop, await middle(room.desktop, 'li[data-kind="files"][data-place="2"]', 0.3), await middle(room.desktop, 'li[data-kind="files"][data-place="0"]', 0.3));
      await until('the last one is first', async () => (await order()).join() === 'three.md,two.md,one.md');
    });

    test('a session dragged to a folder is moved there, although its drag contains a file', async () => {
      const id = await run<string>(`return document.querySelector('[data-session]').dataset.session`);
      await run(`return window.go.api.Sessions.Create('Kept apart').then(({ id }) => window.go.api.Sessions.SetFolder([id], 'Voyages'))`);
      await until('the folder is listed', () => run<boolean>(`return document.querySelector('.folder') !== null`));
      await dragWithin(room.desktop, await middle(room.desktop, `[data-session="${id}"]`, 0.25), await middle(room.desktop, '.folder', 0.4), unwritten);
      const folder = () => run<string>(`return window.go.api.Sessions.List(false, '').then((rows) => rows.find((row) => row.id === arguments[0]).folder)`, id);
      await until('it is in the folder', async () => (await folder()) === 'Voyages');
      expect(await room.desktop.page.text('dialog[open]')).toBe(''); // its own file was not treated as dropped
    });

    test('a session dragged out of the window is a real file, and imports back equal', async () => {
      const current = await run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
      const folder = join(room.home.root, 'elsewhere');
      mkdirSync(folder, { recursive: true });
      const files = await dragOut(room.desk, room.desktop, await middle(room.desktop, '[data-session][aria-current]', 0.25), folder, unwritten);
      expect(files).toHaveLength(1);
      const [file = ''] = files;
      expect(file).toMatch(/\.cinf$/);
      expect(readFileSync(file).subarray(0, 2).toString()).toBe('PK'); // a bundle is a zip file

      const other = new Home();
      try {
        verb(other, 'import', file);
        const there = sessions(room.home).find(({ session_id: id }) => id === current);
        const [here] = sessions(other);
        const shown = (home: Home, id = '') => JSON.parse(verb(home, 'show', '--json', id)) as unknown;
        expect(shown(other, here?.session_id)).toEqual(shown(room.home, there?.session_id));
        expect(verb(other, 'verify')).toContain('No problems found');
      } finally {
        other.remove();
      }
    });

    test('the tree is drawn and moved, and dropping a turn on it forks', async () => {
      const id = await run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
      await room.talk('And further?', 'Further still.');
      await run(`[...document.querySelectorAll('[role="tab"]')].find((tab) => tab.innerText.trim() === 'Branches').click()`);
      await until('the tree', () => run<boolean>(`return document.querySelectorAll('[role="treeitem"]').length > 0`));
      const stage = () => run<string>(`return document.querySelector('[role="tree"] .stage').style.transform`);
      const before = await stage();
      const from = await middle(room.desktop, '[role="tree"]', 0.5, 0.8);
      await pull(room.desktop, from, { x: from.x + 30, y: from.y - 60 }, async () => (await stage()) !== before);
      expect(await stage()).not.toBe(before);

      await dragWithin(room.desktop, await middle(room.desktop, '[role="treeitem"]'), from);
      await until('the question for a name', async () => (await room.desktop.page.text('dialog[open]')).includes('New branch after #'));
      await room.desktop.page.type('dialog[open] input', 'another way\uE007');
      await until('the branch is there', () => verb(room.home, 'branches', '--json', id).includes('another way'));
    });
  });
}
