import { expect, test } from '../harness/fixtures.ts';
import { Conversation, plain, prose } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

test('a temporary chat is sent to the provider with its history, and saved in no file', async ({ home, provider, launch, page }) => {
  const secret = 'heliotrope';
  const answer = prose(60, 'the quince letter');
  provider.answer(`What is a ${secret}?`, answer, { chunkSize: 16, holdAfter: 20 });
  provider.answer('And what else?', 'Also a stone.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await page.keyboard.press('Control+Shift+N');
  await expect(page.getByRole('heading', { level: 1, name: 'Temporary chat' })).toBeVisible();

  await chat.composer.fill(`What is a ${secret}?`);
  await chat.composer.press('Enter');
  await chat.waitForText(1, 60);
  await expect(chat.header).toContainText('not kept');
  expect(home.filesContaining(secret)).toEqual([]); // while it streams
  provider.release(`What is a ${secret}?`);
  await chat.expectAnswer(1, answer);
  await expect(chat.stop).toBeHidden();

  await chat.composer.fill('And what else?');
  await chat.composer.press('Enter');
  await expect(chat.answer(2)).toContainText('Also a stone.');
  await expect(chat.turn(2)).toContainText('Answered, not kept');
  expect(JSON.stringify(provider.lastRequest())).toContain(secret); // the request contains the earlier messages
  await expect(page.getByRole('navigation', { name: /sessions/i }).getByText(secret)).toHaveCount(0);

  await page.keyboard.press('Control+n');
  await expect(page.getByRole('dialog')).toContainText('Its 2 turns were never saved and are lost.');
  await page.getByRole('button', { name: 'Discard chat' }).click();
  await chat.ready();
  await expect(page.getByRole('article')).toHaveCount(0);

  await program.stop();
  expect(home.filesContaining(secret)).toEqual([]);
  expect(home.filesContaining('quince')).toEqual([]);
  expect(program.output).not.toContain(secret);
});

test('a temporary chat keeps the received part when it is stopped, and can send a refused message again', async ({ home, provider, launch, page }) => {
  const answer = prose(60);
  provider.answer('Tell me', answer, { chunkSize: 16, holdAfter: 20 });
  provider.refuse('Be refused', 400, 'No such thing');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await page.getByRole('button', { name: /^Temporary chat/ }).click();
  await chat.composer.fill('Tell me');
  await chat.composer.press('Enter');
  await chat.waitForText(1, 60);
  await page.keyboard.press('Escape');
  await expect(chat.turn(1)).toContainText('Ended early, not kept');
  expect(plain(answer).startsWith(await chat.text(1))).toBe(true);

  await chat.composer.fill('Be refused');
  await chat.composer.press('Enter');
  await expect(chat.turn(2)).toContainText('No answer.');
  await chat.turn(2).getByRole('button', { name: 'Send again' }).click();
  await expect(chat.turn(3)).toContainText('Be refused');
  await expect(chat.turn(3)).toContainText('No answer.');
  expect(home.journals().size).toBe(0);
});
