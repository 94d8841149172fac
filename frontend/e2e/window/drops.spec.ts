import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { dragAcross, dragIn, dragWithin, middle, onScreen, xdotool, type Point } from './dragging.ts';
import { composer, conversationText } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
// One window for all tests, because starting one takes longer than a test.
test.describe.configure({ mode: 'default' });

let env: WindowEnv;
let href = '';
test.beforeAll(async () => {
  env = await WindowEnv.open();
  await env.talk('Hello, window', 'Hello to you.');
  href = await env.desktop.page.run<string>('window.isSamePage = true; return location.href');
});
test.afterAll(() => env?.close());

/** Checks that the page has not navigated, and the conversation is unchanged. */
test.afterEach(async () => {
  const { page } = env.desktop;
  expect(await page.run<unknown[]>('return [location.href, window.isSamePage === true]')).toEqual([href, true]);
  expect(await conversationText(env.desktop)).toContain('Hello to you.');
});

const transcriptPoint = (): Promise<Point> => middle(env.desktop, 'article');
const fieldPoint = (): Promise<Point> => middle(env.desktop, composer);
const drop = (target: Point, kind: 'uris' | 'text', ...data: string[]) => dragIn(env.shell, env.desktop, target, kind, ...data);
const dialogText = () => env.desktop.page.text('dialog[open]');
const attachedCount = (name: string) => env.desktop.page.run<number>(`return document.querySelectorAll('button[aria-label="Remove ' + arguments[0] + '"]').length`, name);
const fieldText = () => env.desktop.page.run<string>('return document.querySelector(arguments[0]).value', composer);

/** Waits until the file is in the import dialog, and closes the dialog. */
async function expectListed(name: string | RegExp): Promise<void> {
  await until(`${name} is in the dialog`, async () => (typeof name === 'string' ? (await dialogText()).includes(name) : name.test(await dialogText())));
  await env.desktop.page.run(`document.querySelector('dialog[open] button[aria-label="Close"]').click()`);
  await until('the dialog is closed', async () => (await dialogText()) === '');
}

test('a transcript file is offered for import', async () => {
  const file = env.createFile('a talk.jsonl', '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n');
  expect(await drop(await transcriptPoint(), 'uris', file)).toEqual({ accepted: true });
  await expectListed('a talk.jsonl');
});

test('a folder is listed with the possible actions', async () => {
  mkdirSync(join(env.home.root, 'a folder'), { recursive: true });
  await drop(await transcriptPoint(), 'uris', pathToFileURL(join(env.home.root, 'a folder')).href);
  await expectListed('a folder');
});

test('a file of 200 MB is rejected with a message', async () => {
  const path = join(env.home.root, 'large.bin');
  const large = openSync(path, 'w');
  ftruncateSync(large, 200 << 20);
  closeSync(large);
  await drop(await transcriptPoint(), 'uris', pathToFileURL(path).href);
  await expectListed(/large\.bin[^]*209\.7\sMB[^]*is not text/);
});

test('documents and pictures are attached to the message, once each', async () => {
  await drop(await fieldPoint(), 'uris', env.createFile('notes.md', '# Notes\n\nThe backfill ran for nine hours.\n'));
  await until('the document is attached', () => attachedCount('notes.md'));
  const picture = await env.desktop.page.screenshot();
  await drop(await fieldPoint(), 'uris', env.createFile('window.png', picture));
  await until('the picture is attached', () => attachedCount('window.png'));
  await drop(await transcriptPoint(), 'uris', env.createFile('other.md', '# Other notes\n'));
  await until('the second document is attached', () => attachedCount('other.md'));
  expect([await attachedCount('notes.md'), await attachedCount('window.png'), await attachedCount('other.md')]).toEqual([1, 1, 1]);
  expect([await dialogText(), await fieldText()]).toEqual(['', '']);
});

test('files copied in a file manager are pasted as if they were dropped', async () => {
  const { x, y } = await onScreen(env.desktop, await fieldPoint());
  xdotool('mousemove', x, y, 'click', 1);
  xdotool('key', 'ctrl+v');
  const notices = () => env.desktop.page.text('[aria-label="Notices"]');
  await until('the notice about an empty clipboard', async () => (await notices()).includes('The clipboard has no text, picture or file'));

  mkdirSync(join(env.home.root, 'a copied folder'), { recursive: true });
  // Pasting goes into the message wherever the last click was, like typing.
  const row = await onScreen(env.desktop, await middle(env.desktop, '[aria-label="Sessions"] .line[draggable="true"]'));
  xdotool('mousemove', row.x, row.y, 'click', 1);
  const picture = env.createFile('copied picture.png', await env.desktop.page.screenshot());
  const owner = await env.shell.start('files', env.createFile('größe 100%.md', '# Sizes\n'), picture, pathToFileURL(join(env.home.root, 'a copied folder')).href);
  xdotool('key', 'ctrl+v');
  await until('the folder is listed', async () => /a copied folder/.test(await dialogText()));
  await until('the document is attached', () => attachedCount('größe 100%.md'));
  await until('the picture is attached', () => attachedCount('copied picture.png'));
  expect(await notices()).not.toContain('The clipboard has no');
  await expectListed('a copied folder');
  await owner.crash();
  expect([await attachedCount('größe 100%.md'), await attachedCount('copied picture.png'), await attachedCount('Pasted picture'), await fieldText()]).toEqual([1, 1, 0, '']);
});

