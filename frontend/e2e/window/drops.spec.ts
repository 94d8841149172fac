import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { dragIn, middle, onScreen, xdotool, type Point } from './dragging.ts';
import { composer, said } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which is Linux alone');
// One window for all tests: each drop leaves the window unchanged.
test.describe.configure({ mode: 'default' });

let room: Room;
let href = '';
test.beforeAll(async () => {
  room = await Room.open();
  await room.talk('Hello, window', 'Hello to you.');
  href = await room.desktop.page.run<string>('window.stillThere = true; return location.href');
});
test.afterAll(() => room?.close());

/** The page has not navigated, and the conversation is unchanged. */
test.afterEach(async () => {
  const { page } = room.desktop;
  expect(await page.run<unknown[]>('return [location.href, window.stillThere === true]')).toEqual([href, true]);
  expect(await said(room.desktop)).toContain('Hello to you.');
});

const transcript = (): Promise<Point> => middle(room.desktop, 'article');
const field = (): Promise<Point> => middle(room.desktop, composer);
const drop = (at: Point, kind: 'uris' | 'text', ...data: string[]) => dragIn(room.desk, room.desktop, at, kind, ...data);
const dialog = () => room.desktop.page.text('dialog[open]');
const attached = (name: string) => room.desktop.page.run<number>(`return document.querySelectorAll('button[aria-label="Remove ' + arguments[0] + '"]').length`, name);
const typed = () => room.desktop.page.run<string>('return document.querySelector(arguments[0]).value', composer);

async function offered(name: string | RegExp): Promise<void> {
  await until(`${name} is in the dialog`, async () => (typeof name === 'string' ? (await dialog()).includes(name) : name.test(await dialog())));
  await room.desktop.page.run(`document.querySelector('dialog[open] button[aria-label="Close"]').click()`);
  await until('the dialog is closed', async () => (await dialog()) === '');
}

test('a transcript is offered for import', async () => {
  const file = room.file('a talk.jsonl', '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n');
  expect(await drop(await transcript(), 'uris', file)).toEqual({ taken: true });
  await offered('a talk.jsonl');
});

test('a folder is listed with the possible actions', async () => {
  mkdirSync(join(room.home.root, 'a folder'), { recursive: true });
  await drop(await transcript(), 'uris', pathToFileURL(join(room.home.root, 'a folder')).href);
  await offered('a folder');
});

test('a file of 200 MB is rejected with a message', async () => {
  const path = join(room.home.root, 'large.bin');
  const large = openSync(path, 'w');
  ftruncateSync(large, 200 << 20);
  closeSync(large);
  await drop(await transcript(), 'uris', pathToFileURL(path).href);
  await offered(/large\.bin[^]*209\.7\sMB[^]*is not text/);
});

test('documents and pictures are attached to the message, each once', async () => {
  await drop(await field(), 'uris', room.file('notes.md', '# Notes\n\nThe backfill ran for nine hours.\n'));
  await until('the document is attached', () => attached('notes.md'));
  const picture = await room.desktop.page.screenshot();
  await drop(await field(), 'uris', room.file('window.png', picture));
  await until('the picture is attached', () => attached('window.png'));
  await drop(await transcript(), 'uris', room.file('other.md', '# Other notes\n'));
  await until('the last is attached', () => attached('other.md'));
  expect([await attached('notes.md'), await attached('window.png'), await attached('other.md')]).toEqual([1, 1, 1]);
  expect([await dialog(), await typed()]).toEqual(['', '']);
});

test('files copied in a file manager are pasted as if they were dropped', async () => {
  const { x, y } = await onScreen(room.desktop, await field());
  xdotool('mousemove', x, y, 'click', 1);
  xdotool('key', 'ctrl+v');
  const notices = () => room.desktop.page.text('[aria-label="Notices"]');
  await until('the notice about an empty clipboard', async () => (await notices()).includes('The clipboard has no text, picture or file'));

  mkdirSync(join(room.home.root, 'a copied folder'), { recursive: true });
  const picture = room.file('copied picture.png', await room.desktop.page.screenshot());
  const owner = await room.desk.play('files', room.file('größe 100%.md', '# Sizes\n'), picture, pathToFileURL(join(room.home.root, 'a copied folder')).href);
  xdotool('key', 'ctrl+v');
  await until('the folder is listed', async () => /a copied folder/.test(await dialog()));
  await until('the document is attached', () => attached('größe 100%.md'));
  await until('the picture is attached', () => attached('copied picture.png'));
  expect(await notices()).not.toContain('The clipboard has no');
  await offered('a copied folder');
  await owner.crash();
  expect([await attached('größe 100%.md'), await attached('copied picture.png'), await attached('Pasted picture'), await typed()]).toEqual([1, 1, 0, '']);
});

test('text and a link over the conversation are rejected, and do not repeat the files of an earlier drop', async () => {
  expect(await drop(await transcript(), 'text', 'Some words of another program')).toEqual({ taken: false });
  await drop(await transcript(), 'uris', 'https://example.com/');
  await drop(await transcript(), 'uris', room.file('last.jsonl', '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n'));
  await until('a later drop is offered', async () => (await dialog()).includes('last.jsonl'));
  expect(await dialog()).not.toContain('a talk.jsonl');
  await offered('last.jsonl');
  expect(await typed()).toBe('');
});

test('text goes into the message', async () => {
  expect(await drop(await field(), 'text', 'Some words of another program')).toEqual({ taken: true });
  await until('the text is in the field', async () => (await typed()) === 'Some words of another program');
});
