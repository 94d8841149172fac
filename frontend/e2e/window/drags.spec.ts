import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { Home } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import { variants } from '../harness/tier.ts';
import { dragOut, dragWithin, middle, pan, xdotool } from './dragging.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
// A window for each test: after a drag from its own page, the driven WebKitGTK sometimes missed the next press.

let env: WindowEnv;
async function open(locale: string): Promise<void> {
  env = await WindowEnv.open({ LANG: locale });
  // Counts the messages of workers, from before the first code is drawn. Shows whether a worker can run with the page's
  // policy and Wails' URL scheme.
  await env.desktop.page.run(`
    const OriginalWorker = window.Worker;
    window.workerMessages = 0;
    window.Worker = class extends OriginalWorker {
      constructor(...args) { super(...args); this.addEventListener('message', () => window.workerMessages++); }
    };`);
  await env.talk('Carry me away', 'Far away we go.\n\n```js\nconst away = "far";\n```\n\nThere.', 'There.');
}
test.afterEach(() => env?.close());

interface SessionList {
  sessions: { session_id: string }[];
}
const sessions = (home: Home) => (JSON.parse(cli(home, 'sessions', '--json')) as SessionList).sessions;
const run = <T>(body: string, ...args: unknown[]) => env.desktop.page.run<T>(body, ...args);

/** Pressing the mouse button alone writes no file. */
const expectNoFile = async () => expect(existsSync(join(env.home.dataDir, 'drags'))).toBe(false);

for (const locale of variants('C', 'de_DE.UTF-8')) {
  test.describe(`under ${locale}`, () => {
    test.beforeEach(() => open(locale));

    test('code is coloured by the worker, and attachments are reordered with the keyboard and by dragging', async () => {
      await until('coloured code', () => run<boolean>(`return document.querySelector('article code [class*="hljs-"]') !== null`));
      expect(await run<number>('return window.workerMessages')).toBeGreaterThan(0);

      const names = ['one.md', 'two.md', 'three.md'];
      for (const name of names) {
        await run(`const data = new DataTransfer(); data.items.add(new File(['# ' + arguments[0]], arguments[0], { type: 'text/markdown' }));
          const field = [...document.querySelectorAll('form[aria-label="Message"] input[type="file"]')].at(-1); field.files = data.files; field.dispatchEvent(new Event('change', { bubbles: true }))`, name);
        await until(`${name} is attached`, () => run<boolean>(`return document.querySelector('li[data-kind="files"] button[aria-label="Remove ' + arguments[0] + '"]') !== null`, name));
      }
      const order = () => run<string[]>(`return [...document.querySelectorAll('li[data-kind="files"] button[aria-label^="Remove"]')].map((button) => button.getAttribute('aria-label').replace('Remove ', ''))`);
      expect(await order()).toEqual(names);
      await run(`document.querySelector('button[aria-label="Remove one.md"]').focus()`);
      xdotool('key', 'alt+Right');
      await until('the first one is second', async () => (await order()).join() === 'two.md,one.md,three.md');
      await dragWithin(env.desktop, await middle(env.desktop, 'li[data-kind="files"][data-place="2"]', 0.3), await middle(env.desktop, 'li[data-kind="files"][data-place="0"]', 0.3));
      await until('the last one is first', async () => (await order()).join() === 'three.md,two.md,one.md');
    });

    test('a session dragged to a folder is moved there, although the drag also offers a file', async () => {
      const id = await run<string>(`return document.querySelector('[data-session]').dataset.session`);
      await run(`return window.go.api.Sessions.Create('Kept apart').then(({ id }) => window.go.api.Sessions.SetFolder([id], 'Voyages'))`);
      await until('the folder is listed', () => run<boolean>(`return document.querySelector('.folder') !== null`));
      await dragWithin(env.desktop, await middle(env.desktop, `[data-session="${id}"]`, 0.25), await middle(env.desktop, '.folder', 0.4), expectNoFile);
      const folder = () => run<string>(`return window.go.api.Sessions.List(false, '').then((rows) => rows.find((row) => row.id === arguments[0]).folder)`, id);
      await until('the session is in the folder', async () => (await folder()) === 'Voyages');
      expect(await env.desktop.page.text('dialog[open]')).toBe(''); // the file of the drag was not treated as dropped
    });

    test('a session dragged out of the window is a real file, and importing it gives an equal session', async () => {
      const current = await run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
      const folder = join(env.home.root, 'elsewhere');
      mkdirSync(folder, { recursive: true });
      const files = await dragOut(env.shell, env.desktop, await middle(env.desktop, '[data-session][aria-current]', 0.25), folder, expectNoFile);
      expect(files).toHaveLength(1);
      const [file = ''] = files;
      expect(file).toMatch(/\.cinf$/);
      expect(readFileSync(file).subarray(0, 2).toString()).toBe('PK'); // a bundle is a zip file

      const other = new Home();
      try {
        cli(other, 'import', file);
        const exported = sessions(env.home).find(({ session_id: id }) => id === current);
        const [imported] = sessions(other);
        // Where its branches were begun is all that differs.
        const shown = (home: Home, id = '') => JSON.parse(cli(home, 'show', '--json', id), (key, value: unknown) => (key === 'elsewhere' ? undefined : value)) as unknown;
        expect(shown(other, imported?.session_id)).toEqual(shown(env.home, exported?.session_id));
        expect(cli(other, 'verify')).toContain('No problems found');
      } finally {
        other.remove();
      }
    });

    test('the tree is drawn and can be panned, and dragging a turn onto its background forks', async () => {
      const id = await run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
      await env.talk('And further?', 'Further still.');
      await run(`[...document.querySelectorAll('[role="tab"]')].find((tab) => tab.innerText.trim() === 'Branches').click()`);
      await until('the tree', () => run<boolean>(`return document.querySelectorAll('[role="treeitem"]').length > 0`));
      const transform = () => run<string>(`return document.querySelector('[role="tree"] .stage').style.transform`);
      const before = await transform();
      const from = await middle(env.desktop, '[role="tree"]', 0.5, 0.8);
      await pan(env.desktop, from, { x: from.x + 30, y: from.y - 60 }, async () => (await transform()) !== before);
      expect(await transform()).not.toBe(before);

      await dragWithin(env.desktop, await middle(env.desktop, '[role="treeitem"]'), from);
      await until('the question for a name', async () => (await env.desktop.page.text('dialog[open]')).includes('Fork after #'));
      await env.desktop.page.type('dialog[open] input', 'another way\uE007');
      await until('the branch exists', () => cli(env.home, 'branches', '--json', id).includes('another way'));
    });
  });
}