test('a picture and text are pasted after a click in the conversation', async () => {
  const { x, y } = await onScreen(env.desktop, await middle(env.desktop, 'article p'));
  const pasteFrom = async (takeClipboard: () => Promise<unknown>) => {
    await takeClipboard();
    xdotool('mousemove', x, y, 'click', 1);
    await until('the field has no focus', () => env.desktop.page.run<boolean>('return !document.activeElement.matches(arguments[0])', composer));
    xdotool('key', 'ctrl+v');
  };
  await pasteFrom(() => env.shell.start('picture'));
  await until('the picture is attached', () => attachedCount('Pasted picture'));
  await pasteFrom(() => env.shell.start('text', 'Some copied words'));
  await until('the text is in the field', async () => (await fieldText()) === 'Some copied words');
  await env.desktop.page.run(`const field = document.querySelector(arguments[0]); field.focus(); field.select(); document.execCommand('delete')`, composer);
});

test('text and a link over the conversation are rejected, and do not repeat the files of an earlier drop', async () => {
  expect(await drop(await transcriptPoint(), 'text', 'Some words of another program')).toEqual({ accepted: false });
  await drop(await transcriptPoint(), 'uris', 'https://example.com/');
  await drop(await transcriptPoint(), 'uris', env.createFile('last.jsonl', '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n'));
  await until('the later drop is listed', async () => (await dialogText()).includes('last.jsonl'));
  expect(await dialogText()).not.toContain('a talk.jsonl');
  await expectListed('last.jsonl');
  expect(await fieldText()).toBe('');
});

test('a file released at the moment when the pointer reaches another element is accepted', async () => {
  for (const [name, css] of [['first.html', 'header'], ['second.html', composer], ['third.html', 'article p']] as const) {
    const script = `<p>Another page<script>document.title = 'run'</script>`;
    const last = await middle(env.desktop, css);
    await dragAcross(env.shell, env.desktop, await transcriptPoint(), last, 'uris', env.createFile(name, script));
    await until(`${name} is attached`, () => attachedCount(name));
  }
});

test('the whole import dialog accepts files, including on the row of a listed file, and at the moment when the pointer gets there', async () => {
  const transcript = '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n';
  const waitUntilListed = (name: string) => until(`${name} is listed`, async () => (await env.desktop.page.text('dialog[open]')).includes(name));
  await drop(await transcriptPoint(), 'uris', env.createFile('one.jsonl', transcript));
  await waitUntilListed('one.jsonl');
  const selectors = ['dialog[open] .drop', 'dialog[open] .files li', 'dialog[open] .safe', 'dialog[open] .path input', 'dialog[open] h2'];
  for (const [i, css] of selectors.entries()) {
    const target = await middle(env.desktop, css, 0.3);
    await drop(target, 'uris', env.createFile(`${i}.jsonl`, transcript));
    await waitUntilListed(`${i}.jsonl`);
    await dragAcross(env.shell, env.desktop, { x: 20, y: 300 }, await middle(env.desktop, css, 0.3), 'uris', env.createFile(`${i} at once.jsonl`, transcript));
    await waitUntilListed(`${i} at once.jsonl`);
  }
  await drop({ x: 20, y: 300 }, 'uris', env.createFile('beside.jsonl', transcript)); // beside the dialog: the hint covers the whole window
  await waitUntilListed('beside.jsonl');
  await env.desktop.page.run(`document.querySelector('dialog[open] button[aria-label="Close"]').click()`);
  await until('the dialog is closed', async () => (await dialogText()) === '');
});

test('after a drag, only the element under the pointer looks hovered', async () => {
  await dragWithin(env.desktop, await middle(env.desktop, '[aria-label="Sessions"] .line[draggable="true"]'), await middle(env.desktop, 'article p'));
  const { x, y } = await onScreen(env.desktop, await fieldPoint());
  for (let i = 0; i < 10; i++) xdotool('mousemove', x + i, y);
  await until('the pointer is over the field', () => env.desktop.page.run<boolean>('return document.querySelector(arguments[0]).matches(":hover")', composer));
  await until('no other element is hovered', async () => {
    xdotool('mousemove', x + (Date.now() % 10), y);
    return env.desktop.page.run<boolean>(`return document.querySelectorAll('button:hover, a:hover, [draggable="true"]:hover').length === 0`);
  });
});

test('no other page replaces that of the program, however it is requested', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end('<title>Another page</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await env.desktop.page.run(`location.href = arguments[0]`, `${elsewhere}assigned`);
  await env.desktop.page.run(`window.open(arguments[0])`, `${elsewhere}opened`);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // longer than a refused navigation takes
  expect(requests).toEqual([]);
  server.close();
});

test('text goes into the message', async () => {
  expect(await drop(await fieldPoint(), 'text', 'Some words of another program')).toEqual({ accepted: true });
  await until('the text is in the field', async () => (await fieldText()) === 'Some words of another program');
});
