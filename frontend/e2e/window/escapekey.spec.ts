import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { variants } from '../harness/tier.ts';
import { xdotool } from './dragging.ts';
import { conversationText, field, sendMessage } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

/** A text or search field, how to reach it with the keyboard, and what Esc closes. */
interface FieldCase {
  name: string;
  open: (env: WindowEnv) => Promise<void>;
  field: string;
  /**
   * A selector of the view that Esc closes. If undefined, the view stays open: Esc clears the field, and a second Esc
   * leaves it.
   */
  closes?: string;
  /** The first Esc clears the text, the second closes the view. */
  clearsFirst?: boolean;
  /** If the field contains text, Esc asks before discarding it. */
  asksFirst?: boolean;
}

const press = (...keys: string[]) => async () => void xdotool('key', ...keys);

const runCommand = (title: string) => async (env: WindowEnv) => {
  const { page } = env.desktop;
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has('dialog[aria-label="Commands"] input'));
  await page.type('dialog[aria-label="Commands"] input', `>${title}`);
  await until(`the command “${title}”`, async () => (await page.text('dialog[aria-label="Commands"] [role="option"][aria-selected="true"]')).includes(title.slice(0, 20)));
  xdotool('key', 'Return');
  await until('the palette is closed', async () => !(await page.has('dialog[aria-label="Commands"]')));
};

const dialog = 'dialog[open]';
const cases: FieldCase[] = [
  { name: 'the search of the sessions', open: press('slash'), field: '[aria-label="Search sessions and messages"]', clearsFirst: true },
  { name: 'the palette', open: press('ctrl+k'), field: `${dialog} input`, closes: dialog },
  { name: 'the shortcut sheet', open: press('ctrl+slash'), field: '[aria-label="Search keys and commands"]', closes: dialog },
  { name: 'the global search', open: press('ctrl+shift+f'), field: '[aria-label="Search titles and messages of all sessions"]', closes: '[aria-label="Search all sessions"]' },
  { name: 'find in the conversation', open: press('ctrl+f'), field: '[role="search"][aria-label="Find in this session"] input', closes: '[role="search"][aria-label="Find in this session"]' },
  { name: 'go to a turn', open: press('ctrl+g'), field: `${dialog} input`, closes: dialog },
  { name: 'the branch switcher', open: press('ctrl+j'), field: '[aria-label="Switch branch"] input', closes: '[aria-label="Switch branch"]' },
  { name: 'the list of branches to compare', open: runCommand('Compare this branch with another'), field: `${dialog} input`, closes: dialog },
  { name: 'the search of memory', open: runCommand('Show the memory'), field: '[aria-label="Search memory"]', clearsFirst: true },
  { name: 'the search of the tree beside the conversation', open: runCommand('Show the branches'), field: '.inspector [aria-label="Find a turn or branch"]', clearsFirst: true },
  { name: 'the search of the tree at full size', open: runCommand('Show the tree at full size'), field: '.full-view [aria-label="Find a turn or branch"]', clearsFirst: true, closes: 'section.full-view' },
  { name: 'the choice of a folder', open: chooseFolder, field: `${dialog} input`, closes: dialog },
  { name: 'the import', open: press('ctrl+o'), field: '[aria-label="Path of a file"]', closes: dialog },
  { name: 'the export', open: press('ctrl+e'), field: `${dialog} input:not([type="checkbox"])`, closes: dialog },
  { name: 'the name of a branch', open: runCommand('Rename this branch'), field: `${dialog} input`, closes: dialog },
  { name: 'the settings of the session', open: runCommand('Instructions, temperature'), field: `${dialog} textarea`, closes: dialog, asksFirst: true },
  { name: 'the search of the settings', open: press('ctrl+comma'), field: '.settings [aria-label="Search settings"]', clearsFirst: true, closes: '.settings' },
  { name: 'the search of known facts', open: openFacts, field: '.settings [aria-label="Find in what it knows"]', clearsFirst: true, closes: '.settings' },
  { name: 'the search of the models', open: openModels, field: `${dialog} input[type="search"]`, closes: dialog },
  { name: 'the search of the shortcuts, in the settings', open: openShortcuts, field: '.settings [aria-label="Search keys and commands"]', closes: '.settings' },
];

/** In WebKit a search field handles Esc itself, and the elements around it may never receive the key. */
for (const LANG of variants('C', 'de_DE.UTF-8')) {
  test(`Esc closes the focused view, or clears its search, and stops no answer behind it, under ${LANG}`, async () => {
    // The answer is held during the whole test.
    const env = await WindowEnv.open({ LANG }, undefined, '[stream]\nidle_timeout_s = 600');
    try {
      await env.talk('A first question', 'A first answer.');
      await env.desktop.page.run(
        `return window.go.api.Sessions.Fork(document.querySelector('article').dataset.turn, false, 'another way')`,
      );
      env.provider.answer('Take your time', 'word '.repeat(200), { chunkSize: 10, holdAfter: 20 });
      await sendMessage(env.desktop, 'Take your time');
      await until('an answer is arriving', async () => (await conversationText(env.desktop)).includes('word word'));
      for (const fieldCase of cases) for (const typed of ['', 'zz']) await checkEscape(env, fieldCase, typed);
      expect(await field(env.desktop, 'Turn')).toContain('Responding');
    } finally {
      await env.close();
    }
  });
}

async function checkEscape(env: WindowEnv, { name, open, field, closes, clearsFirst, asksFirst }: FieldCase, typed: string): Promise<void> {
  const { page } = env.desktop;
  const value = () => page.run<string | null>(`return document.querySelector(arguments[0])?.value ?? null`, field);
  await page.run(`document.activeElement?.blur()`); // in a text field, a shortcut of one character would be typed
  await open(env);
  await until(`${name} opens`, () => page.has(field));
  await page.run(`document.querySelector(arguments[0]).focus()`, field);
  const before = (await value()) ?? '';
  if (typed) {
    xdotool('type', typed);
    await until(`“${typed}” is typed into ${name}`, async () => (await value()) === before + typed || (await value()) === typed);
    if (clearsFirst) {
      xdotool('key', 'Escape');
      await until(`Esc clears ${name}`, async () => (await value()) === '');
    }
  }
  xdotool('key', 'Escape');
  if (asksFirst && typed) await page.press('Discard', dialog);
  if (!closes) return void (await until(`Esc leaves ${name}`, () => page.run<boolean>(`return !document.activeElement?.matches(arguments[0])`, field)));
  await until(`Esc closes ${name}, with “${typed}” in it`, async () => !(await page.has(closes)));
}

async function chooseFolder({ desktop: { page } }: WindowEnv): Promise<void> {
  if (!(await page.has('[aria-label="Selected sessions"]'))) {
    await page.run(`document.querySelector('[data-session][aria-current]').focus()`);
    xdotool('key', 'ctrl+space');
    await until('a session is selected', () => page.has('[aria-label="Selected sessions"]'));
  }
  await page.press('Move to a folder');
}

async function openFacts({ desktop: { page } }: WindowEnv): Promise<void> {
  xdotool('key', 'ctrl+comma');
  await page.press('What it knows');
}

async function openModels({ desktop: { page } }: WindowEnv): Promise<void> {
  await page.press('Model and effort');
}

async function openShortcuts({ desktop: { page } }: WindowEnv): Promise<void> {
  xdotool('key', 'ctrl+comma');
  await page.press('Keyboard');
}
