import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { dragAcross, dragIn, dragWithin, middle, onScreen, xdotool, type Point } from './dragging.ts';
import { composer, said } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
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
  // Pasting goes into the message from wherever was clicked last, like typing.
  const row = await onScreen(room.desktop, await middle(room.desktop, '[aria-label="Sessions"] .line[draggable="true"]'));
  xdotool('mousemove', row.x, row.y, 'click', 1);
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

test('a picture and text are pasted after a click in the conversation', async () => {
  const { x, y } = await onScreen(room.desktop, await middle(room.desktop, 'article p'));
  const pressed = async (owner: () => Promise<unknown>) => {
    await owner();
    xdotool('mousemove', x, y, 'click', 1);
    await until('the field has no focus', () => room.desktop.page.run<boolean>('return !document.activeElement.matches(arguments[0])', composer));
    xdotool('key', 'ctrl+v');
  };
  await pressed(() => room.desk.play('picture'));
  await until('the picture is attached', () => attached('Pasted picture'));
  await pressed(() => room.desk.play('text', 'Some copied words'));
  await until('the text is in the field', async () => (await typed()) === 'Some copied words');
  await room.desktop.page.run(`const field = document.querySelector(arguments[0]); field.focus(); field.select(); document.execCommand('delete')`, composer);
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

test('a file released in the moment in which the pointer reaches another element is accepted', async () => {
  for (const [name, css] of [['first.html', 'header'], ['second.html', composer], ['third.html', 'article p']] as const) {
    const script = `<p>Another page<script>document.title = 'run'</script>`;
    const last = await middle(room.desktop, css);
    await dragAcross(room.desk, room.desktop, await transcript(), last, 'uris', room.file(name, script));
    await until(`${name} is attached`, () => attached(name));
  }
});

test('the whole import dialog accepts files, also on the row of a listed one and in the moment in which the pointer gets there', async () => {
  const talk = '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n';
  const listed = (name: string) => until(`${name} is listed`, async () => (await room.desktop.page.text('dialog[open]')).includes(name));
  await drop(await transcript(), 'uris', room.file('one.jsonl', talk));
  await listed('one.jsonl');
  const places = ['dialog[open] .drop', 'dialog[open] .files li', 'dialog[open] .safe', 'dialog[open] .path input', 'dialog[open] h2'];
  for (const [i, css] of places.entries()) {
    const at = await middle(room.desktop, css, 0.3);
    await drop(at, 'uris', room.file(`${i}.jsonl`, talk));
    await listed(`${i}.jsonl`);
    await dragAcross(room.desk, room.desktop, { x: 20, y: 300 }, await middle(room.desktop, css, 0.3), 'uris', room.file(`${i} at once.jsonl`, talk));
    await listed(`${i} at once.jsonl`);
  }
  await drop({ x: 20, y: 300 }, 'uris', room.file('beside.jsonl', talk)); // beside the dialog: the hint covers the whole window
  await listed('beside.jsonl');
  await room.desktop.page.run(`document.querySelector('dialog[open] button[aria-label="Close"]').click()`);
  await until('the dialog is closed', async () => (await dialog()) === '');
});

test('after a drag, only what is under the pointer looks as if it were', async () => {
  await dragWithin(room.desktop, await middle(room.desktop, '[aria-label="Sessions"] .line[draggable="true"]'), await middle(room.desktop, 'article p'));
  const { x, y } = await onScreen(room.desktop, await field());
  for (let i = 0; i < 10; i++) xdotool('mousemove', x + i, y);
  await until('the pointer is over the field', () => room.desktop.page.run<boolean>('return document.querySelector(arguments[0]).matches(":hover")', composer));
  await until('no button looks as if the pointer were over it', async () => {
    xdotool('mousemove', x + (Date.now() % 10), y);
    return room.desktop.page.run<boolean>(`return document.querySelectorAll('button:hover, a:hover, [draggable="true"]:hover').length === 0`);
  });
});

test('no other page replaces the program’s, whatever asks for it', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('<title>Another page</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await room.desktop.page.run(`location.href = arguments[0]`, `${elsewhere}assigned`);
  await room.desktop.page.run(`window.open(arguments[0])`, `${elsewhere}opened`);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // longer than a refused navigation takes
  expect(asked).toEqual([]);
  server.close();
});

test('text goes into the message', async () => {
  expect(await drop(await field(), 'text', 'Some words of another program')).toEqual({ taken: true });
  await until('the text is in the field', async () => (await typed()) === 'Some words of another program');
});
