import { ftruncateSync, mkdirSync, openSync, closeSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { Home } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import { dragPointer, onScreen, told, type Desk } from './desk.ts';
import { waitForWindow, type Desktop } from './desktop.ts';
import { pastFirstStart, said, say, test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which is Linux alone');

/** The corner of the screen that the window leaves free. */
const corner = { x: 1300, y: 20 };

/** Drags data from another program's window onto a point of the page. */
async function drop(desk: Desk, desktop: Desktop, at: { x: number; y: number }, kind: 'uris' | 'text', ...data: string[]): Promise<void> {
  const source = await desk.play('source', String(corner.x), String(corner.y), kind, ...data);
  const window = await waitForWindow(desktop.pid);
  await dragPointer({ x: corner.x + 60, y: corner.y + 40 }, onScreen(window, at));
  await until('the drag is over', () => told(source).some((line) => line.ended));
  await source.crash();
}

const dialog = (desktop: Desktop) => desktop.page.text('dialog[open]');
const closeDialog = async (desktop: Desktop) => {
  await desktop.page.run(`document.querySelector('dialog[open] button[aria-label="Close"]')?.click()`);
  await until('the dialog is closed', async () => (await dialog(desktop)) === '');
};

test('what is dropped on the window is taken in or refused in words, and never takes the place of the page', async ({ provider, open, home, desk }) => {
  home.configure(provider);
  provider.answer('Hello, window', 'Hello to you.');
  const desktop = await open();
  await pastFirstStart(desktop);
  await say(desktop, 'Hello, window');
  await until('the answer', async () => (await said(desktop)).includes('Hello to you.'));
  const href = await desktop.page.run<string>('window.stillThere = true; return location.href');
  const middle = { x: 550, y: 300 };
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(home.root, name), content);
    return pathToFileURL(join(home.root, name)).href;
  };

  await drop(desk, desktop, middle, 'uris', file('a talk.jsonl', '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n'));
  await until('the transcript is offered for import', async () => (await dialog(desktop)).includes('a talk.jsonl'));
  await closeDialog(desktop);

  mkdirSync(join(home.root, 'a folder'));
  await drop(desk, desktop, middle, 'uris', pathToFileURL(join(home.root, 'a folder')).href);
  await until('the folder is named', async () => (await dialog(desktop)).includes('a folder'));
  await closeDialog(desktop);

  const large = openSync(join(home.root, 'large.bin'), 'w');
  ftruncateSync(large, 200 << 20);
  closeSync(large);
  await drop(desk, desktop, middle, 'uris', pathToFileURL(join(home.root, 'large.bin')).href);
  await until('the large file is refused in words', async () => /large\.bin[^]*200/.test(await dialog(desktop)));
  await closeDialog(desktop);

  await drop(desk, desktop, middle, 'uris', file('notes.md', '# Notes\n\nThe backfill ran for nine hours.\n'));
  await until('the document goes with the message', async () => (await desktop.page.text('form')).includes('notes.md') || (await desktop.page.text('main')).includes('notes.md'));

  // Nothing of these is for the window; the paths of the drops before must not come again with them.
  await drop(desk, desktop, middle, 'text', 'Some words of another program');
  await drop(desk, desktop, middle, 'uris', 'https://example.com/');
  expect(await dialog(desktop)).toBe('');

  expect(await desktop.page.run<string>('return location.href')).toBe(href);
  expect(await desktop.page.run<boolean>('return window.stillThere === true')).toBe(true);
  expect(await said(desktop)).toContain('Hello to you.');
  expect(await desktop.close()).toBe(true);
});

test('a session dragged out of the window is a real file, and imports back', async ({ provider, open, home, desk }) => {
  home.configure(provider);
  provider.answer('Carry me away', 'Far away we go.');
  const desktop = await open();
  await pastFirstStart(desktop);
  await say(desktop, 'Carry me away');
  await until('the answer', async () => (await said(desktop)).includes('Far away we go.'));
  const folder = join(home.root, 'elsewhere');
  mkdirSync(folder);
  const target = await desk.play('target', String(corner.x), String(corner.y), folder);
  const window = await waitForWindow(desktop.pid);
  const line = await desktop.page.run<{ x: number; y: number }>(
    `const box = document.querySelector('[data-session]').getBoundingClientRect(); return { x: Math.round(box.x + 40), y: Math.round(box.y + box.height / 2) }`,
  );
  // The file is written when the button goes down; a person takes longer than that to move.
  const written = () => new Promise<void>((resolve) => setTimeout(resolve, 3_000));
  await dragPointer(onScreen(window, line), { x: corner.x + 60, y: corner.y + 40 }, written);
  await until('the file arrives', () => told(target).some((one) => one.dropped));
  const [name] = readdirSync(folder);
  const file = join(folder, name ?? '');
  expect(readFileSync(file).subarray(0, 2).toString()).toBe('PK'); // a bundle, which is a zip

  const other = new Home();
  try {
    verb(other, 'import', file);
    const [session] = JSON.parse(verb(other, 'sessions', '--json')).sessions;
    const shown = JSON.stringify(JSON.parse(verb(other, 'show', '--json', session.session_id ?? session.id)));
    expect(shown).toContain('Carry me away');
    expect(shown).toContain('Far away we go.');
  } finally {
    other.remove();
  }
  expect(await desktop.page.run<string>('return document.title')).not.toBe('');
  expect(await desktop.close()).toBe(true);
});
