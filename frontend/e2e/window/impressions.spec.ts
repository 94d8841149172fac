import { spawnSync } from 'node:child_process';
import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { variants } from '../harness/tier.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { composer, conversationText, field, sendMessage } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';
import { waitForWindow } from './desktop.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const table = '| Step | Rows copied | Amount | Explanation | Responsibility | Internationalization |\n|---|---|---|---|---|---|\n'
  + '| Extract | 12 480 | 1 234.50 EUR | It reads every row of the old system | Infrastructure | Postponed |\n| Transform | 99 | -3.5 % | Names and dates | Documentation | Unnecessary |\n\nThat is the plan.';

// One window for each locale, because starting takes longer than the checks. Closing it fails if the page's
// console has reported errors or warnings (desktop.ts).
for (const { locale, screen } of variants(
  { locale: 'C.UTF-8', screen: '1280x800' },
  { locale: 'C', screen: '1440x1000' },
  { locale: 'de_DE.UTF-8', screen: '1280x800' },
)) {
  test(`what a new user sees and tries first, under ${locale} on ${screen}`, async () => {
    const env = await WindowEnv.open({ LANG: locale }, screen);
    try {
      await checkWindowFits(env, screen);
      await checkPasting(env);
      await checkSpelling(env);
      await env.talk('Show a table', table, 'That is the plan.');
      await checkTable(env);
      await checkMenus(env);
      await checkHeadLabel(env);
      await checkEscInSearchFields(env);
      await checkCharts(env);
      await checkTooltips(env);
      await checkDeletionQuestion(env);
      await checkFailedTurn(env);
      await checkClosingQuestion(env);
    } finally {
      await env.close();
    }
  });
}

const run = <T>(env: WindowEnv, body: string, ...args: unknown[]) => env.desktop.page.run<T>(body, ...args);

async function pointAt(env: WindowEnv, css: string, button?: number, fractionX?: number, fractionY?: number): Promise<void> {
  const { x, y } = await onScreen(env.desktop, await middle(env.desktop, css, fractionX, fractionY));
  xdotool('mousemove', x - 1, y, 'mousemove', x, y);
  if (button) xdotool('click', button);
}

async function checkWindowFits(env: WindowEnv, screen: string): Promise<void> {
  const [width = 0, height = 0] = screen.split('x').map(Number);
  await until('the window with its frame is within the screen', async () => {
    const info = spawnSync('xwininfo', ['-id', await waitForWindow(env.desktop.pid), '-frame'], { encoding: 'utf8' }).stdout;
    const valueOf = (name: string) => Number(new RegExp(`${name}: +(-?\\d+)`).exec(info)?.[1]);
    const [x, y] = [valueOf('Absolute upper-left X'), valueOf('Absolute upper-left Y')];
    return x >= 0 && y >= 0 && x + valueOf('Width') <= width && y + valueOf('Height') <= height;
  });
}

/**
 * Pastes a picture with the real clipboard and keyboard, then with an empty clipboard. The notice about that must not
 * cover the message field.
 */
async function checkPasting(env: WindowEnv): Promise<void> {
  const owner = await env.shell.start('picture');
  await pointAt(env, composer, 1);
  xdotool('key', 'ctrl+v');
  await until('the picture is attached', async () => (await env.desktop.page.text('form[aria-label="Message"]')).includes('Pasted picture'));
  await owner.crash();
  xdotool('key', 'ctrl+v');
  await until('the notice about an empty clipboard', async () => (await env.desktop.page.text('[aria-label="Notices"]')).includes('The clipboard has no text, picture or file'));
  const coveredHeight = await run<number>(env, `const [notice, field] = ['[aria-label="Notices"]', 'form[aria-label="Message"]'].map((css) => document.querySelector(css).getBoundingClientRect());
    return Math.max(0, notice.bottom - field.top)`);
  expect(coveredHeight).toBeLessThan(1);
  await run(env, `document.querySelector('form[aria-label="Message"] button[aria-label^="Remove"]').click()`);
}

