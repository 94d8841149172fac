import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { runCommand } from '../harness/screens.ts';
import { Conversation } from './conversation.ts';

test.use({ isOnDisk: true });

/** A question and an answer with words that occur nowhere else. */
const question = 'What did quillvane write about the heron?';
const canary = 'The heron of Ostrakine sleeps at noon.';

async function openDataPage(page: Page): Promise<void> {
  await runCommand(page, 'Data and backups: sizes, copies, restore, receipts');
  await expect(page.getByRole('heading', { level: 1, name: 'Data and backups' })).toBeVisible();
}

const bytesOf = (rowLocator: Locator) => rowLocator.evaluateAll((rows) => rows.map((element) => Number((element as HTMLElement).dataset['bytes'])));
const sessions = (page: Page) => page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]');

test('a permanently deleted session is no longer in any file, and leaves only a receipt', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer(question, canary);
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, question, canary);
  await runCommand(page, 'Rename this session');
  await page.getByRole('dialog').getByRole('textbox').fill('Notes on quillvane');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: /Notes on quillvane/ })).toBeAttached();
  expect(home.filesContaining('Ostrakine').length).toBeGreaterThan(0);
  await runCommand(page, 'Duplicate this session');
  await expect(sessions(page).filter({ hasText: 'quillvane' })).toHaveCount(2);
  await expect(page.getByRole('heading', { level: 1, name: /Notes on quillvane.*copy/ })).toBeAttached();

  await runCommand(page, 'Delete this session permanently…');
  const dialog = page.getByRole('dialog', { name: /^Delete “Notes on quillvane.*copy/ });
  await expect(dialog).toContainText(/1 message with its answer/);
  await expect(dialog).toContainText('No backup in the data directory contains it.');
  await expect(dialog.getByRole('list', { name: 'Sessions with the same messages' })).toContainText('quillvane');
  await dialog.getByRole('checkbox', { name: 'Delete the whole copy too' }).check();
  await expect(dialog).toContainText(/2 messages with their answers/);
  const field = dialog.getByLabel('To delete it permanently, type “delete”');
  await field.fill('delet');
  await expect(dialog.getByRole('button', { name: 'Delete permanently' })).toBeDisabled();
  await field.fill('delete');
  await page.keyboard.press('Enter');
  const receipt = page.getByRole('dialog', { name: 'The session was permanently deleted' });
  await expect(receipt).toContainText('Messages and answers');
  await expect(receipt.getByRole('list', { name: 'Copies that were deleted too' })).toContainText('quillvane');
  await receipt.getByRole('button', { name: 'Done' }).click();

  await chat.ready();
  await expect(sessions(page).filter({ hasText: 'quillvane' })).toHaveCount(0);
  await expect(page.getByText('Ostrakine')).toHaveCount(0);
  for (const word of ['Ostrakine', 'quillvane']) expect(home.filesContaining(word)).toEqual([]);
  await openDataPage(page);
  await expect(page.getByRole('list', { name: 'Receipts' })).toContainText('A session was permanently deleted');
});

test('a deleted turn leaves an empty turn with the date of the deletion', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer(question, canary);
  provider.answer('And what else?', 'Nothing else.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, question, canary);
  await chat.askAndWait(2, 'And what else?', 'Nothing else.');
  await runCommand(page, 'Rename this session');
  await page.getByRole('dialog').getByRole('textbox').fill('Birds');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: /Birds/ })).toBeAttached();

  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: 'Delete this turn permanently…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete #1 of “Birds” permanently' });
  await dialog.getByLabel('To delete it permanently, type “delete”').fill('delete');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'The turn was permanently deleted' }).getByRole('button', { name: 'Done' }).click();
  await expect(chat.turn(1)).toContainText(/permanently deleted on \d/);
  await expect(chat.turn(1)).not.toContainText('[erased]');
  await expect(chat.answer(2)).toContainText('Nothing else.');
  expect(home.filesContaining('Ostrakine')).toEqual([]);

  await page.reload();
  await chat.ready();
  await expect(chat.turn(1)).toContainText(/permanently deleted on \d/);
});

test('the sizes add up; a backup is created and verified, and shown before it would be restored', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer(question, canary);
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, question, canary);
  await openDataPage(page);

  const table = page.getByRole('table', { name: 'Size of each part' });
  const parts = await bytesOf(table.locator('tbody tr'));
  expect(parts.length).toBe(5);
  expect(parts[0]).toBeGreaterThan(0);
  expect(await bytesOf(table.locator('tfoot tr'))).toEqual([parts.reduce((sum, part) => sum + part, 0)]);
  await expect(page.getByText(home.dataDir, { exact: true })).toBeVisible();

  await page.getByRole('button', { name: 'Back up now…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Back up', exact: true }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  const backup = page.getByRole('list', { name: 'Backups' }).getByRole('listitem').filter({ hasText: 'Manual' });
  await expect(backup).toHaveCount(1);
  await expect(backup).toContainText(/1 session, 1 turn/);
  await page.getByRole('button', { name: 'Check all' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'read and verified: no problems found.' })).toBeVisible();
  await expect(backup).toContainText('Checked');

  await backup.getByRole('button', { name: /^Restore/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Restore a backup' });
  await expect(dialog.getByRole('row', { name: 'Turns 1 1' })).toBeVisible();
  await expect(dialog).toContainText('The backup was verified: no problems found');
  await dialog.getByLabel('Backup').fill(home.configFile);
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Restore and restart' })).toBeDisabled();
  await page.keyboard.press('Escape');

  // Moving the data to a folder that is not empty is refused with a reason.
  await page.getByRole('button', { name: 'Move…' }).click();
  await page.getByLabel('New folder').fill(home.root);
  await page.keyboard.press('Enter');
  await expect(page.getByText('It cannot be moved there')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Move and restart' })).toBeDisabled();
});
