import { inspect } from '../harness/axe.ts';
import { cli, expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('a project has a page: sessions, instructions, facts, files and memory', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'The oven is at 250 degrees.', { chunkSize: 200 });
  cli(home, 'projects', 'new', 'Bakery', '--instructions', 'Weigh everything.');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  const folder = page.getByRole('button', { name: /^Actions for the folder Bakery/ });
  await folder.click();
  await page.getByRole('menuitem', { name: 'New session in this project' }).click();
  await chat.askAndWait(1, 'How hot is it?', 'The oven is at 250 degrees.');

  await folder.click();
  await page.getByRole('menuitem', { name: 'Open the project' }).click();
  const view = page.getByRole('region', { name: 'Project', exact: true });
  await expect(view.getByRole('heading', { name: 'Bakery' })).toBeVisible();
  await expect(view.getByText('Weigh everything.')).toBeVisible();
  await expect(view.getByText(/passages? of its sessions and files/)).toBeVisible();
  await inspect(page, 'the page of a project');
  await page.setViewportSize({ width: 900, height: 600 });
  await inspect(page, 'the page of a project, narrow');
  await page.keyboard.press('Escape');
  await expect(view).toBeHidden();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('page of this project');
  await expect(page.getByRole('option', { selected: true })).toContainText(/page of this project/i);
  await page.keyboard.press('Enter');
  await expect(view).toBeVisible();
  await view.getByRole('button', { name: /^How hot is it/ }).click();
  await expect(view).toBeHidden();
  await expect(chat.turn(1)).toContainText('How hot is it?');
});
