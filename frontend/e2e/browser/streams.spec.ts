import { expect, test } from '../harness/fixtures.ts';
import { Conversation, plain, prose } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

test('two sessions stream at the same time, and each shows its own text', async ({ provider, launch, page }) => {
  const red = prose(70, 'the red story');
  const blue = prose(70, 'the blue story');
  provider.answer('Tell me the red one', red, { chunkSize: 16, holdAfter: 20 });
  provider.answer('Tell me the blue one', blue, { chunkSize: 16, holdAfter: 20 });
  await launch();
  const chat = new Conversation(page);
  const sessions = page.getByRole('navigation', { name: /sessions/i });

  await chat.ask('Tell me the red one');
  await chat.waitForText(1, 60);
  await page.keyboard.press('Control+n');
  await expect(page.getByRole('article')).toHaveCount(0);
  await chat.ask('Tell me the blue one');
  await chat.waitForText(1, 60);
  expect(provider.questions()).toHaveLength(2); // the second one did not wait for the first
  provider.release('Tell me the blue one');
  await chat.expectAnswer(1, blue);

  await sessions.getByText('Tell me the red one').click();
  await expect(chat.turn(1)).toContainText('Tell me the red one');
  const part = await chat.waitForText(1, 60);
  expect(plain(red).startsWith(part)).toBe(true);
  expect(part.length).toBeLessThan(plain(red).length);
  provider.release('Tell me the red one');
  await chat.expectAnswer(1, red);
  await sessions.getByText('Tell me the blue one').click();
  await expect(chat.turn(1)).toContainText('Tell me the blue one');
  await chat.expectAnswer(1, blue);
});

test('after reloading the page during a stream, the stream continues where it was', async ({ provider, launch, page }) => {
  const text = prose(120);
  provider.answer('Tell me', text, { chunkSize: 15, holdAfter: 30 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  const before = await chat.waitForText(1, 150);
  await page.reload();

  const after = await chat.waitForText(1, before.length);
  expect(plain(text).startsWith(after)).toBe(true);
  await expect(chat.stop).toBeVisible();
  provider.release('Tell me');
  await chat.expectAnswer(1, text);
  await expect(chat.stop).toBeHidden();
  expect(provider.questions()).toHaveLength(1);
});

test('scrolling up during a stream stops following it, and a button returns to the end', async ({ provider, launch, page }) => {
  provider.answer('A long first', prose(200));
  provider.answer('A slow second', prose(100, 'the second'), { chunkSize: 15, holdAfter: 20 });
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'A long first', prose(200));
  await chat.ask('A slow second');
  await chat.waitForText(2, 60);

  const earlySentence = chat.answer(1).getByText('Sentence 3 of the answer is here.'); // the inspector may quote it too
  await page.mouse.move(640, 400);
  await expect(async () => {
    await page.mouse.wheel(0, -1500);
    await expect(earlySentence).toBeInViewport({ timeout: 200 });
  }).toPass({ intervals: [0] });
  provider.release('A slow second');
  await expect(chat.stop).toBeHidden();
  await expect(earlySentence).toBeInViewport();
  await page.getByRole('button', { name: /latest/i }).click();
  await expect(chat.turn(2)).toBeInViewport();
});

test('the focus and a screen reader leave the end, and stay there while text arrives', async ({ provider, launch, page }) => {
  const text = `\`\`\`text\nThe listing.\n\`\`\`\n\nThe first paragraph.\n\n${prose(200)}`;
  provider.answer('A slow one', text, { chunkSize: 15, holdAfter: [200, 220] });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A slow one');
  await chat.waitForText(1, 2_800); // more than a window of it

  const button = chat.answer(1).getByRole('button', { name: 'Copy code' });
  const paragraph = chat.answer(1).getByText('The first paragraph.');
  const latest = page.getByRole('button', { name: /latest/i });
  const moves = [
    ['the focus', button, () => chat.tabTo(button, 'Shift+Tab')],
    ['scrolling it into view', paragraph, () => paragraph.evaluate((element) => element.scrollIntoView())],
  ] as const;
  for (const [name, target, move] of moves) {
    await expect(target, 'at the end').not.toBeInViewport();
    await move();
    await expect(target, name).toBeInViewport();
    const { length } = await chat.text(1);
    provider.release('A slow one');
    await chat.waitForText(1, length + 1);
    await expect(target, name).toBeInViewport();
    await latest.click();
    await expect(latest).toBeHidden();
  }
  await expect(chat.stop).toBeHidden();
  await expect(page.getByText('Sentence 200 of the answer is here.')).toBeInViewport();
});
