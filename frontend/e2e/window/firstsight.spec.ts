import { spawnSync } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { composer, field, said, say } from './fixtures.ts';
import { Room } from './room.ts';
import { waitForWindow } from './desktop.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const table = '| Step | Rows copied | Amount | Explanation | Responsibility | Internationalization |\n|---|---|---|---|---|---|\n'
  + '| Extract | 12 480 | 1 234.50 EUR | It reads every row of the old system | Infrastructure | Postponed |\n| Transform | 99 | -3.5 % | Names and dates | Documentation | Unnecessary |\n\nThat is the plan.';

// One window for each locale, because starting takes longer than the checks. At its end the page's console must be
// empty (desktop.ts).
for (const { locale, screen } of [{ locale: 'C', screen: '1440x1000' }, { locale: 'C.UTF-8', screen: '1440x1000' }, { locale: 'de_DE.UTF-8', screen: '1280x800' }]) {
  test(`the first impressions of a user, under ${locale} on ${screen}`, async () => {
    const room = await Room.open({ LANG: locale }, screen);
    try {
      await fitsTheScreen(room, screen);
      await pastes(room);
      await marksSpelling(room);
      await room.talk('Show a table', table, 'That is the plan.');
      await keepsWordsWhole(room);
      await hasMenus(room);
      await numbersTheHead(room);
      await escapesFromSearchFields(room);
      await drawsCharts(room);
      await showsTooltips(room);
      await asksForAWord(room);
      await settlesFailures(room);
      await asksBeforeClosing(room);
    } finally {
      await room.close();
    }
  });
}

const run = <T>(room: Room, body: string, ...args: unknown[]) => room.desktop.page.run<T>(body, ...args);

async function pointAt(room: Room, css: string, button?: number, partX?: number, partY?: number): Promise<void> {
  const { x, y } = await onScreen(room.desktop, await middle(room.desktop, css, partX, partY));
  xdotool('mousemove', x - 1, y, 'mousemove', x, y);
  if (button) xdotool('click', button);
}

async function fitsTheScreen(room: Room, screen: string): Promise<void> {
  const [width = 0, height = 0] = screen.split('x').map(Number);
  await until('the window is on the screen with its frame', async () => {
    const place = spawnSync('xwininfo', ['-id', await waitForWindow(room.desktop.pid), '-frame'], { encoding: 'utf8' }).stdout;
    const at = (name: string) => Number(new RegExp(`${name}: +(-?\\d+)`).exec(place)?.[1]);
    const [x, y] = [at('Absolute upper-left X'), at('Absolute upper-left Y')];
    return x >= 0 && y >= 0 && x + at('Width') <= width && y + at('Height') <= height;
  });
}

/**
 * Pastes a picture with the real clipboard and keyboard; then with an empty clipboard, whose notice must cover nothing.
 */
async function pastes(room: Room): Promise<void> {
  const owner = await room.desk.play('picture');
  await pointAt(room, composer, 1);
  xdotool('key', 'ctrl+v');
  await until('the picture is attached', async () => (await room.desktop.page.text('form[aria-label="Message"]')).includes('Pasted picture'));
  await owner.crash();
  xdotool('key', 'ctrl+v');
  await until('the notice about an empty clipboard', async () => (await room.desktop.page.text('[aria-label="Notices"]')).includes('The clipboard has no text, picture or file'));
  const covered = await run<number>(room, `const [notice, text, field] = ['[aria-label="Notices"]', 'main .place', 'form[aria-label="Message"]'].map((css) => document.querySelector(css).getBoundingClientRect());
    return Math.max(0, text.bottom - notice.top) + Math.max(0, notice.bottom - field.top)`);
  expect(covered).toBeLessThan(1);
  await run(room, `document.querySelector('form[aria-label="Message"] button[aria-label^="Remove"]').click()`);
}

