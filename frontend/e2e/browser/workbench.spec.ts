import { spawn } from 'node:child_process';
import type { Locator, Page } from '@playwright/test';
import { expect, test, verb } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { built } from '../harness/process.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.', { chunkSize: 200 });
});

test('a tree of 300 forks: find one, open it, compare, roll back, edit, archive; siblings never appear', async ({ home, provider, launch, page }) => {
  const tree = await grow(home, 6, 300);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('Trunk 1').click();
  await chat.ready();
  const log = page.getByRole('log', { name: 'Conversation' });
  const branches = new Branches(page);

  // Found by its text and opened: the header and the conversation follow.
  const [way, other] = [tree.get('Way 137')!, tree.get('Way 142')!];
  await branches.find('way 137');
  await expect(branches.card).toContainText('Way 137');
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3_000);
  await branches.card.getByRole('button', { name: 'Open' }).click();
  await expect(chat.turn(way.length)).toContainText('Way 137');
  await branches.more('Rename branch…');
  const naming = page.getByRole('dialog', { name: 'Rename branch' });
  await naming.getByRole('textbox').fill('Ferry');
  await page.keyboard.press('Enter');
  await expect(naming).toBeHidden();
  await expect(chat.header).toContainText('Ferry');
  await expect.poll(async () => spoken(await log.innerText())).toEqual(way);

  // The request, and its X-ray, contain only this branch.
  await chat.askAndWait(way.length + 1, 'Where are we?', 'It is noted.');
  expect(spoken(JSON.stringify(provider.lastRequest()))).toEqual(way);
  await expect(chat.header).toContainText(`Turn #${way.length + 1}`);
  await chat.turn(way.length + 1).hover();
  await chat.turn(way.length + 1).getByRole('button', { name: 'Show the prompt' }).click();
  const xray = page.getByRole('tabpanel', { name: 'X-ray' });
  await expect(xray.getByText(`#${way.length + 1}`, { exact: true })).toBeVisible();
  await xray.locator('summary', { hasText: 'Original turns' }).click();
  await expect(xray.getByRole('button', { name: /tokens$/ }).filter({ hasText: 'Way 137' })).not.toHaveCount(0);
  expect(spoken(await xray.innerText())).toEqual(way);

  // Compared with another branch: each side shows its own turns.
  await branches.find('way 142');
  await branches.card.getByRole('button', { name: 'Compare' }).click();
  const choose = page.getByRole('dialog', { name: /^Compare/ });
  await choose.getByRole('searchbox', { name: 'Find a branch' }).fill('Ferry');
  await page.keyboard.press('Enter');
  const compared = page.getByRole('region', { name: 'Two branches compared' });
  const shared = way.filter((words) => other.includes(words));
  await expect(compared).toContainText(`${shared.length} turn${shared.length === 1 ? '' : 's'} shared`);
  const sides = compared.getByRole('region', { name: /^Branch / });
  await expect(sides.nth(1)).toHaveAccessibleName('Branch Ferry');
  await expect.poll(async () => spoken(await sides.nth(0).innerText())).toEqual(other.slice(shared.length));
  await expect.poll(async () => spoken(await sides.nth(1).innerText())).toEqual(way.slice(shared.length));
  await page.keyboard.press('Escape');
  await expect(compared).toBeHidden();

  // Rolling back to an earlier turn creates a new branch; the turns after it are neither shown nor sent.
  await branches.find('Ferry');
  await expect(branches.card.getByRole('button', { name: 'Roll back' })).toBeDisabled(); // at its own end it would create a copy
  await page.keyboard.press('Escape');
  await chat.composer.fill(`/rollback #${way.length - 1}`);
  await chat.composer.press('Enter');
  await expect(chat.header).toContainText(`rollback to #${way.length - 1}`);
  await expect.poll(async () => spoken(await log.innerText())).toEqual(way.slice(0, -1));
  await chat.askAndWait(way.length, 'And from here?', 'It is noted.');
  expect(spoken(JSON.stringify(provider.lastRequest()))).toEqual(way.slice(0, -1));

  // Editing an old message creates a branch, and both versions can be selected.
  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: /^Edit and resend/ }).click();
  await expect(chat.composer).toHaveValue('Trunk 1');
  await chat.composer.fill('A root of its own');
  await chat.composer.press('Enter');
  await expect(chat.turn(1)).toContainText('A root of its own');
  await expect(chat.answer(1)).toContainText('It is noted.');
  await expect(chat.turn(2)).toHaveCount(0);
  expect(spoken(JSON.stringify(provider.lastRequest()))).toEqual([]);
  const versions = page.getByRole('group', { name: 'Versions of turn 1' });
  await expect(versions).toContainText('2/2');
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await expect(versions).toContainText('1/2');
  await expect(chat.turn(1)).toContainText('Trunk 1');
  await expect(log).not.toContainText('A root of its own');

  // Archived and restored. No other branch continues from this one, so its turn disappears with it.
  await branches.find('way 144');
  await branches.more('Archive branch');
  await expect(branches.count).toHaveText('none');
  await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).last().click();
  await expect(branches.count).toHaveText('1 of 1');
  // 300 forks, the first branch, a rollback and an edit: nothing was lost.
  const [session] = JSON.parse(verb(home, '--json', 'sessions')).sessions;
  expect(JSON.parse(verb(home, '--json', 'branches', session.session_id)).branches).toHaveLength(303);
});

