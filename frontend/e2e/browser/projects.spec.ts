import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.', { chunkSize: 200 });
});

test('a project is created with instructions, facts and a folder, and its sessions use them', async ({ provider, launch, page }, info) => {
  const folder = info.outputPath('bakery');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'rye.md'), '# Rye bread\n\nThe sourdough of the rye bread rests for nineteen hours.\n');
  writeFileSync(join(folder, '.env'), 'OVEN_KEY=hunter2');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();

  // With the keyboard: the palette, the name, the instructions.
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('New project');
  await page.keyboard.press('Enter');
  const naming = page.getByRole('dialog', { name: 'New project' });
  await expect(naming.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await inspect(page, 'the name of a project');
  await page.keyboard.type('Bakery');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Project “Bakery”' });
  await expect(dialog.getByRole('textbox', { name: 'Instructions' })).toBeFocused();
  await page.keyboard.type('Always answer as a baker would.');
  await inspect(page, 'the settings of a project');
  await dialog.getByRole('tab', { name: /Pinned facts/ }).click();
  await dialog.getByRole('button', { name: 'Add a fact' }).click();
  await page.keyboard.type('The oven is called Hildegard.');
  await inspect(page, 'the facts of a project');
  await dialog.getByRole('tab', { name: /Files/ }).click();
  await dialog.locator('input[type=file]').setInputFiles({ name: 'prices.md', mimeType: 'text/markdown', buffer: Buffer.from('# Prices\n\nA loaf of spelt costs seven francs.') });
  await expect(dialog.getByRole('button', { name: 'Remove prices.md' })).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(folder);
  await page.keyboard.press('Enter');
  await expect(dialog.getByText(/: 1 new$/)).toBeVisible();
  await expect(dialog.getByText('1 file left out')).toBeVisible();
  await inspect(page, 'the files of a project');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog).toBeHidden();

  // A new session in the project, from the list. Its request contains what the project adds.
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.getByRole('button', { name: /^Bakery/ }).hover();
  await list.getByRole('button', { name: 'Actions for the folder Bakery' }).click();
  await page.getByRole('menuitem', { name: 'New session in this project' }).click();
  const scope = page.getByRole('button', { name: /^Scope of memory/ });
  await expect(scope).toHaveAccessibleName('Scope of memory: This project. Change it');
  await expect(page.getByRole('button', { name: /^Project Bakery/ })).toBeVisible();
  await inspect(page, 'a session in a project');
  await chat.askAndWait(1, 'How long does the sourdough of the rye bread rest?', 'It is noted.');
  const request = JSON.stringify(provider.lastRequest());
  for (const part of ['Always answer as a baker would.', 'The oven is called Hildegard.', 'nineteen hours']) expect(request).toContain(part);
  expect(request).not.toContain('hunter2');

  // With memory limited to this branch, the file is not recalled.
  await scope.click();
  await page.getByRole('menuitemradio', { name: /^This branch/ }).click();
  await expect(scope).toHaveAccessibleName('Scope of memory: This branch. Change it');
  await chat.askAndWait(2, 'And how many hours does the rye sourdough rest?', 'It is noted.');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('x-ray');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Memory is searched in: This branch')).toBeVisible();
  await page.getByRole('button', { name: 'Previous turn' }).click();
  await page.getByRole('button', { name: 'Previous turn' }).click();
  await expect(page.getByText('Memory was searched in: this project, “Bakery”')).toBeVisible();

  // Changes in the folder are reported.
  rmSync(join(folder, 'rye.md'));
  await page.getByRole('button', { name: /^Project Bakery/ }).click();
  await page.getByRole('menuitem', { name: 'Files…' }).click();
  await dialog.getByRole('button', { name: 'Check now' }).click();
  await expect(dialog.getByText(/: 1 removed$/)).toBeVisible();

  // The sessions of a deleted project are kept.
  await dialog.getByRole('tab', { name: 'Settings' }).click();
  await dialog.getByRole('button', { name: 'Delete project…' }).click();
  const deletion = page.getByRole('dialog', { name: 'Delete the project “Bakery” permanently' });
  await deletion.getByRole('textbox').fill('delete');
  await inspect(page, 'the deletion of a project');
  await deletion.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByRole('dialog', { name: 'The project was permanently deleted' }).getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('button', { name: /^Project Bakery/ })).toBeHidden();
  await expect(chat.turn(2)).toBeVisible();
});
