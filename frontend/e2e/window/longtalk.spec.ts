import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { essay, question } from '../harness/seed.ts';
import { plain } from '../browser/conversation.ts';
import { composer, field, streamed } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const turns = 70;

test(`a conversation of ${turns} turns, in two locales, without any console message`, async () => {
  test.setTimeout(600_000); // a turn takes some seconds on a busy machine; each wait has its own limit, which stops a test that hangs
  const room = await Room.open({ LANG: 'C' });
  try {
    for (let turn = 1; turn <= turns / 2; turn++) await talk(room, turn);
    await checkHeader(room, turns / 2);
    expect(room.desktop.console).toEqual([]);

    await room.reopen({ LANG: 'de_DE.UTF-8' });
    for (let turn = turns / 2 + 1; turn <= turns; turn++) await talk(room, turn);
    await checkHeader(room, turns);
    await checkPanels(room);
    expect(room.desktop.console).toEqual([]);
  } finally {
    await room.close();
  }
});

/**
 * Alternates prose, lists, code and tables; each message is sent with Enter as soon as the previous answer is complete.
 * It is pasted, because the driver types key by key.
 */
async function talk({ desktop: { page }, provider }: Room, turn: number): Promise<void> {
  provider.answer(question(turn - 1), essay(turn - 1), { inputTokens: 180 + 118 * turn });
  const field = await page.run<Record<string, string>>(`const field = document.querySelector(arguments[0]);
    field.focus();
    document.execCommand('insertText', false, arguments[1]);
    return field`, composer, question(turn - 1));
  await page.typeInto(field, '\uE007');
  await page.awaitChange(`return document.querySelector('article[aria-label^="Turn ' + arguments[0] + ',"]')?.textContent.includes(arguments[1])`,
    turn, `all there is to say about step ${turn}.`);
}

/** The header and the command line must show the same numbers. */
async function checkHeader({ desktop, home }: Room, last: number): Promise<void> {
  await until('every turn is in the head', async () => (await field(desktop, 'head')).includes(`#${last} `));
  await until('the newest turn is done', async () => (await field(desktop, 'phase')).startsWith(`Turn #${last} Done `));
  expect(await field(desktop, 'pending')).toMatch(/^Pending None /);
  const bytes = Buffer.byteLength(essay(last - 1));
  expect(await streamed(desktop)).toMatchObject({ durable: bytes, displayed: bytes });

  const session = await desktop.page.run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
  const [branch] = (JSON.parse(verb(home, 'branches', '--json', session)) as { branches: { head_turn_seq: number; head_state: string }[] }).branches;
  expect(branch?.head_turn_seq).toBe(last);
  expect(await field(desktop, 'head')).toContain(branch?.head_state.slice(-4));
}

/** What each tab must show after that many turns. */
async function checkPanels({ desktop }: Room): Promise<void> {
  const { page } = desktop;
  const expected: [string, RegExp][] = [
    ['Branches', new RegExp(`#1 to #${turns} `)],
    ['Pending', /Nothing pending/],
    ['Memory', /\b\d{2,3} memories in all sessions, index up to date/],
    ['X-ray', /[\d ]+ tokens of [\d ]+ working set, \d+ % /],
    ['State', new RegExp(`Head #${turns} `)],
    ['Activity', new RegExp(`0 running, 0 waiting, 0 failed.*#${turns} [\\d ]+`)],
  ];
  for (const [tab, words] of expected) {
    await page.press(tab, '[role="tablist"]');
    const shown = async () => plain(await page.text('[role="tabpanel"]'));
    await until(`the tab ${tab} shows ${words}`, async () => words.test(await shown()));
    expect(await shown(), tab).not.toMatch(/\bNaN\b|\bundefined\b|\[object|Invalid Date|\bnull\b/);
  }
  const tokens = /([\d.]+)k/.exec(await field(desktop, 'context'))?.[1]; // as the X-ray counts them
  await page.press('X-ray');
  await until('the X-ray and the header count the same', async () => {
    const exact = /([\d ]+) tokens of/.exec(plain(await page.text('[role="tabpanel"]')))?.[1]?.replace(/\s/g, '');
    return exact !== undefined && (Number(exact) / 1000).toFixed(1).replace(/\.0$/, '') === tokens;
  });
}
