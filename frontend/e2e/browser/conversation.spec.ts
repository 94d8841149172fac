import { expect, test } from '../harness/fixtures.ts';
import { variants } from '../harness/tier.ts';
import { Conversation, plain, prose } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

test('a sent message: the answer grows while it arrives, and the turn is committed', async ({ provider, launch, page }) => {
  const text = prose(60);
  provider.answer('Tell me all', text, { chunkSize: 20, holdAfter: 30 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me all');

  const shown = await chat.waitForText(1, 400);
  await expect(chat.stop).toBeVisible();
  expect(shown.length).toBeLessThan(plain(text).length);
  expect(plain(text).startsWith(shown)).toBe(true);
  provider.release('Tell me all');

  await chat.expectAnswer(1, text);
  await expect(chat.stop).toBeHidden();
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await expect(chat.header.locator('[data-field="status"]')).toHaveText(/Saved/);
  expect(provider.questions()).toHaveLength(1);
});

test('a long answer ends in view', async ({ provider, launch, page }) => {
  const text = prose(120);
  provider.answer('Tell me at length', text);
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Tell me at length', text);
  await expect(page.getByText('Sentence 120 of the answer is here.')).toBeInViewport();
});

test('text typed before the conversation is open is kept', async ({ provider, launch, page }) => {
  provider.answer('Quick fingers', 'Nothing is lost.');
  await launch();
  await page.reload();
  const chat = new Conversation(page);
  await chat.composer.fill('Quick fingers');
  await chat.ready();
  await expect(chat.composer).toHaveValue('Quick fingers');
});

for (const [model, protocol] of variants(['mock-messages', 'Messages'], ['mock-chat', 'Chat Completions'])) {
  test(`a conversation over ${protocol}`, async ({ home, provider, launch, page }) => {
    home.configure(provider, '', model);
    provider.answer('First of two', 'The first answer, in words.');
    provider.answer('Second of two', 'The second answer, in other words.');
    await launch();
    const chat = new Conversation(page);
    await chat.askAndWait(1, 'First of two', 'The first answer, in words.');
    await chat.askAndWait(2, 'Second of two', 'The second answer, in other words.');
    await expect(chat.header).toContainText(model);
  });
}

test('stop: the shown text stays, marked as stopped, and the next message is sent', async ({ home, provider, launch, page }) => {
  const text = prose(200);
  provider.answer('Go on for ever', text, { chunkSize: 15, holdAfter: 30 });
  provider.answer('And now?', 'Now something short.');
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Go on for ever');
  const shown = await chat.waitForText(1, 100);
  await page.keyboard.press('Escape');

  await expect(chat.stop).toBeHidden();
  await expect(chat.turn(1)).toContainText(/stopped/i);
  const kept = await chat.text(1);
  expect(kept.startsWith(shown)).toBe(true);
  expect(plain(text).startsWith(kept)).toBe(true);
  expect(kept.length).toBeLessThan(plain(text).length);
  await chat.askAndWait(2, 'And now?', 'Now something short.');
  expect(home.journals().size).toBeLessThanOrEqual(2);
});

test('a failed answer: the provider’s message is shown, the question is kept, and a retry works', async ({ provider, launch, page }) => {
  provider.refuse('Will this work?', 400, 'The model is overloaded');
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Will this work?');

  await expect(chat.turn(1)).toContainText('The model is overloaded');
  await expect(chat.turn(1)).toContainText('Will this work?');
  await expect(chat.stop).toBeHidden();
  provider.answer('Will this work?', 'This time it does.');
  await chat.turn(1).getByRole('button', { name: /^Retry/ }).first().click();
  await expect(chat.answer(2)).toContainText('This time it does.'); // the inspector has it too, in the state
});

test('a dropped connection: the received part stays, incomplete, and can be discarded', async ({ provider, launch, page }) => {
  const text = prose(40);
  provider.answer('Half of it', text, { chunkSize: 20, dropAfter: 16 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Half of it');

  await expect(chat.turn(1)).toHaveAccessibleName(/incomplete/i);
  const part = await chat.text(1);
  expect(part.length).toBeGreaterThan(60);
  expect(plain(text).startsWith(part)).toBe(true);
  await chat.turn(1).getByRole('button', { name: /^Discard/ }).first().click();
  await expect(chat.turn(1)).not.toHaveAccessibleName(/incomplete/i);
});

test('messages sent while an answer streams are queued, and sent in the order of the queue', async ({ provider, launch, page }) => {
  provider.answer('Long one', prose(60), { chunkSize: 20, holdAfter: 20 });
  provider.answer('Short one', 'Here it is.');
  provider.answer('Another one', 'And here.');
  provider.answer('Not this one', 'Never.');
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Long one');
  await chat.waitForText(1, 60);
  for (const text of ['Another one', 'Not this one', 'Short one']) {
    await chat.ask(text);
    await expect(chat.composer).toHaveValue('');
  }
  const queue = page.getByRole('region', { name: 'Queued messages' });
  await expect(queue.getByRole('listitem')).toHaveText([/Another one/, /Not this one/, /Short one/]);
  await queue.getByRole('button', { name: /^Delete/ }).nth(1).click();
  await expect(queue.getByRole('listitem')).toHaveCount(2);
  await queue.getByRole('button', { name: /^Move up/ }).nth(1).press('Alt+ArrowUp');
  await expect(queue.getByRole('listitem')).toHaveText([/Short one/, /Another one/]);
  await page.reload();
  await expect(queue.getByRole('listitem')).toHaveText([/Short one/, /Another one/]);
  provider.release('Long one');
  await expect(chat.answer(2)).toContainText('Here it is.');
  await expect(chat.answer(3)).toContainText('And here.');
  await expect(queue).toBeHidden();
  await chat.expectAnswer(1, prose(60));
});

test('hostile Markdown is shown as text: no script runs and nothing is loaded', async ({ provider, launch, page }) => {
  const text =
    'Look: <img src="https://example.com/x.png" onerror="window.harmed=true"> <script>window.harmed=true</script>\n\n' +
    '[a link](javascript:window.harmed=true) ![remote](https://example.com/y.png)\n\nThe end of it.';
  provider.answer('Harm me', text);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Harm me', 'The end of it.');
  expect(await page.evaluate(() => (window as { harmed?: boolean }).harmed)).toBeUndefined();
  expect(requests.filter((url) => url.includes('example.com'))).toEqual([]);
  expect(await chat.turn(1).locator('a[href^="javascript"], script, img[src^="http"]').count()).toBe(0);
});