async function marksSpelling(room: Room): Promise<void> {
  const box = await run<{ x: number; y: number; width: number; height: number }>(room, `const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect(); return { x, y, width, height }`, composer);
  const at = { ...(await onScreen(room.desktop, { x: Math.round(box.x), y: Math.round(box.y) })), width: Math.round(box.width), height: Math.round(box.height) };
  await pointAt(room, composer, 1);
  xdotool('type', 'hello world this ');
  await until('it is typed', () => run<boolean>(room, `return document.querySelector(arguments[0]).value.includes('world')`, composer));
  expect(room.desk.red(at)).toBe(0);
  xdotool('type', 'helllo wrold tihs ');
  await until('the spelling is marked', () => room.desk.red(at) > 0);

  // The system's context menu of a misspelled word begins with suggestions.
  xdotool('key', 'ctrl+a', 'Delete');
  xdotool('type', 'helllo world ');
  await until('its spelling is marked', () => room.desk.red(at) > 0);
  const alone = windows(room);
  xdotool('mousemove', at.x + 35, at.y + Math.min(22, at.height / 2), 'click', 3);
  await until('the menu of the word', () => windows(room) > alone);
  xdotool('key', 'Down', 'Return');
  await until('the suggestion is in its place', () => run<boolean>(room, `return document.querySelector(arguments[0]).value.trim() === 'hello world'`, composer));
  xdotool('key', 'ctrl+a', 'Delete');
}

async function keepsWordsWhole(room: Room): Promise<void> {
  const broken = await run<string[]>(room, `
    const lines = (node, from, to) => { const range = document.createRange(); range.setStart(node, from); range.setEnd(node, to); return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size; };
    const found = [];
    for (const cell of document.querySelectorAll('article .data :is(th, td)')) {
      const node = cell.firstChild;
      for (const word of node.data.matchAll(/\\S+/g)) if (lines(node, word.index, word.index + word[0].length) > 1) found.push(word[0]);
      if (/^-?\\d/.test(node.data) && lines(node, 0, node.length) > 1) found.push(node.data);
    }
    return found`);
  expect(broken).toEqual([]);
  // A table that is too wide scrolls itself, and not the conversation.
  await run(room, `document.querySelector('.data').style.minWidth = '80rem'`);
  expect(await run(room, `const inner = document.querySelector('.data-scroll'), outer = document.querySelector('[role="log"]');
    return [inner.scrollWidth > inner.clientWidth, outer.scrollWidth > outer.clientWidth]`)).toEqual([true, false]);
}

/** The number of the program's windows on the screen: its own, and a menu of the system. */
const windows = (room: Room) => xdotool('search', '--onlyvisible', '--pid', room.desktop.pid).trim().split('\n').length;

async function hasMenus(room: Room): Promise<void> {
  const alone = windows(room);
  await pointAt(room, composer, 3);
  await until('the menu of the field', () => windows(room) > alone);
  xdotool('key', 'Escape');
  await until('it is closed', () => windows(room) === alone);

  await pointAt(room, 'article .block p', 3);
  await until('the menu of the text', async () => (await room.desktop.page.text('[role="menu"]')).includes('Copy the answer'));
  expect(windows(room)).toBe(alone); // only our menu, not both
  await pointAt(room, '[role="menu"] [role="menuitem"]:nth-of-type(3)', 1);
  await until('the answer is in the clipboard', () => room.desk.pasted().includes('That is the plan.'));

  await pointAt(room, '[data-session][aria-current]', 3, 0.3);
  await until('the menu of the session', async () => /Rename[\s\S]*Archive/.test(await room.desktop.page.text('[role="menu"]')));
  xdotool('key', 'Escape');
  await until('it is closed', async () => !(await room.desktop.page.has('[role="menu"]')));
}

/** One line of a Claude Code transcript. */
const line = (id: number, role: string, content: unknown) =>
  JSON.stringify({ type: role, uuid: `u${id}`, parentUuid: id > 1 ? `u${id - 1}` : null, sessionId: 's', timestamp: `2025-06-01T10:00:0${id}.000Z`, message: { role, content } });

