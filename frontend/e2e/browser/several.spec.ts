import { inspect } from '../harness/axe.ts';
import { cli, expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('several sessions are selected, archived with undo, and deleted after one confirmation', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'Noted.', { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  for (const question of ['Apples', 'Pears', 'Plums', 'Figs']) {
    await chat.askAndWait(1, question, 'Noted.');
    await page.keyboard.press('Control+n');
    await expect(chat.turn(1)).toBeHidden();
  }
  const list = page.getByRole('group', { name: 'Sessions', exact: true });
  const row = (title: string) => list.locator('[data-session]').filter({ hasText: title });
  await row('Apples').click({ modifiers: ['Control'] });
  await row('Pears').click({ modifiers: ['Control'] });
  const bar = page.getByRole('toolbar', { name: 'Selected sessions' });
  await expect(bar).toContainText('2 sessions selected');
  await bar.getByRole('button', { name: 'Archive (Delete)' }).click();
  await expect(row('Apples')).toBeHidden();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row('Apples')).toBeVisible();

  await row('Plums').click({ modifiers: ['Control'] });
  await row('Apples').click({ modifiers: ['Shift'] }); // Plums, Pears, Apples
  await expect(bar).toContainText('3 sessions selected');
  await bar.getByRole('button', { name: /^Delete permanently/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 3 sessions permanently' });
  await expect(dialog.getByRole('textbox')).toBeFocused();
  await inspect(page, 'deleting several sessions');
  await page.keyboard.type('delete');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  for (const title of ['Apples', 'Pears', 'Plums']) await expect(row(title)).toBeHidden();
  await expect(row('Figs')).toBeVisible();
  expect(cli(home, 'sessions', '--json')).not.toContain('Pears');
});
