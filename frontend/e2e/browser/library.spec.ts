import type { Page } from '@playwright/test';
import { inspect } from '../harness/axe.ts';
import { cli, expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.', { chunkSize: 200 });
});

async function openSettings(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
}

test('a prompt is inserted at the caret with the keyboard, can be undone, and is not sent', async ({ home, provider, launch, page }) => {
  cli(home, 'prompts', 'new', 'Translate a text', 'Into {{language:English}}: {{text}}');
  cli(home, 'prompts', 'new', 'Clip', '<{{clipboard}}>');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();

  await chat.composer.pressSequentially('/tra');
  await expect(page.getByRole('option', { selected: true })).toContainText('Translate a text');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Translate a text' });
  await expect(dialog.getByRole('textbox', { name: 'language' })).toBeFocused();
  await inspect(page, 'the form of a prompt');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Guten Morgen');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(chat.composer).toHaveValue('Into English: Guten Morgen');
  await expect(chat.composer).toBeFocused();
  await page.keyboard.press('Control+z');
  await expect(chat.composer).toHaveValue('/tra');
  await page.keyboard.press('Control+Shift+z');
  await expect(chat.composer).toHaveValue('Into English: Guten Morgen');
  expect(provider.questions()).toEqual([]);

  // A prompt is inserted in the middle of a text. It contains the clipboard's text, which is read at that moment.
  await chat.composer.fill('Before after');
  await chat.composer.evaluate((field: HTMLTextAreaElement) => field.setSelectionRange(7, 7));
  await page.evaluate(() => navigator.clipboard.writeText('copied'));
  await page.getByRole('button', { name: 'Insert a prompt' }).click();
  const list = page.getByRole('dialog', { name: 'Insert a prompt' });
  await list.getByRole('textbox', { name: 'Filter' }).fill('clip');
  await inspect(page, 'the list of prompts');
  await list.getByRole('button', { name: /^Clip/ }).click();
  await expect(chat.composer).toHaveValue('Before <copied>after');

  // The message is saved as a prompt.
  await page.getByRole('button', { name: 'Insert a prompt' }).click();
  await list.getByRole('button', { name: 'Save this message as a prompt…' }).click();
  const editor = page.getByRole('dialog', { name: 'New prompt' });
  await editor.getByRole('textbox', { name: 'Name' }).fill('Mine');
  await inspect(page, 'the editor of a prompt');
  await page.keyboard.press('Enter');
  await expect(editor).toBeHidden();
  expect(JSON.parse(cli(home, 'prompts', 'show', 'Mine', '--json')).prompt.text).toBe('Before <copied>after');
});

test('an assistant is created and used in a session, which applies later changes to the assistant only on request', async ({ home, provider, launch, page }) => {
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await openSettings(page, 'Assistants');
  await page.getByRole('button', { name: 'New assistant' }).click();
  const editor = page.getByRole('dialog', { name: 'New assistant' });
  await editor.getByRole('textbox', { name: 'Name' }).fill('Poet');
  await editor.getByRole('textbox', { name: 'Instructions' }).fill('Answer in rhymes.');
  await inspect(page, 'the editor of an assistant');
  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('list', { name: 'Assistants' })).toContainText('Answer in rhymes.');
  await inspect(page, 'assistants');

  await page.keyboard.press('Escape');
  await page.getByRole('group', { name: 'Start with an assistant' }).getByRole('button', { name: 'Poet' }).click();
  await expect(page.getByRole('button', { name: 'Assistant: Poet' })).toBeVisible();
  await inspect(page, 'a conversation with an assistant');
  await chat.askAndWait(1, 'About the sea', 'It is noted.');
  expect(JSON.stringify(provider.lastRequest())).toContain('Answer in rhymes.');

  // A change to the assistant by another process does not affect the session.
  cli(home, 'assistants', 'set', 'Poet', '--instructions', 'Answer in prose.');
  await chat.askAndWait(2, 'And the moon', 'It is noted.');
  expect(JSON.stringify(provider.lastRequest())).not.toContain('Answer in prose.');
  await page.getByRole('button', { name: 'Assistant: Poet' }).click();
  const settings = page.getByRole('dialog', { name: /^Settings of/ });
  await expect(settings).toContainText('The settings of this session differ from the assistant.');
  await settings.getByRole('button', { name: 'Update from assistant' }).click();
  await expect(settings.getByRole('textbox', { name: 'Instructions' })).toHaveValue('Answer in prose.');
  await page.keyboard.press('Escape');
  await chat.askAndWait(3, 'And the stars', 'It is noted.');
  expect(JSON.stringify(provider.lastRequest())).toContain('Answer in prose.');
});

test('known facts are listed with their source, corrected and removed; the scope of memory is asked about only once', async ({ home, launch, page }) => {
  const first = JSON.parse(cli(home, 'send', '--new', '--model', 'recall', '--wait', 'indexed', 'Always answer in French. Who are you?', '--json'));
  cli(home, 'pin', first.session_id, 'I live in Bern');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await openSettings(page, 'What it knows');
  const fact = page.getByRole('article', { name: 'I live in Bern' });
  await expect(fact).toContainText('turn #1');
  await inspect(page, 'what it knows');
  await fact.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog', { name: 'Edit' }).getByRole('textbox', { name: 'Text' }).fill('I live in Rome');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('article', { name: 'I live in Rome' })).toBeVisible();
  await page.getByRole('radio', { name: 'Suggested' }).click();
  await page.getByRole('article', { name: 'Always answer in French.' }).getByRole('button', { name: 'Pin' }).click();
  await expect(page.getByText('Nothing yet')).toBeVisible();
  await page.getByRole('radio', { name: 'Summaries' }).click();
  await page.getByRole('button', { name: 'Pin a correction' }).click();
  await page.getByRole('textbox', { name: 'The right fact' }).fill('I live in Rome since May');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('radio', { name: 'Pinned facts' }).click();
  await expect(page.getByRole('list', { name: 'Pinned facts' }).getByRole('article')).toHaveCount(3);
  await page.getByRole('article', { name: 'I live in Rome', exact: true }).getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('list', { name: 'Pinned facts' }).getByRole('article')).toHaveCount(2);
  await page.getByRole('article', { name: 'Always answer in French.' }).getByRole('button', { name: /turn #1/ }).click();
  await expect(chat.turn(1)).toBeVisible();

  await page.keyboard.press('Control+n');
  await expect(page.getByText('May earlier sessions help here?')).toBeVisible();
  await inspect(page, 'the question about the scope of memory');
  await page.getByRole('button', { name: 'All my sessions' }).click();
  await expect(page.getByText('May earlier sessions help here?')).toBeHidden();
  expect(cli(home, 'config', 'show', '--json')).toMatch(/"key":"retrieval.scope","value":"all"/);
  await chat.askAndWait(1, 'Hello', 'It is noted.');
  await page.keyboard.press('Control+n');
  await expect(chat.composer).toBeFocused();
  await expect(page.getByText('May earlier sessions help here?')).toBeHidden();
});
