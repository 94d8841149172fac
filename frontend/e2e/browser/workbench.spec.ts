import { spawn } from 'node:child_process';
import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { built } from '../harness/process.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.', { chunkSize: 200 });
});

test('everything is found over sessions and branches, opened at its turn and marked; commands and keys are a key away', async ({ home, launch, page }) => {
  await say(home, [
    'Let us talk about bread', 'The starter lives in the larder',
    '/new', 'A journey to the islands', 'The ferry leaves at nine', '/fork #1', 'The seaplane leaves at noon', '/fork #1', 'We go by rail after all',
    '/new', 'Plans for the garden', 'Tulips for the larder window', 'And beans',
  ]);
  await launch();
  const chat = new Conversation(page);
  const log = page.getByRole('log', { name: 'Conversation' });
  const here = page.getByRole('heading', { level: 1 });
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('Let us talk about bread').click();
  await chat.ready();

  // In a branch that is not the one its session was left on.
  await page.keyboard.press('Control+Shift+F');
  const field = page.getByRole('combobox', { name: /^Search titles and messages/ });
  const found = page.getByRole('listbox', { name: 'What was found' });
  await field.fill('seaplane');
  await expect(found.getByRole('option', { name: /The seaplane leaves at noon/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(here).toContainText('A journey to the islands');
  await expect(chat.turn(2)).toContainText('The seaplane leaves at noon');
  await expect(chat.turn(2)).toBeInViewport();
  await expect.poll(() => painted(page)).toEqual(['seaplane']);
  await expect(log).not.toContainText(/ferry|rail/);

  // In two sessions: grouped, and walked with the arrows.
  await page.keyboard.press('Control+Shift+F');
  await field.fill('larder');
  await expect(found.getByRole('group')).toHaveCount(2);
  await found.getByRole('group', { name: 'Plans for the garden' }).getByRole('option', { name: /Tulips/ }).click();
  await expect(here).toContainText('Plans for the garden');
  await expect(chat.turn(2)).toContainText('Tulips for the larder window');
  await expect.poll(() => painted(page)).toEqual(['larder']);
  await page.keyboard.press('Control+Shift+F');
  await page.keyboard.press('Escape');
  await expect(field).toBeHidden();

  await page.keyboard.press('Control+f');
  const find = page.getByRole('search', { name: 'Find in this conversation' });
  await find.getByRole('textbox').fill('noted');
  await expect(find.getByRole('status')).toHaveText(/ of 3$/);
  expect(await painted(page)).toEqual(['noted', 'noted', 'noted']);
  const first = await find.getByRole('status').textContent();
  await page.keyboard.press('Enter');
  await expect(find.getByRole('status')).not.toHaveText(first ?? '');
  await page.keyboard.press('Escape');
  await expect(find).toBeHidden();
  expect(await painted(page)).toEqual([]);

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.getByRole('combobox').fill('dark theme');
  await page.keyboard.press('Enter');
  await expect(palette).toBeHidden();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('Control+/');
  const sheet = page.getByRole('dialog', { name: 'Keys and commands' });
  await expect(sheet).toContainText('Search everything that was said');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
});

/** Says lines to one running `chat`, as through a pipe. */
async function say(home: Home, lines: readonly string[]): Promise<void> {
  const chat = spawn(built('contextinfinity'), ['chat'], { env: home.env(), stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [chat.stdout, chat.stderr]) stream.on('data', (data) => (output += data));
  chat.stdin.end(`${lines.join('\n')}\n`);
  const code = await new Promise((resolve) => chat.once('close', resolve));
  if (code !== 0) throw new Error(`chat ended with ${code}:\n${output}`);
}

/** The words under the marks of finds, as the engine paints them. */
function painted(page: Page): Promise<string[]> {
  return page.evaluate(() => ['found', 'found-here'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)));
}
