import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { repository } from '../harness/process.ts';
import { Conversation } from './conversation.ts';

/** Copies a test file of the importers into the home, and returns its path. */
function copyFixture(home: Home, fixture: string): string {
  const path = join(home.root, fixture.replace('/', '-'));
  copyFileSync(join(repository, 'backend/transfer/testdata', fixture), path);
  return path;
}

async function addFiles(page: Page, paths: readonly string[]): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Import history' });
  if (!(await dialog.isVisible())) await page.keyboard.press('Control+o');
  for (const path of paths) {
    await dialog.getByRole('textbox', { name: 'Path of a file' }).fill(path);
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('list', { name: 'Files' })).toContainText(path.slice(path.lastIndexOf('/') + 1));
  }
}

const task = (page: Page, title: string) => page.getByRole('region', { name: title });

test('history is imported once, with a report, and can be continued', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  const exported = copyFixture(home, 'chatgpt/branches.json');
  const broken = copyFixture(home, 'chatgpt/broken.json');
  const notes = join(home.root, 'notes.md');
  writeFileSync(notes, '# Notes\n\nThe lamp is lit at dusk.\n');

  await addFiles(page, [exported, broken, notes, join(home.root, 'nowhere.json'), home.root]);
  const files = page.getByRole('list', { name: 'Files' });
  await expect(files).toContainText('ChatGPT export');
  await expect(files).toContainText('It contains no conversation. You can attach it to a message.');
  await expect(files).toContainText('There is no such file.');
  await page.getByRole('button', { name: `Leave out ${home.root.slice(home.root.lastIndexOf('/') + 1)}` }).click();
  await page.getByRole('button', { name: 'Import 2 files' }).click();
  await expect(task(page, 'Import chatgpt-branches.json')).toContainText(/\d+ sessions? created/);
  const report = task(page, 'Import chatgpt-broken.json');
  await expect(report).toContainText(/entr(y was|ies were) not read/);

  await page.getByRole('button', { name: 'Attach to the message' }).click();
  await task(page, 'Import chatgpt-branches.json').getByRole('button', { name: /^Open the/ }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(chat.turn(1)).toBeVisible();

  // Importing the same file again adds nothing.
  const sessions = await page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]').count();
  await addFiles(page, [exported]);
  await page.getByRole('button', { name: 'Import 1 file' }).click();
  await expect(page.getByRole('dialog')).toContainText(/\d+ already there/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]')).toHaveCount(sessions);

  // Reports survive a reload of the page, until they are dismissed.
  await page.reload();
  await chat.ready();
  await page.getByRole('button', { name: 'More: import, export, theme' }).click();
  await page.getByRole('menuitem', { name: /^Tasks/ }).click();
  await expect(task(page, 'Import chatgpt-broken.json')).toContainText(/not read/);
  await page.getByRole('button', { name: 'Clear finished' }).click();
  await expect(page.getByText('No running tasks')).toBeVisible();
});

test('a session is exported in each format, and replaces a file only after confirmation', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Where is the key?', 'Under the third stone.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Where is the key?', 'Under the third stone.');

  const dialog = page.getByRole('dialog', { name: 'Export' });
  const path = join(home.root, 'key.cinf');
  await page.keyboard.press('Control+e');
  for (const [format, extension] of [['Bundle (.cinf)', 'cinf'], ['Markdown (.md)', 'md'], ['Web page (.html)', 'html'], ['JSON (.json)', 'json']] as const) {
    await dialog.getByRole('radio', { name: format }).click();
    await expect(dialog).toContainText(/1 turn/);
    await dialog.getByLabel('Save as').fill(path.replace('cinf', extension));
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
    await expect(task(page, `Export key.${extension}`)).toContainText('done');
    const file = path.replace('cinf', extension);
    expect(statSync(file).size).toBeGreaterThan(50);
    if (extension !== 'cinf') expect(readFileSync(file, 'utf8')).toContain('Under the third stone.');
    await dialog.getByRole('button', { name: 'Another export' }).click();
  }

  await dialog.getByLabel('Save as').fill(path.replace('cinf', 'json'));
  await page.keyboard.press('Tab');
  await expect(dialog).toContainText('A file with that name exists.');
  await expect(dialog.getByRole('button', { name: 'Export', exact: true })).toBeDisabled();
  await dialog.getByRole('checkbox', { name: 'Replace it' }).check();
  await dialog.getByRole('button', { name: 'Replace' }).click();
  await expect(dialog).toContainText('done');

  await dialog.getByRole('button', { name: 'Another export' }).click();
  await dialog.getByLabel('Save as').fill(join(home.root, 'no/such/folder/key.json'));
  await page.keyboard.press('Tab');
  await expect(dialog.getByRole('alert').or(dialog.getByRole('button', { name: 'Export', exact: true }))).toBeVisible();
  if (await dialog.getByRole('button', { name: 'Export', exact: true }).isEnabled()) await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  expect(existsSync(join(home.root, 'no'))).toBe(false);
});

test('the page is not replaced by anything dropped on it; for files that it cannot read it asks for the path', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  const before = page.url();
  const drop = (files: [string, string, string][], data: Record<string, string> = {}, selector = 'body') =>
    page.locator(selector).first().evaluate(
      (target, [droppedFiles, texts]) => {
        const transfer = new DataTransfer();
        for (const [name, type, text] of droppedFiles) transfer.items.add(new File([text], name, { type }));
        for (const [type, text] of Object.entries(texts)) transfer.setData(type, text);
        for (const event of ['dragenter', 'dragover', 'drop']) target.dispatchEvent(new DragEvent(event, { bubbles: true, cancelable: true, dataTransfer: transfer }));
      },
      [files, data] as const,
    );
  await drop([], { 'text/uri-list': 'https://example.com/', 'text/plain': 'https://example.com/' });
  await drop([], { 'text/html': '<b>words</b>', 'text/plain': 'words' });
  await drop([['notes.txt', 'text/plain', 'The lamp is lit at dusk.']]);
  await expect(page.getByRole('button', { name: 'Remove notes.txt' })).toBeVisible();
  await drop([['conversations.json', 'application/json', '[]']]);
  await expect(page.getByRole('dialog', { name: 'Import history' })).toContainText('“conversations.json” cannot be read from here');
  await page.keyboard.press('Escape');
  await expect(chat.composer).toHaveValue('');
  expect(page.url()).toBe(before);
});