/**
 * After an import a state covers several turns: the head is labelled with its last turn everywhere. The imported
 * conversation's tools did run.
 */
async function numbersTheHead(room: Room): Promise<void> {
  const { page } = room.desktop;
  const history = [
    line(1, 'user', 'Is there a cat?'), line(2, 'assistant', [{ type: 'tool_use', id: 't1', name: 'Grep', input: { pattern: 'cat' } }]),
    line(3, 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'cat.txt' }]), line(4, 'assistant', 'There is.'),
    line(5, 'user', 'And a dog?'), line(6, 'assistant', 'No dog.'), line(7, 'user', 'A bird?'), line(8, 'assistant', 'Two birds.'),
  ];
  const path = room.file('history.jsonl', history.join('\n')).replace('file://', '');
  const before = await run<string>(room, `return document.querySelector('[data-session][aria-current]').dataset.session`);
  const there = () => run<string>(room, `return window.go.api.Sessions.List(false, '').then((rows) => rows.find((row) => row.id !== arguments[0])?.id ?? '')`, before);
  await run(room, `return window.go.api.Transfer.ImportFiles([arguments[0]], '')`, path);
  const session = await until('it is imported', there);
  interface Listed { branches: { head_state: string; head_turn_seq: number; head_seq: number }[] }
  const branch = () => (JSON.parse(verb(room.home, 'branches', '--json', session)) as Listed).branches[0]!;
  await until('it has a head', () => branch().head_turn_seq === 3);
  await pointAt(room, `[data-session="${session}"]`, 1, 0.3);
  await until('it is open', async () => (await said(room.desktop)).includes('Two birds.'));
  expect(await page.text('[aria-label="Call to Grep"]')).toMatch(/Ran/);
  const head = new RegExp(`#3\\s+${branch().head_state.slice(-4)}`);
  await until('the header shows it', async () => head.test(await field(room.desktop, 'head')));
  await page.press('State');
  await until('the panel too', async () => (await page.text('[role="tabpanel"]')).includes('Head #3'));
  expect(verb(room.home, 'branches', session)).toMatch(head);
  await pointAt(room, `[data-session="${before}"]`, 1, 0.3);
  await until('the other session is open again', async () => (await said(room.desktop)).includes('That is the plan.'));
}

/** In WebKit a search field consumes Esc. */
async function escapesFromSearchFields(room: Room): Promise<void> {
  const { page } = room.desktop;
  const open = () => page.text('dialog[open]');
  await run(room, `return window.go.api.Sessions.Fork(document.querySelector('article').dataset.turn, false, 'another way')`);
  const sessions = await run<number>(room, `return document.querySelectorAll('[data-session]').length`);
  await until('two branches are known', () => page.has('[data-session][aria-current] .session__forks'));
  for (const typed of ['', 'anoth']) {
    xdotool('key', 'ctrl+j');
    await until('the switcher', () => page.has('[aria-label="Switch branch"]'));
    await page.press('Compare with…');
    await until('the question', async () => (await open()).includes('Compare'));
    if (typed) xdotool('type', typed);
    await until('it is typed into the field', () => run<boolean>(room, `return document.querySelector('dialog[open] input').value === arguments[0]`, typed));
    xdotool('key', 'ctrl+n'); // shortcuts do nothing below the dialog
    xdotool('key', 'Escape');
    await until('it is closed', async () => (await open()) === '');
  }
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has('dialog[open] input'));
  xdotool('key', 'Escape');
  await until('it is closed', async () => !(await page.has('dialog[open]')));
  expect(await run<number>(room, `return document.querySelectorAll('[data-session]').length`)).toBe(sessions);
}

async function drawsCharts(room: Room): Promise<void> {
  await room.desktop.page.press('Activity');
  await until('charts', () => run<boolean>(room, `const drawn = [...document.querySelectorAll('.plot canvas')];
    return drawn.length > 1 && drawn.every((canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0))`));
}

