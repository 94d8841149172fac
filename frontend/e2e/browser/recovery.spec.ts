import { cli, expect, test } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { exhaustive, variants } from '../harness/tier.ts';
import { Conversation, plain, prose } from './conversation.ts';
import { byteCounts, crashDuringAnswer, exitAt, head, journalFile, Recovery } from './recovery.ts';

/** What the window shows for each state that the program can find at startup, and what each button does (SPEC 11). */

test.use({ isOnDisk: true });
test.beforeEach(({ home, provider }) => home.configure(provider));

/** Activates a button with the mouse or with the keyboard. */
type Activate = (button: import('@playwright/test').Locator) => Promise<void>;
const inputs = variants<[string, Activate]>(
  ['the mouse', (button) => button.click()],
  ['the keyboard', async (button) => {
    await button.focus();
    await button.press('Enter');
  }],
);

test('the notice is shown once, until it is dismissed, and the report remains available under Activity', async ({ home, provider, launch, page }) => {
  await crashDuringAnswer(launch, page, provider, async () => {
    await page.keyboard.press('Control+n'); // in the session of the answer, its card says the same
    await expect(page.getByRole('article')).toHaveCount(0);
  });
  const bytes = Buffer.byteLength([...home.journals().values()][0]!.text);
  await launch();
  const chat = new Conversation(page);
  const recovery = new Recovery(page);
  await expect(recovery.notice).toContainText('unfinished answer');
  await recovery.notice.getByRole('button', { name: 'Dismiss' }).press('Enter');
  await expect(recovery.notice).toBeHidden();
  await expect(chat.composer).toBeFocused();

  const report = await recovery.open();
  await expect(report).toContainText(`${bytes} bytes of an unfinished answer were recovered`);
  await report.getByRole('button', { name: /^Decide/ }).press('Enter');
  await expect(chat.turn(1)).toBeFocused();

  await page.reload();
  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/i);
  await recovery.open();
  await expect(recovery.notice).toBeHidden(); // not shown again: the page was reloaded, but the program was not restarted
});

test('the notice links to the report under Activity, and the report to turns of any session', async ({ provider, launch, page }) => {
  provider.answer('Tell me first', prose(100), { chunkSize: 15, holdAfter: 40 });
  provider.answer('Tell me second', prose(100), { chunkSize: 15, holdAfter: 40 });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me first');
  await chat.waitForText(1, 150);
  await page.keyboard.press('Control+n');
  await expect(page.getByRole('article')).toHaveCount(0);
  await chat.ask('Tell me second');
  await chat.waitForText(1, 150);
  await program.crash();

  await launch();
  const recovery = new Recovery(page);
  await expect(recovery.notice).toContainText('2 problems were found and handled');
  await recovery.notice.getByRole('button', { name: 'Show' }).click();
  await expect(recovery.report).toBeVisible();
  await expect(page.getByRole('tab', { name: /^Activity/ })).toBeFocused();
  await expect(recovery.notice).toBeHidden();
  for (const title of ['Tell me first', 'Tell me second']) {
    await recovery.report.getByRole('button', { name: new RegExp(`^Decide turn 1 of ${title}`) }).click();
    await expect(chat.turn(1)).toContainText(title);
    await expect(chat.turn(1)).toBeFocused();
  }
});