test('the global search covers sessions and branches, opens results at their turn and marks them; commands and shortcuts work', async ({ home, launch, page }) => {
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

  // In a branch that is not the session's open one.
  await page.keyboard.press('Control+Shift+F');
  const field = page.getByRole('combobox', { name: /^Search titles and messages/ });
  const found = page.getByRole('listbox', { name: 'Results' });
  await field.fill('seaplane');
  await expect(found.getByRole('option', { name: /The seaplane leaves at noon/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(here).toContainText('A journey to the islands');
  await expect(chat.turn(2)).toContainText('The seaplane leaves at noon');
  await expect(chat.turn(2)).toBeInViewport();
  await expect.poll(() => painted(page)).toEqual(['seaplane']);
  await expect(log).not.toContainText(/ferry|rail/);

  // Results from two sessions are grouped, and the arrow keys move through them.
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
  const find = page.getByRole('search', { name: 'Find in this session' });
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
  await expect(sheet).toContainText('Search all sessions');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
});

/** The Branches tab as a user finds it. */
class Branches {
  readonly card: Locator;
  readonly count: Locator;

  constructor(readonly page: Page) {
    const panel = page.getByRole('tabpanel', { name: 'Branches' });
    this.card = panel.getByRole('region', { name: /^Selected: / });
    this.count = panel.getByRole('group', { name: 'The tree' }).getByRole('status');
  }

  /** Selects the first result. Branches named after its text come after it. */
  async find(words: string): Promise<void> {
    await this.page.getByRole('tab', { name: 'Branches' }).click();
    await this.page.getByRole('searchbox', { name: 'Find a turn or branch' }).fill(words);
    await expect(this.count).toHaveText(/^1 of \d+$/);
  }

  async more(act: string): Promise<void> {
    await this.card.getByRole('button', { name: 'More' }).click();
    await this.page.getByRole('menuitem', { name: act }).click();
  }
}

/** Sends lines to one running `chat` through a pipe. */
async function say(home: Home, lines: readonly string[]): Promise<void> {
  const chat = spawn(built('contextinfinity'), ['chat'], { env: home.env(), stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [chat.stdout, chat.stderr]) stream.on('data', (data) => (output += data));
  chat.stdin.end(`${lines.join('\n')}\n`);
  const code = await new Promise((resolve) => chat.once('close', resolve));
  if (code !== 0) throw new Error(`chat ended with ${code}:\n${output}`);
}

/**
 * Creates a tree: a trunk, then forks at changing depths, each with a turn. Returns the messages on the path to each
 * fork.
 */
async function grow(home: Home, trunk: number, forks: number): Promise<Map<string, string[]>> {
  const ways = new Map<string, string[]>();
  let path = Array.from({ length: trunk }, (_, i) => `Trunk ${i + 1}`);
  const lines = [...path];
  for (let i = 1; i <= forks; i++) {
    const at = 1 + (i % (trunk - 1));
    path = [...path.slice(0, at), `Way ${String(i).padStart(3, '0')}`];
    lines.push(`/fork #${at}`, path.at(-1)!);
    ways.set(path.at(-1)!, path);
  }
  await say(home, lines);
  return ways;
}

/** The distinct messages of the tree that a text contains, in order, leaving out branch names that quote some. */
function spoken(text: string): string[] {
  return [...new Set(text.replace(/(?:from|rollback to) #\d+: \w+ \d+/g, '').match(/(?:Trunk|Way) \d+/g) ?? [])];
}

/** The texts that the engine paints as search results. */
function painted(page: Page): Promise<string[]> {
  return page.evaluate(() => ['found', 'found-here'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)));
}