async function checkSpelling(env: WindowEnv): Promise<void> {
  const box = await run<{ x: number; y: number; width: number; height: number }>(env, `const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect(); return { x, y, width, height }`, composer);
  const area = { ...(await onScreen(env.desktop, { x: Math.round(box.x), y: Math.round(box.y) })), width: Math.round(box.width), height: Math.round(box.height) };
  await pointAt(env, composer, 1);
  xdotool('type', 'hello world this ');
  await until('the text is typed', () => run<boolean>(env, `return document.querySelector(arguments[0]).value.includes('world')`, composer));
  expect(env.shell.countRed(area)).toBe(0);
  xdotool('type', 'helllo wrold tihs ');
  await until('the misspelled words are marked', () => env.shell.countRed(area) > 0);

  // The system's context menu of a misspelled word begins with suggestions.
  xdotool('key', 'ctrl+a', 'Delete');
  xdotool('type', 'helllo world ');
  await until('the misspelled word is marked', () => env.shell.countRed(area) > 0);
  const windowsBefore = countWindows(env);
  xdotool('mousemove', area.x + 35, area.y + Math.min(22, area.height / 2), 'click', 3);
  await until('the menu of the word', () => countWindows(env) > windowsBefore);
  xdotool('key', 'Down', 'Return');
  await until('the suggestion replaces the word', () => run<boolean>(env, `return document.querySelector(arguments[0]).value.trim() === 'hello world'`, composer));
  xdotool('key', 'ctrl+a', 'Delete');
}

