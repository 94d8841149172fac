import type { Page } from '@playwright/test';
import { inspect } from '../harness/axe.ts';
import { cli, expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

async function openPage(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true }).click();
}

test('example assistants and prompts are added on request and used', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'Noted.', { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  expect(JSON.parse(cli(home, 'assistants', '--json'))).toMatchObject({ assistants: [] });
  await openPage(page, 'Assistants');
  await inspect(page, 'the page of assistants, empty');
  await page.getByRole('button', { name: 'Add three examples' }).click();
  await expect(page.getByRole('list', { name: 'Assistants' }).getByRole('listitem')).toHaveCount(3);
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Saved prompts', exact: true }).click();
  await page.getByRole('button', { name: 'Add three examples' }).click();
  await expect(page.getByRole('list', { name: 'Saved prompts' }).getByRole('listitem')).toHaveCount(3);
  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 'Start with an assistant' }).getByRole('button', { name: 'Teacher' }).click();
  await chat.composer.pressSequentially('/translate');
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'Translate' });
  await form.getByRole('textbox', { name: 'text' }).fill('Guten Morgen');
  await page.keyboard.press('Enter');
  await expect(chat.composer).toHaveValue(/^Translate this text into English\./);
  await chat.composer.press('Enter');
  await expect(chat.answer(1)).toContainText('Noted.');
  expect(JSON.stringify(provider.lastRequest())).toContain('Explain a subject to me step by step.');
});
