import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { xdotool } from './dragging.ts';
import { said, say } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

/** A text or search field, how to reach it with the keyboard, and what Esc closes. */
interface Place {
  name: string;
  open: (room: Room) => Promise<void>;
  field: string;
  /**
   * What exists while it is open, and not after Esc. If undefined, it stays: Esc clears the field, and a second Esc
   * leaves it.
   */
  closes?: string;
  /** Esc first clears the text, then closes. */
  clearsFirst?: boolean;
  /** With text in it, Esc asks before the text is lost. */
  asks?: boolean;
}

const press = (...keys: string[]) => async () => void xdotool('key', ...keys);

const command = (title: string) => async (room: Room) => {
  const { page } = room.desktop;
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has('dialog[aria-label="Commands"] input'));
  await page.type('dialog[aria-label="Commands"] input', `>${title}`);
  await until(`the command “${title}”`, async () => (await page.text('dialog[aria-label="Commands"] [role="option"][aria-selected="true"]')).includes(title.slice(0, 20)));
  xdotool('key', 'Return');
  await until('the palette is closed', async () => !(await page.has('dialog[aria-label="Commands"]')));
};

const dialog = 'dialog[open]';
const places: Place[] = [
  { name: 'the search of the sessions', open: press('slash'), field: '[aria-label="Search sessions by title"]', clearsFirst: true },
  { name: 'the palette', open: press('ctrl+k'), field: `${dialog} input`, closes: dialog },
  { name: 'the shortcut sheet', open: press('ctrl+slash'), field: '[aria-label="Search keys and commands"]', closes: dialog },
  { name: 'the global search', open: press('ctrl+shift+f'), field: '[aria-label="Search titles and messages of all sessions"]', closes: '[aria-label="Search all sessions"]' },
  { name: 'find in the conversation', open: press('ctrl+f'), field: '[role="search"][aria-label="Find in this session"] input', closes: '[role="search"][aria-label="Find in this session"]' },
  { name: 'go to a turn', open: press('ctrl+g'), field: `${dialog} input`, closes: dialog },
  { name: 'the switcher of branches', open: press('ctrl+j'), field: '[aria-label="Switch branch"] input', closes: '[aria-label="Switch branch"]' },
  { name: 'the list of branches to compare', open: command('Compare this branch with another'), field: `${dialog} input`, closes: dialog },
  { name: 'the search of memory', open: command('Show the memory'), field: '[aria-label="Search memory"]', clearsFirst: true },
  { name: 'the search of the tree beside the conversation', open: command('Show the branches'), field: '.inspector [aria-label="Find a turn or branch"]', clearsFirst: true },
  { name: 'the search of the tree at full size', open: command('Show the tree at full size'), field: '.wide [aria-label="Find a turn or branch"]', clearsFirst: true, closes: 'section.wide' },
  { name: 'the folder', open: chooseFolder, field: `${dialog} input`, closes: dialog },
  { name: 'the import', open: press('ctrl+o'), field: '[aria-label="Path of a file"]', closes: dialog },
  { name: 'the export', open: press('ctrl+e'), field: `${dialog} input:not([type="checkbox"])`, closes: dialog },
  { name: 'a name', open: command('Rename this branch'), field: `${dialog} input`, closes: dialog },
  { name: 'the settings of the session', open: command('System prompt, temperature'), field: `${dialog} textarea`, closes: dialog, asks: true },
  { name: 'the search of the settings', open: press('ctrl+comma'), field: '.settings [aria-label="Search settings"]', clearsFirst: true, closes: '.settings' },
  { name: 'the search of known facts', open: openKnown, field: '.settings [aria-label="Find in what it knows"]', clearsFirst: true, closes: '.settings' },
  { name: 'the search of the models', open: openModels, field: `${dialog} input[type="search"]`, closes: dialog },
  { name: 'the search of the shortcuts, in the settings', open: openShortcuts, field: '.settings [aria-label="Search keys and commands"]', closes: '.settings' },
];

/** In WebKit a search field consumes Esc, and the elements around it may never receive it. */
for (const locale of ['C', 'de_DE.UTF-8']) test(`Esc closes the focused view, or clears its search, and stops no answer below it, under ${locale}`, async () => {
  const room = await Room.open({ LANG: locale }, undefined, '[stream]\nidle_timeout_s = 600'); // the answer is held during the whole test
  try {
    await room.talk('A first question', 'A first answer.');
    await room.desktop.page.run(`return window.go.api.Sessions.Fork(document.querySelector('article').dataset.turn, false, 'another way')`);
    room.provider.answer('Take your time', 'word '.repeat(200), { chunkSize: 10, holdAfter: 20 });
    await say(room.desktop, 'Take your time');
    await until('an answer is arriving', async () => (await said(room.desktop)).includes('word word'));
    for (const place of places) for (const typed of ['', 'zz']) await escapes(room, place, typed);
    expect(await room.desktop.page.text('[data-field="phase"]')).toContain('Responding');
  } finally {
    await room.close();
  }
});

async function escapes(room: Room, { name, open, field, closes, clearsFirst, asks }: Place, typed: string): Promise<void> {
  const { page } = room.desktop;
  const value = () => page.run<string | null>(`return document.querySelector(arguments[0])?.value ?? null`, field);
  await page.run(`document.activeElement?.blur()`); // in a text field, a shortcut that is a character would be typed
  await open(room);
  await until(`${name} opens`, () => page.has(field));
  await page.run(`document.querySelector(arguments[0]).focus()`, field);
  const before = (await value()) ?? '';
  if (typed) {
    xdotool('type', typed);
    await until(`it is typed into ${name}`, async () => (await value()) === before + typed || (await value()) === typed);
    if (clearsFirst) {
      xdotool('key', 'Escape');
      await until(`Esc clears ${name}`, async () => (await value()) === '');
    }
  }
  xdotool('key', 'Escape');
  if (asks && typed) await page.press('Discard', dialog);
  if (!closes) return void (await until(`Esc leaves ${name}`, () => page.run<boolean>(`return !document.activeElement?.matches(arguments[0])`, field)));
  await until(`Esc closes ${name}, with “${typed}” in it`, async () => !(await page.has(closes)));
}

async function chooseFolder({ desktop: { page } }: Room): Promise<void> {
  if (!(await page.has('[aria-label="Selected sessions"]'))) {
    await page.run(`document.querySelector('[data-session][aria-current]').focus()`);
    xdotool('key', 'ctrl+space');
    await until('a session is selected', () => page.has('[aria-label="Selected sessions"]'));
  }
  await page.press('Move to a folder');
}

async function openKnown({ desktop: { page } }: Room): Promise<void> {
  xdotool('key', 'ctrl+comma');
  await page.press('What it knows');
}

async function openModels({ desktop: { page } }: Room): Promise<void> {
  await page.press('Model and effort');
}

async function openShortcuts({ desktop: { page } }: Room): Promise<void> {
  xdotool('key', 'ctrl+comma');
  await page.press('Keyboard');
}
