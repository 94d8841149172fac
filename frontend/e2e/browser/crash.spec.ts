import { cli, expect, test } from '../harness/fixtures.ts';
import type { Home, Journal } from '../harness/home.ts';
import { exhaustive } from '../harness/tier.ts';
import { Conversation, plain, prose } from './conversation.ts';

test.use({ isOnDisk: true });
test.beforeEach(({ home, provider }) => home.configure(provider));

test('after kill -9 while streaming, the text in the journal is shown again, byte for byte', async ({ home, provider, launch, page }) => {
  const text = prose(100, 'Grüße, 世界 👋');
  provider.answer('Tell me', text, { chunkSize: 15, holdAfter: 40 });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  const shown = await chat.waitForText(1, 200);
  await program.crash();

  const journal = onlyJournal(home);
  expect(journal.end).toBe('');
  expect(plain(journal.text).startsWith(shown)).toBe(true); // nothing that was shown is lost
  expect(text.startsWith(journal.text)).toBe(true);

  await launch();
  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/i);
  await chat.expectAnswer(1, journal.text);
  expect(storedAnswer(home)).toBe(journal.text);
  // The window shows the size of the journal, with or without separators in the number.
  const turnText = async () => (await chat.turn(1).innerText()).replace(/(\d)[\u202f\u00a0](?=\d)/g, '$1');
  await expect.poll(turnText).toContain(`${Buffer.byteLength(journal.text)} bytes`);
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('killed twice, recovered twice: nothing is duplicated', exhaustive, async ({ home, provider, launch, page }) => {
  provider.answer('Tell me', prose(100), { chunkSize: 15, holdAfter: 40 });
  const first = await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  await chat.waitForText(1, 150);
  await first.crash();
  const part = onlyJournal(home).text;

  const second = await launch();
  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/i);
  await second.crash();
  await launch();
  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/i);
  await chat.expectAnswer(1, part);
  await expect(page.getByRole('article')).toHaveCount(1);
});

test('after a crash the recovered answer can be kept, and the conversation continues', async ({ home, provider, launch, page }) => {
  provider.answer('Tell me', prose(100), { chunkSize: 15, holdAfter: 40 });
  provider.answer('Go on then', 'On it goes.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  await chat.waitForText(1, 150);
  await program.crash();
  const part = onlyJournal(home).text;

  await launch();
  await chat.turn(1).getByRole('button', { name: /^Keep/ }).click();
  await expect(chat.turn(1)).not.toHaveAccessibleName(/incomplete/i);
  await chat.expectAnswer(1, part);
  await chat.askAndWait(2, 'Go on then', 'On it goes.');
});

test('a crash between answers loses nothing, including the draft', async ({ provider, launch, page }) => {
  provider.answer('First', 'One answer.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'First', 'One answer.');
  await chat.composer.fill('half a thought');
  await expect.poll(() => page.evaluate(savedDraft)).toEqual(['half a thought']);
  await program.crash();

  await launch();
  await expect(chat.answer(1)).toContainText('One answer.');
  await expect(chat.composer).toHaveValue('half a thought');
});

/** The saved draft of the newest session, and the new version of a message that is being edited. */
async function savedDraft(): Promise<string[]> {
  const { Sessions } = (window as unknown as { go: { api: { Sessions: Record<string, (...args: unknown[]) => Promise<any>> } } }).go.api;
  const [session] = await Sessions.List?.(false, '');
  const { text, edit } = await Sessions.Draft?.(session.activeBranch);
  return edit ? [text, edit.text] : [text];
}

function onlyJournal(home: Home): Journal {
  const journals = [...home.journals().values()];
  expect(journals).toHaveLength(1);
  return journals[0] as Journal;
}

/** The first turn's answer in the database, read by the command line. */
function storedAnswer(home: Home): string {
  const sessions = JSON.parse(cli(home, 'sessions', '--json')).sessions;
  const session = JSON.parse(cli(home, 'show', sessions[0].session_id, '--json'));
  return session.turns[0].partial_text;
}

test('after kill -9 while an old message is edited, the edit and the earlier draft are restored', async ({ provider, launch, page }) => {
  provider.answer('The question', 'The answer.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'The question', 'The answer.');
  await chat.composer.fill('a thought of mine');
  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: 'Edit and resend' }).click();
  await expect(chat.composer).toHaveValue('The question');
  await chat.composer.fill('The question, in other words');
  await expect.poll(() => page.evaluate(savedDraft)).toEqual(['a thought of mine', 'The question, in other words']);
  await program.crash();

  await launch();
  await chat.ready();
  await expect(chat.composer).toHaveValue('The question, in other words');
  await chat.composer.press('Escape');
  await expect(chat.composer).toHaveValue('a thought of mine');
});