for (const [input, activate] of inputs) {
  test(`an incomplete answer is retried, with ${input}`, async ({ provider, launch, page }) => {
    await crashDuringAnswer(launch, page, provider);
    provider.answer('Tell me', 'Told on the second try.');
    await launch();
    const chat = new Conversation(page);
    const recovery = new Recovery(page);
    await recovery.open();
    await expect(chat.turn(1)).toContainText('Incomplete answer');
    await expect(recovery.notice, 'its card says the same').toBeHidden();
    await activate(chat.turn(1).getByRole('button', { name: 'Retry' }));
    await chat.expectAnswer(1, 'Told on the second try.');
    await expect(chat.turn(1)).toHaveAccessibleName(/saved, latest/);
    await expect(chat.turn(1)).toContainText('2 attempts');
    await expect(chat.composer).toBeFocused();
    await expect(page.getByRole('article', { name: /^Turn/ })).toHaveCount(1);
  });

  test(`an incomplete answer is continued, with ${input}`, exhaustive, async ({ home, provider, launch, page }) => {
    await crashDuringAnswer(launch, page, provider);
    const partialText = [...home.journals().values()][0]!.text;
    provider.answer('without any introduction.', ' And that is all.');
    await launch();
    const chat = new Conversation(page);
    await activate(chat.turn(1).getByRole('button', { name: 'Continue' }));
    await chat.expectAnswer(1, `${partialText} And that is all.`);
    await expect(chat.turn(1)).toHaveAccessibleName(/saved, latest/);
    await expect(chat.composer).toBeFocused();
  });

  test(`an incomplete answer is kept, with ${input}`, exhaustive, async ({ home, provider, launch, page }) => {
    await crashDuringAnswer(launch, page, provider);
    const partialText = [...home.journals().values()][0]!.text;
    provider.answer('And then?', 'Then nothing.');
    await launch();
    const chat = new Conversation(page);
    await activate(chat.turn(1).getByRole('button', { name: 'Keep' }));
    await expect(chat.turn(1)).toContainText('Partial answer, kept');
    await chat.expectAnswer(1, partialText);
    await expect(chat.composer).toBeFocused();
    await page.keyboard.type('And then?');
    await expect(chat.send).toBeEnabled();
    await page.keyboard.press('Enter');
    await chat.expectAnswer(2, 'Then nothing.');
    expect(provider.questions()).toHaveLength(2);
  });

  test(`an incomplete answer is discarded, with ${input}`, exhaustive, async ({ home, provider, launch, page }) => {
    await crashDuringAnswer(launch, page, provider);
    const partialText = [...home.journals().values()][0]!.text;
    provider.answer('Something else', 'Something else it is.');
    await launch();
    const chat = new Conversation(page);
    await chat.ready();
    const headBefore = await head(chat);
    await activate(chat.turn(1).getByRole('button', { name: 'Discard' }));
    await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, discarded');
    await chat.expectAnswer(1, partialText); // no longer part of the conversation, but still visible
    await expect.poll(() => head(chat)).toBe(headBefore);
    await expect(chat.composer).toBeFocused();
    await chat.askAndWait(2, 'Something else', 'Something else it is.');
    expect(JSON.stringify(provider.lastRequest())).not.toContain('Sentence 1 of');
  });

  test(`a question without any answer is sent again, with ${input}`, async ({ provider, launch, page }) => {
    provider.answer('Tell me', prose(10), { holdAfter: 0 });
    const program = await launch();
    const chat = new Conversation(page);
    await chat.ask('Tell me');
    await until('the request is sent', () => provider.questions().length === 1);
    await expect(chat.turn(1)).toHaveAccessibleName(/responding/);
    await program.crash();

    provider.answer('Tell me', 'Told now.');
    await launch();
    await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, failed');
    await expect(chat.turn(1)).toContainText('The program ended before an answer arrived. Your message is saved.');
    const report = await new Recovery(page).open();
    await expect(report).toContainText('Nothing had arrived. The message is saved.');
    expect(provider.questions()).toHaveLength(1); // nothing is sent automatically
    await activate(chat.turn(1).getByRole('button', { name: 'Retry' }));
    await chat.expectAnswer(2, 'Told now.');
    await expect(chat.composer).toBeFocused();
  });

  test(`an unsent message is sent, with ${input}`, exhaustive, async ({ provider, launch, page }) => {
    provider.answer('Tell me', 'Told now.');
    await exitAt(launch, page, 'turn.prepared');
    expect(provider.questions()).toEqual([]);

    await launch();
    const chat = new Conversation(page);
    await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, unsent');
    await expect(chat.turn(1)).toContainText('Your message is saved');
    const report = await new Recovery(page).open();
    await expect(report).toContainText('The message was saved but not sent');
    expect(provider.questions()).toEqual([]);
    await activate(chat.turn(1).getByRole('button', { name: 'Send', exact: true }));
    await chat.expectAnswer(1, 'Told now.');
    await expect(chat.composer).toBeFocused();
    expect(provider.questions()).toEqual(['Tell me']);
  });

  test(`an unsent message is discarded, with ${input}`, async ({ provider, launch, page }) => {
    await exitAt(launch, page, 'turn.prepared');
    provider.answer('Another', 'Another answer.');
    await launch();
    const chat = new Conversation(page);
    await activate(chat.turn(1).getByRole('button', { name: 'Discard' }));
    await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, discarded');
    await expect(chat.turn(1)).toContainText('Tell me');
    await expect(chat.composer).toBeFocused();
    await chat.askAndWait(2, 'Another', 'Another answer.');
    expect(provider.questions()).toEqual(['Another']);
  });
}

