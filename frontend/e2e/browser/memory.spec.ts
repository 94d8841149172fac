import { expect, test } from '../harness/fixtures.ts';
import { Conversation, prose } from './conversation.ts';

const question = 'The harbour crane is called Bertha. Remember that.';

test('an earlier message is found in Memory, opened, attached, and shown in the X-ray with its reason', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer(question, 'Noted: the crane is Bertha.');
  provider.answer('Tell me about tulips.', `${prose(60, 'the tulips')} The end of tulips.`);
  provider.answer('What did I say?', 'You named a crane.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, question, 'Noted: the crane is Bertha.');
  await chat.askAndWait(2, 'Tell me about tulips.', 'The end of tulips.');
  await expect(chat.turn(2)).toHaveAccessibleName(/, saved/);

  await page.getByRole('tab', { name: 'Memory' }).click();
  const list = page.getByRole('list', { name: 'Memories' });
  await expect(list.getByRole('button', { name: /Bertha.*#1\b/ }).first()).toBeVisible();
  await expect(page.getByText(/memor(y|ies) in all sessions, index up to date/)).toBeVisible();

  await page.getByRole('searchbox', { name: 'Search memory' }).fill('harbour crane');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: /results?$/ })).toBeVisible();
  const first = list.getByRole('listitem').first();
  await expect(first).toContainText('Bertha');
  await expect(first).toContainText(/Match\s*100/);
  await expect(first).toHaveText(/^\s*The harbour crane is called Bertha/);
  await expect(first.locator('mark').first()).toHaveText(/harbour/i);
  await page.getByRole('searchbox', { name: 'Search memory' }).press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(first.getByRole('group', { name: 'Full text' })).toContainText(question);
  await expect(first).toContainText('Matched: harbour, crane');
  await expect(first).toContainText('built-in (sentence encoder, English)');

  await first.getByRole('button', { name: 'Go to #1' }).click();
  await expect(chat.turn(1)).toBeInViewport();
  await first.getByRole('button', { name: /^Attach turn 1/ }).click();
  await expect(first.getByRole('button', { name: /^Attached/ })).toBeDisabled();
  await expect(chat.composer).toBeFocused();
  await expect(page.getByRole('button', { name: /^Remove the memory of/ })).toBeVisible();

  await chat.askAndWait(3, 'What did I say?', 'You named a crane.');
  expect(JSON.stringify(provider.lastRequest())).toContain(question);
  await expect(page.getByRole('button', { name: /^Remove the memory of/ })).toBeHidden();
  await chat.turn(3).getByRole('button', { name: /memor(y|ies)$/ }).click();
  await expect(page.getByRole('tab', { name: 'X-ray' })).toHaveAttribute('aria-selected', 'true');
  const panel = page.getByRole('tabpanel', { name: 'X-ray' });
  await panel.getByRole('button', { name: /^Turn 1\b|Bertha/ }).first().click();
  await expect(panel.getByRole('note', { name: 'Why is this here?' }).first()).toContainText(/attached/i);
});
