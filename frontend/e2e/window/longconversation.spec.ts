import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { essay, question } from '../harness/seed.ts';
import { runsAll } from '../harness/tier.ts';
import { plain } from '../browser/conversation.ts';
import { byteCounts, composer, field, tooltip } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const turns = runsAll ? 70 : 16;

test(`a conversation of ${turns} turns, in two locales, writes nothing to the console`, async () => {
  const env = await WindowEnv.open({ LANG: 'C' });
  try {
    for (let turn = 1; turn <= turns / 2; turn++) await sendTurn(env, turn);
    await checkHeader(env, turns / 2);
    expect(env.desktop.console).toEqual([]);

    await env.reopen({ LANG: 'de_DE.UTF-8' });
    for (let turn = turns / 2 + 1; turn <= turns; turn++) await sendTurn(env, turn);
    await checkHeader(env, turns);
    await checkPanels(env);
    expect(env.desktop.console).toEqual([]);
  } finally {
    await env.close();
  }
});

/**
 * Sends a message with Enter and waits for its answer, which alternates between prose, lists, code and tables. The text
 * is inserted at once, because the driver types key by key.
 */
async function sendTurn({ desktop: { page }, provider }: WindowEnv, turn: number): Promise<void> {
  provider.answer(question(turn - 1), essay(turn - 1), { inputTokens: 180 + 118 * turn });
  const field = await page.run<Record<string, string>>(`const field = document.querySelector(arguments[0]);
    field.focus();
    document.execCommand('insertText', false, arguments[1]);
    return field`, composer, question(turn - 1));
  await page.typeInto(field, '\uE007');
  await page.awaitChange(`return document.querySelector('article[aria-label^="Turn ' + arguments[0] + ',"]')?.textContent.includes(arguments[1])`,
    turn, `all there is to say about step ${turn}.`);
}

/** Checks that the header and the command line show the same numbers. */
async function checkHeader({ desktop, home }: WindowEnv, lastTurn: number): Promise<void> {
  await until('every turn is in the head', async () => (await field(desktop, 'Head')).includes(`#${lastTurn} `));
  await until('the newest turn is done', async () => (await field(desktop, 'Turn'))=== `Turn: #${lastTurn} Done`);
  expect(await field(desktop, 'Pending')).toMatch(/^Pending: None/);
  const bytes = Buffer.byteLength(essay(lastTurn - 1));
  expect(await byteCounts(desktop)).toMatchObject({ durable: bytes, displayed: bytes });

  const session = await desktop.page.run<string>(`return document.querySelector('[data-session][aria-current]').dataset.session`);
  const [branch] = (JSON.parse(cli(home, 'branches', '--json', session)) as { branches: { head_turn_seq: number; head_state: string }[] }).branches;
  expect(branch?.head_turn_seq).toBe(lastTurn);
  expect(await field(desktop, 'Head')).toContain(branch?.head_state.slice(-4));
}

/** Checks what each tab shows after all turns. */
async function checkPanels({ desktop }: WindowEnv): Promise<void> {
  const { page } = desktop;
  const expected: [string, RegExp][] = [
    ['Branches', new RegExp(`#1 to #${turns} `)],
    ['Memory', /\b\d{2,3} memories in all sessions, index up to date/],
    ['X-ray', /[\d ]+ tokens of [\d ]+ working set, \d+ % /],
    ['State', new RegExp(`Head #${turns} .*Nothing pending`, 's')],
    ['Activity', new RegExp(`0 running, 0 waiting, 0 failed.*#${turns} [\\d ]+`)],
  ];
  for (const [tab, pattern] of expected) {
    await page.press(tab, '[role="tablist"]');
    const panelText = async () => plain(await page.text('[role="tabpanel"]'));
    await until(`the tab ${tab} shows ${pattern}`, async () => pattern.test(await panelText()));
    expect(await panelText(), tab).not.toMatch(/\bNaN\b|\bundefined\b|\[object|Invalid Date|\bnull\b/);
  }
  const tokens = /([\d.]+)k/.exec(await tooltip(desktop, 'context'))?.[1];
  await page.press('X-ray');
  await until('the X-ray and the header show the same number of tokens', async () => {
    const exact = /([\d ]+) tokens of/.exec(plain(await page.text('[role="tabpanel"]')))?.[1]?.replace(/\s/g, '');
    return exact !== undefined && (Number(exact) / 1000).toFixed(1).replace(/\.0$/, '') === tokens;
  });
}