test('an answer that was complete before the crash becomes final without asking the user', async ({ home, provider, launch, page }) => {
  const text = prose(12, 'Grüße, 世界 👋');
  provider.answer('Tell me', text);
  await exitAt(launch, page, 'turn.journal_sealed');
  await launch();
  const chat = new Conversation(page);
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, saved, latest');
  await chat.expectAnswer(1, text);
  const { durable, displayed, text: fieldText } = await byteCounts(chat);
  expect([durable, displayed]).toEqual([Buffer.byteLength(text), Buffer.byteLength(text)]);
  expect(fieldText).toContain('durable');
  const report = await new Recovery(page).open();
  await expect(report).toContainText('The whole answer had arrived; it is now final.');
  await report.getByRole('button', { name: /^Show turn 1/ }).click();
  await expect(chat.turn(1)).toBeFocused();
  expect(provider.questions()).toHaveLength(1);
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('SRD 22.3: after a kill between the answer and its commit, the turn is committed once, by its job', exhaustive, async ({ home, provider, launch, page }) => {
  // The answer to the librarian, which writes the state, is held while the program is killed. The librarian's
  // timeout is long enough not to expire during the test.
  home.configure(provider, '[librarian]\nmodel = "mock"\ntimeout_s = 600');
  const librarianPrompt = 'Write the updated memory.';
  provider.answer(librarianPrompt, 'never read', { holdAfter: 0 });
  provider.answer('Tell me', 'A whole answer.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Tell me', 'A whole answer.');
  await until('the librarian sends its request', () => provider.questions().some((question) => question.trimEnd().endsWith(librarianPrompt)));
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, pending');
  const headBefore = await head(chat);
  await program.crash();

  provider.answer(librarianPrompt, 'never read', { holdAfter: 0 });
  await launch();
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, pending');
  await chat.expectAnswer(1, 'A whole answer.');
  await expect.poll(() => head(chat)).toBe(headBefore);
  const report = await new Recovery(page).open();
  await expect(report).toContainText(/queued again/);
  provider.release(librarianPrompt);
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, saved, latest');
  await expect.poll(() => head(chat)).toMatch(/#1/); // the header is updated after the turn
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a damaged last line of a journal is dropped, and reported', exhaustive, async ({ home, provider, launch, page }) => {
  await crashDuringAnswer(launch, page, provider);
  const partialText = [...home.journals().values()][0]!.text;
  journalFile(home).append('{"ts":"2026-01-01T00:00:00Z","provider":"openai","event_ty');
  await launch();
  const chat = new Conversation(page);
  await chat.expectAnswer(1, partialText);
  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/);
  const report = await new Recovery(page).open();
  await expect(report).toContainText('The last line of the journal was torn and is not used');
});

test('the part before an unreadable line of a journal is used, and the rest is reported as saved separately', async ({ home, provider, launch, page }) => {
  const shown = await crashDuringAnswer(launch, page, provider);
  journalFile(home).corruptLine(20);
  await launch();
  const chat = new Conversation(page);
  const text = await chat.waitForText(1, 20);
  expect(shown.startsWith(plain(text))).toBe(true);
  expect(text.length).toBeLessThan(shown.length);
  const report = await new Recovery(page).open();
  await expect(report).toContainText('unreadable from line 20 on');
});
