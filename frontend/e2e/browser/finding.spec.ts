import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('the search above the sessions finds messages at once, and a passage opens at its place', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'The quick answer is a heliotrope.', { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await chat.askAndWait(1, 'Which flower turns?', 'a heliotrope.');
  await page.keyboard.press('Control+n');
  await expect(chat.turn(1)).toBeHidden();
  await chat.askAndWait(1, 'Another garden', 'a heliotrope.');

  const field = page.getByRole('textbox', { name: 'Search sessions and messages' });
  await field.fill('flower tu');
  const list = page.getByRole('group', { name: 'Sessions', exact: true });
  await expect(list.getByRole('heading', { name: 'In messages' })).toBeVisible();
  const passage = list.locator('button.passage');
  await expect(passage).toHaveCount(1);
  await expect(passage.locator('mark').first()).toHaveText('flower');
  await inspect(page, 'the list of sessions with passages');

  // By keyboard: from the field into the list, to its end, and open.
  await field.press('ArrowDown');
  await page.keyboard.press('End');
  await expect(passage).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(chat.turn(1)).toContainText('Which flower turns?');
  await field.fill('heliotrope');
  await expect(passage).toHaveCount(2);
  await passage.filter({ hasText: 'Another garden' }).first().click();
  await expect(chat.turn(1)).toContainText('Another garden');
  await field.fill('nothing like it');
  await expect(page.getByText('Nothing found for “nothing like it”')).toBeVisible();
});
