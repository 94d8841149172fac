import type { Locator } from '@playwright/test';
import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

const wide = `| ${Array.from({ length: 12 }, (_, i) => `Column number ${i}`).join(' | ')} |
|${' --- |'.repeat(12)}
| ${Array.from({ length: 12 }, (_, i) => `value ${i}`).join(' | ')} |`;

test('a table is copied as Markdown and CSV, and a wide one uses the width of the conversation', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', `| A | B |\n| --- | --- |\n| **one** | two, three |\n\n${wide}\n\nThe end of it.`, { chunkSize: 40 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await page.keyboard.press('Control+i'); // without the inspector there is room beside the text
  await chat.askAndWait(1, 'Tables', 'The end of it.');
  const [small, large] = await chat.answer(1).locator('.table').all();

  await small!.hover();
  await small!.getByRole('button', { name: 'Copy the table as Markdown' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('| A | B |\n| --- | --- |\n| **one** | two, three |');
  await small!.getByRole('button', { name: 'Copy the table as CSV' }).press('Enter');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('A,B\r\none,"two, three"\r\n');
  await inspect(page, 'an answer with tables');

  const widthOf = async (locator: Locator) => (await locator.boundingBox())!;
  const [text, narrow, broad, log] = await Promise.all([widthOf(chat.answer(1).locator('p').last()), widthOf(small!.locator('.data-scroll')), widthOf(large!.locator('.data-scroll')), widthOf(page.getByRole('log'))]);
  expect(narrow.width).toBe(text.width);
  expect(broad.width).toBeGreaterThan(text.width + 100);
  expect(broad.x).toBeGreaterThanOrEqual(log.x);
  expect(broad.x + broad.width).toBeLessThanOrEqual(log.x + log.width);
});
