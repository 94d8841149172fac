import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

test('fork and switch: two branches from the same turn do not affect each other', async ({ provider, launch, page }) => {
  provider.answer('The common start', 'Where both begin.');
  provider.answer('The first way', 'Down the first way.');
  provider.answer('The other way', 'Down the other way.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'The common start', 'Where both begin.');
  await chat.askAndWait(2, 'The first way', 'Down the first way.');

  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: /^Fork/ }).click();
  await expect(chat.turn(2)).toHaveCount(0);
  await expect(chat.answer(1)).toContainText('Where both begin.');
  // The notice covers neither the inspector nor the message field.
  const notice = (await page.getByRole('region', { name: 'Notices' }).getByRole('group').first().boundingBox())!;
  const inspector = (await page.getByRole('complementary', { name: 'Inspector' }).boundingBox())!;
  const field = (await chat.composer.boundingBox())!;
  expect(notice.x + notice.width).toBeLessThanOrEqual(inspector.x);
  expect(notice.y + notice.height).toBeLessThan(field.y);
  await chat.askAndWait(2, 'The other way', 'Down the other way.');
  await expect(page.getByText('Down the first way.')).toHaveCount(0);

  await switchBranch(page, /^main/);
  await expect(chat.answer(2)).toContainText('Down the first way.');
  await expect(page.getByText('Down the other way.')).toHaveCount(0);
  // A request on one branch contains no text of its sibling.
  provider.answer('What was said?', 'Only this.');
  await chat.askAndWait(3, 'What was said?', 'Only this.');
  const sent = JSON.stringify(provider.lastRequest());
  expect(sent).toContain('Down the first way.');
  expect(sent).not.toContain('Down the other way.');
});

async function switchBranch(page: Page, name: RegExp): Promise<void> {
  await page.keyboard.press('Control+j');
  await page.getByRole('dialog', { name: 'Switch branch' }).getByRole('button', { name }).click();
}
