import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('a selection of the answer is quoted in the message, by its button and by a key', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'The first sentence. The second sentence.', { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await chat.askAndWait(1, 'Say two sentences', 'The second sentence.');
  await chat.composer.fill('Why this?');

  const text = chat.answer(1).locator('p').first();
  const box = (await text.boundingBox())!;
  await page.mouse.move(box.x + 1, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 4 });
  const button = page.getByRole('button', { name: 'Quote', exact: true });
  await expect(button).toBeHidden(); // not while the pointer selects
  await page.mouse.up();
  await expect(button).toBeVisible();
  await inspect(page, 'the button at a selection');
  await button.click();
  await expect(chat.composer).toHaveValue('Why this?\n\n> The first sentence. The second sentence.\n\n');
  await expect(chat.composer).toBeFocused();
  await page.keyboard.press('Control+z');
  await expect(chat.composer).toHaveValue('Why this?');

  await chat.composer.fill('');
  await text.click({ clickCount: 3 });
  await page.keyboard.press('Alt+q');
  await expect(chat.composer).toHaveValue('> The first sentence. The second sentence.\n\n');
});
