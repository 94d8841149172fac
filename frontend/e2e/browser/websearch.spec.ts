import { readFileSync } from 'node:fs';
import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('web search is one button: its server is added, and the key is in no file', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  await new Conversation(page).ready();
  await page.keyboard.press('Control+,');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Tools', exact: true }).click();
  await page.getByRole('button', { name: 'Web search' }).click();
  const dialog = page.getByRole('dialog', { name: 'Web search' });
  await inspect(page, 'adding web search');
  await dialog.getByRole('textbox').fill('exa-key-that-is-secret');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'exa' })).toContainText('https://mcp.exa.ai/mcp');
  const config = readFileSync(home.configFile, 'utf8');
  expect(config).toContain('url = "https://mcp.exa.ai/mcp"');
  expect(config).toContain('${secret:');
  expect(home.filesContaining('exa-key-that-is-secret')).toEqual([]);
});