async function showsTooltips(room: Room): Promise<void> {
  const { page } = room.desktop;
  const alone = windows(room);
  const button = '[aria-label^="Hide sessions"]';
  await pointAt(room, button);
  await until('the tooltip', async () => (await page.text('[role="tooltip"]')).includes('Hide sessions'));
  expect([await run(room, `return document.querySelector(arguments[0]).hasAttribute('title')`, button), windows(room)]).toEqual([false, alone]);

  const width = () => run<number>(room, `return document.querySelector('[data-session][aria-current] .truncate').parentElement.getBoundingClientRect().width - parseFloat(getComputedStyle(document.querySelector('[data-session][aria-current]')).paddingRight)`);
  const before = await width();
  await pointAt(room, '[data-session][aria-current]', undefined, 0.3);
  await until('the row is hovered', () => run<boolean>(room, `return document.querySelector('.line:hover [data-session]') !== null`));
  expect(await page.has('[role="tooltip"]')).toBe(false);
  expect(await width()).toBeGreaterThan(before * 0.88);
}

async function asksForAWord(room: Room): Promise<void> {
  const { page } = room.desktop;
  await pointAt(room, '[data-session][aria-current]', 3, 0.3);
  await until('the menu', () => page.has('[role="menu"]'));
  xdotool('key', 'End', 'Return'); // Delete is the last item
  const ready = () => run<boolean>(room, `return document.querySelector('dialog[open] [data-kind="danger"]:not(:disabled)') !== null`);
  await until('the question', () => page.has('dialog[open] input:not(:disabled)'));
  expect(await ready()).toBe(false);
  await pointAt(room, 'dialog[open] input', 1);
  xdotool('type', 'delete');
  await until('it can be deleted', ready);
  xdotool('key', 'Escape');
  await until('nothing is deleted', async () => !(await page.has('dialog[open]')));
}

/** Presses a button of a turn, wherever the transcript is scrolled to. */
async function pressInTurn(room: Room, words: string): Promise<void> {
  await until(`the button “${words}”`, () => run<boolean>(room, `const button = [...document.querySelectorAll('article button')].find((one) => one.innerText.trim() === arguments[0] && one.offsetParent);
    button?.click();
    return button !== undefined`, words));
}

async function settlesFailures(room: Room): Promise<void> {
  const { page } = room.desktop;
  room.provider.refuse('Is the key right?', 401, 'Incorrect API key provided');
  await say(room.desktop, 'Is the key right?');
  await until('the turn failed', async () => (await said(room.desktop)).includes('No answer'));
  expect(await said(room.desktop)).not.toMatch(/base_url|api_key_env|contextinfinity keys/);
  await pressInTurn(room, 'Check the key');
  await until('the page of shortcuts', async () => (await page.text()).includes('Providers and keys'));
  xdotool('key', 'Escape');
  await pressInTurn(room, 'Discard');
  await until('it is discarded', async () => /discarded/i.test(await said(room.desktop)) && !(await said(room.desktop)).includes('No answer'));
}

/** There is no tray here: closing the window would end the program during an answer. */
async function asksBeforeClosing(room: Room): Promise<void> {
  const { desktop, provider } = room;
  provider.answer('Take your time', 'word '.repeat(200), { chunkSize: 10, holdAfter: 20 });
  await say(desktop, 'Take your time');
  await until('the answer begins', async () => (await said(desktop)).includes('word word'));
  const asked = () => until('the question', async () => (await desktop.page.text('dialog[open]')).includes('Quit while an answer is arriving?'));
  await desktop.pressClose();
  await asked();
  xdotool('key', 'Escape');
  await until('it stays', async () => !(await desktop.page.has('dialog[open]')));
  await desktop.pressClose();
  await asked();
  await pointAt(room, 'dialog[open] [data-kind="danger"]', 1);
  await desktop.ended();
  expect([...room.home.journals().values()].some(({ text }) => text.includes('word word'))).toBe(true); // the text that had arrived is saved
}