async function checkTable(env: WindowEnv): Promise<void> {
  const broken = await run<string[]>(env, `
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
  await run(env, `document.querySelector('.data').style.minWidth = '80rem'`);
  expect(await run(env, `const inner = document.querySelector('.data-scroll'), outer = document.querySelector('[role="log"]');
    return [inner.scrollWidth > inner.clientWidth, outer.scrollWidth > outer.clientWidth]`)).toEqual([true, false]);
}

/** The number of the program's visible windows; a system menu is one too. */
const countWindows = (env: WindowEnv) => xdotool('search', '--onlyvisible', '--pid', env.desktop.pid).trim().split('\n').length;

async function checkMenus(env: WindowEnv): Promise<void> {
  const windowsBefore = countWindows(env);
  await pointAt(env, composer, 3);
  await until('the menu of the field', () => countWindows(env) > windowsBefore);
  xdotool('key', 'Escape');
  await until('the menu is closed', () => countWindows(env) === windowsBefore);

  await pointAt(env, 'article .block p', 3);
  await until('the menu of the text', async () => (await env.desktop.page.text('[role="menu"]')).includes('Copy the answer'));
  expect(countWindows(env)).toBe(windowsBefore); // only the program's menu, not also that of the system
  await pointAt(env, '[role="menu"] [role="menuitem"]:nth-of-type(3)', 1);
  await until('the answer is in the clipboard', () => env.shell.clipboardText().includes('That is the plan.'));

  await pointAt(env, '[data-session][aria-current]', 3, 0.3);
  await until('the menu of the session', async () => /Rename[\s\S]*Archive/.test(await env.desktop.page.text('[role="menu"]')));
  xdotool('key', 'Escape');
  await until('the menu is closed', async () => !(await env.desktop.page.has('[role="menu"]')));
}

/** One line of a Claude Code transcript. */
const transcriptLine = (id: number, role: string, content: unknown) =>
  JSON.stringify({ type: role, uuid: `u${id}`, parentUuid: id > 1 ? `u${id - 1}` : null, sessionId: 's', timestamp: `2025-06-01T10:00:0${id}.000Z`, message: { role, content } });

/**
 * After an import a state covers several turns; the head is labelled with the last of them everywhere. A call in the
 * imported conversation is shown as having run.
 */
async function checkHeadLabel(env: WindowEnv): Promise<void> {
  const { page } = env.desktop;
  const history = [
    transcriptLine(1, 'user', 'Is there a cat?'), transcriptLine(2, 'assistant', [{ type: 'tool_use', id: 't1', name: 'Grep', input: { pattern: 'cat' } }]),
    transcriptLine(3, 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'cat.txt' }]), transcriptLine(4, 'assistant', 'There is.'),
    transcriptLine(5, 'user', 'And a dog?'), transcriptLine(6, 'assistant', 'No dog.'), transcriptLine(7, 'user', 'A bird?'), transcriptLine(8, 'assistant', 'Two birds.'),
  ];
  const path = env.createFile('history.jsonl', history.join('\n')).replace('file://', '');
  const before = await run<string>(env, `return document.querySelector('[data-session][aria-current]').dataset.session`);
  const importedId = () => run<string>(env, `return window.go.api.Sessions.List(false, '').then((rows) => rows.find((row) => row.id !== arguments[0])?.id ?? '')`, before);
  await run(env, `return window.go.api.Transfer.ImportFiles([arguments[0]], '', '')`, path);
  const session = await until('the session is imported', importedId);
  interface BranchList { branches: { head_state: string; head_turn_seq: number; head_seq: number }[] }
  const branch = () => (JSON.parse(cli(env.home, 'branches', '--json', session)) as BranchList).branches[0]!;
  await until('the session has a head', () => branch().head_turn_seq === 3);
  await pointAt(env, `[data-session="${session}"]`, 1, 0.3);
  await until('the session is open', async () => (await conversationText(env.desktop)).includes('Two birds.'));
  expect(await page.text('[aria-label="Call to Grep"]')).toMatch(/Ran/);
  const head = new RegExp(`#${branch().head_seq}\\s+${branch().head_state.slice(-4)}`);
  await until('the header shows the head', async () => head.test(await field(env.desktop, 'Head')));
  await page.press('State');
  await until('the panel shows the head', async () => (await page.text('[role="tabpanel"]')).includes(`Head #${branch().head_seq}`));
  expect(cli(env.home, 'branches', session)).toMatch(head);
  await pointAt(env, `[data-session="${before}"]`, 1, 0.3);
  await until('the other session is open again', async () => (await conversationText(env.desktop)).includes('That is the plan.'));
}

/** In WebKit a search field handles Esc itself. */
async function checkEscInSearchFields(env: WindowEnv): Promise<void> {
  const { page } = env.desktop;
  const dialogText = () => page.text('dialog[open]');
  await run(env, `return window.go.api.Sessions.Fork(document.querySelector('article').dataset.turn, false, 'another way')`);
  const sessions = await run<number>(env, `return document.querySelectorAll('[data-session]').length`);
  await until('two branches are listed', () => page.has('[data-session][aria-current] .session__forks'));
  for (const typed of ['', 'anoth']) {
    xdotool('key', 'ctrl+j');
    await until('the switcher', () => page.has('[aria-label="Switch branch"]'));
    await page.press('Compare with…');
    await until('the question', async () => (await dialogText()).includes('Compare'));
    if (typed) xdotool('type', typed);
    await until('the text is typed into the field', () => run<boolean>(env, `return document.querySelector('dialog[open] input').value === arguments[0]`, typed));
    xdotool('key', 'ctrl+n'); // while the dialog is open, shortcuts do nothing
    xdotool('key', 'Escape');
    await until('the dialog is closed', async () => (await dialogText()) === '');
  }
  xdotool('key', 'ctrl+k');
  await until('the palette', () => page.has('dialog[open] input'));
  xdotool('key', 'Escape');
  await until('the palette is closed', async () => !(await page.has('dialog[open]')));
  expect(await run<number>(env, `return document.querySelectorAll('[data-session]').length`)).toBe(sessions);
}

async function checkCharts(env: WindowEnv): Promise<void> {
  await env.desktop.page.press('Activity');
  await until('charts', () => run<boolean>(env, `const charts = [...document.querySelectorAll('.plot canvas')];
    return charts.length > 1 && charts.every((canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0))`));
}

async function checkTooltips(env: WindowEnv): Promise<void> {
  const { page } = env.desktop;
  const windowsBefore = countWindows(env);
  const button = '[aria-label^="Hide sessions"]';
  await pointAt(env, button);
  await until('the tooltip', async () => (await page.text('[role="tooltip"]')).includes('Hide sessions'));
  expect([await run(env, `return document.querySelector(arguments[0]).hasAttribute('title')`, button), countWindows(env)]).toEqual([false, windowsBefore]);

  const width = () => run<number>(env, `return document.querySelector('[data-session][aria-current] .truncate').parentElement.getBoundingClientRect().width - parseFloat(getComputedStyle(document.querySelector('[data-session][aria-current]')).paddingRight)`);
  const before = await width();
  await pointAt(env, '[data-session][aria-current]', undefined, 0.3);
  await until('the row is hovered', () => run<boolean>(env, `return document.querySelector('.line:hover [data-session]') !== null`));
  expect(await page.has('[role="tooltip"]')).toBe(false);
  expect(await width()).toBeGreaterThan(before * 0.88);
}

async function checkDeletionQuestion(env: WindowEnv): Promise<void> {
  const { page } = env.desktop;
  await pointAt(env, '[data-session][aria-current]', 3, 0.3);
  await until('the menu', () => page.has('[role="menu"]'));
  xdotool('key', 'End', 'Return'); // Delete is the last item
  const canDelete = () => run<boolean>(env, `return document.querySelector('dialog[open] [data-kind="danger"]:not(:disabled)') !== null`);
  await until('the question', () => page.has('dialog[open] input:not(:disabled)'));
  expect(await canDelete()).toBe(false);
  await pointAt(env, 'dialog[open] input', 1);
  xdotool('type', 'delete');
  await until('the delete button is enabled', canDelete);
  xdotool('key', 'Escape');
  await until('the dialog is closed', async () => !(await page.has('dialog[open]')));
}

/** Presses a button of a turn, wherever the transcript is scrolled to. */
async function pressInTurn(env: WindowEnv, label: string): Promise<void> {
  await until(`the button “${label}”`, () => run<boolean>(env, `const button = [...document.querySelectorAll('article button')].find((candidate) => candidate.innerText.trim() === arguments[0] && candidate.offsetParent);
    button?.click();
    return button !== undefined`, label));
}

async function checkFailedTurn(env: WindowEnv): Promise<void> {
  const { page } = env.desktop;
  env.provider.refuse('Is the key right?', 401, 'Incorrect API key provided');
  await sendMessage(env.desktop, 'Is the key right?');
  await until('the turn failed', async () => (await conversationText(env.desktop)).includes('No answer'));
  expect(await conversationText(env.desktop)).not.toMatch(/base_url|api_key_env|contextinfinity keys/);
  await pressInTurn(env, 'Check the key');
  await until('the settings of providers and keys', async () => (await page.text()).includes('Providers and keys'));
  xdotool('key', 'Escape');
  await pressInTurn(env, 'Discard');
  await until('the turn is discarded', async () => /discarded/i.test(await conversationText(env.desktop)) && !(await conversationText(env.desktop)).includes('No answer'));
}

/** Without a tray, closing the window would end the program during an answer. */
async function checkClosingQuestion(env: WindowEnv): Promise<void> {
  const { desktop, provider } = env;
  provider.answer('Take your time', 'word '.repeat(200), { chunkSize: 10, holdAfter: 20 });
  await sendMessage(desktop, 'Take your time');
  await until('the answer begins', async () => (await conversationText(desktop)).includes('word word'));
  const waitForQuestion = () => until('the question', async () => (await desktop.page.text('dialog[open]')).includes('Quit while an answer is arriving?'));
  await desktop.pressClose();
  await waitForQuestion();
  xdotool('key', 'Escape');
  await until('the window stays', async () => !(await desktop.page.has('dialog[open]')));
  await desktop.pressClose();
  await waitForQuestion();
  await pointAt(env, 'dialog[open] [data-kind="danger"]', 1);
  await desktop.waitUntilEnded();
  expect([...env.home.journals().values()].some(({ text }) => text.includes('word word'))).toBe(true); // the text that had arrived is saved
}
