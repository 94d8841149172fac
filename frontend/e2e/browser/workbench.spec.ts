import { spawn } from 'node:child_process';
import type { Locator, Page } from '@playwright/test';
import { cli, expect, test } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { built } from '../harness/process.ts';
import { Conversation } from './conversation.ts';
import { statusField } from './recovery.ts';

test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.', { chunkSize: 200 });
});

test('in a tree of 300 forks, a branch is found, opened, compared, rolled back, edited and archived, and siblings never appear in it', async ({ home, provider, launch, page }) => {
  const paths = await createTree(home, 6, 300);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('Trunk 1').click();
  await chat.ready();
  const log = page.getByRole('log', { name: 'Conversation' });
  const branches = new Branches(page);

  // The branch is found by its text and opened: the header and the conversation show it.
  const [path, otherPath] = [paths.get('Way 137')!, paths.get('Way 142')!];
  await branches.find('way 137');
  await expect(branches.card).toContainText('Way 137');
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3_000);
  await branches.card.getByRole('button', { name: 'Open' }).click();
  await expect(chat.turn(path.length)).toContainText('Way 137');
  await branches.runAction('Rename branch…');
  const naming = page.getByRole('dialog', { name: 'Rename branch' });
  await naming.getByRole('textbox').fill('Ferry');
  await page.keyboard.press('Enter');
  await expect(naming).toBeHidden();
  await expect(chat.header).toContainText('Ferry');
  await expect.poll(async () => treeMessages(await log.innerText())).toEqual(path);

  // The request, and its X-ray, contain only this branch.
  await chat.askAndWait(path.length + 1, 'Where are we?', 'It is noted.');
  expect(treeMessages(JSON.stringify(provider.lastRequest()))).toEqual(path);
  await expect.poll(() => statusField(chat, 'Turn')).toContain(`#${path.length + 1} `);
  await chat.turn(path.length + 1).hover();
  await chat.turn(path.length + 1).getByRole('button', { name: 'Show the prompt' }).click();
  const xray = page.getByRole('tabpanel', { name: 'X-ray' });
  await expect(xray.getByText(`#${path.length + 1}`, { exact: true })).toBeVisible();
  await xray.locator('summary', { hasText: 'Original turns' }).click();
  await expect(xray.getByRole('button', { name: /tokens$/ }).filter({ hasText: 'Way 137' })).not.toHaveCount(0);
  expect(treeMessages(await xray.innerText())).toEqual(path);

  // In a comparison with another branch, each side shows its own turns.
  await branches.find('way 142');
  await branches.card.getByRole('button', { name: 'Compare' }).click();
  const chooser = page.getByRole('dialog', { name: /^Compare/ });
  await chooser.getByRole('searchbox', { name: 'Find a branch' }).fill('Ferry');
  await page.keyboard.press('Enter');
  const compared = page.getByRole('region', { name: 'Two branches compared' });
  const shared = path.filter((message) => otherPath.includes(message));
  await expect(compared).toContainText(`${shared.length} turn${shared.length === 1 ? '' : 's'} shared`);
  const sides = compared.getByRole('region', { name: /^Branch / });
  await expect(sides.nth(1)).toHaveAccessibleName('Branch Ferry');
  await expect.poll(async () => treeMessages(await sides.nth(0).innerText())).toEqual(otherPath.slice(shared.length));
  await expect.poll(async () => treeMessages(await sides.nth(1).innerText())).toEqual(path.slice(shared.length));
  await page.keyboard.press('Escape');
  await expect(compared).toBeHidden();

  // Rolling back to an earlier turn creates a new branch; the turns after it are neither shown nor sent.
  await branches.find('Ferry');
  await expect(branches.card.getByRole('button', { name: 'Roll back' })).toBeDisabled(); // at the end of the branch it would create a copy
  await page.keyboard.press('Escape');
  await chat.composer.fill(`/rollback #${path.length - 1}`);
  await chat.composer.press('Enter');
  await expect(chat.header).toContainText(`rollback to #${path.length - 1}`);
  await expect.poll(async () => treeMessages(await log.innerText())).toEqual(path.slice(0, -1));
  await chat.askAndWait(path.length, 'And from here?', 'It is noted.');
  expect(treeMessages(JSON.stringify(provider.lastRequest()))).toEqual(path.slice(0, -1));
  await expect(page.getByRole('group', { name: `Versions of turn ${path.length}` })).toContainText('2/2'); // its line moves what is above it

  // Editing an old message creates a branch, and both versions can be selected.
  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: /^Edit and resend/ }).click();
  await expect(chat.composer).toHaveValue('Trunk 1');
  await chat.composer.fill('A root of its own');
  await chat.composer.press('Enter');
  await expect(chat.turn(1)).toContainText('A root of its own');
  await expect(chat.answer(1)).toContainText('It is noted.');
  await expect(chat.turn(2)).toHaveCount(0);
  expect(treeMessages(JSON.stringify(provider.lastRequest()))).toEqual([]);
  const versions = page.getByRole('group', { name: 'Versions of turn 1' });
  await expect(versions).toContainText('2/2');
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await expect(versions).toContainText('1/2');
  await expect(chat.turn(1)).toContainText('Trunk 1');
  await expect(log).not.toContainText('A root of its own');

  // A branch is archived and restored. No other branch continues from it, so its turn disappears with it.
  await branches.find('way 144');
  await branches.runAction('Archive branch');
  await expect(branches.count).toHaveText('none');
  await page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).last().click();
  await expect(branches.count).toHaveText('1 of 1');
  // The branches: 300 forks, the first branch, a rollback and an edit. None was lost.
  const [session] = JSON.parse(cli(home, '--json', 'sessions')).sessions;
  expect(JSON.parse(cli(home, '--json', 'branches', session.session_id)).branches).toHaveLength(303);
});

test('the global search covers sessions and branches, opens results at their turn and marks them; commands and shortcuts work', async ({ home, launch, page }) => {
  await sendLines(home, [
    'Let us talk about bread', 'The starter lives in the larder',
    '/new', 'A journey to the islands', 'The ferry leaves at nine', '/fork #1', 'The seaplane leaves at noon', '/fork #1', 'We go by rail after all',
    '/new', 'Plans for the garden', 'Tulips for the larder window', 'And beans',
  ]);
  await launch();
  const chat = new Conversation(page);
  const log = page.getByRole('log', { name: 'Conversation' });
  const title = page.getByRole('heading', { level: 1 });
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('Let us talk about bread').click();
  await chat.ready();

  // A result in a branch that is not the open branch of its session.
  await page.keyboard.press('Control+Shift+F');
  const field = page.getByRole('combobox', { name: /^Search titles and messages/ });
  const results = page.getByRole('listbox', { name: 'Results' });
  await field.fill('seaplane');
  await expect(results.getByRole('option', { name: /The seaplane leaves at noon/ })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(title).toContainText('A journey to the islands');
  await expect(chat.turn(2)).toContainText('The seaplane leaves at noon');
  await expect(chat.turn(2)).toBeInViewport();
  await expect.poll(() => highlightedTexts(page)).toEqual(['seaplane']);
  await expect(log).not.toContainText(/ferry|rail/);

  // Results from two sessions are grouped by session.
  await page.keyboard.press('Control+Shift+F');
  await field.fill('larder');
  await expect(results.getByRole('group')).toHaveCount(2);
  await results.getByRole('group', { name: 'Plans for the garden' }).getByRole('option', { name: /Tulips/ }).click();
  await expect(title).toContainText('Plans for the garden');
  await expect(chat.turn(2)).toContainText('Tulips for the larder window');
  await expect.poll(() => highlightedTexts(page)).toEqual(['larder']);
  await page.keyboard.press('Control+Shift+F');
  await page.keyboard.press('Escape');
  await expect(field).toBeHidden();

  await page.keyboard.press('Control+f');
  const find = page.getByRole('search', { name: 'Find in this session' });
  await find.getByRole('textbox').fill('noted');
  await expect(find.getByRole('status')).toHaveText(/ of 3$/);
  expect(await highlightedTexts(page)).toEqual(['noted', 'noted', 'noted']);
  const first = await find.getByRole('status').textContent();
  await page.keyboard.press('Enter');
  await expect(find.getByRole('status')).not.toHaveText(first ?? '');
  await page.keyboard.press('Escape');
  await expect(find).toBeHidden();
  expect(await highlightedTexts(page)).toEqual([]);

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

/** Finds the parts of the Branches tab as a user does. */
class Branches {
  readonly card: Locator;
  readonly count: Locator;

  constructor(readonly page: Page) {
    const panel = page.getByRole('tabpanel', { name: 'Branches' });
    this.card = panel.getByRole('region', { name: /^Selected: / });
    this.count = panel.getByRole('group', { name: 'The tree' }).getByRole('status');
  }

  /** Searches the tree, which selects the first result. Branches named after the text of a turn come after it. */
  async find(text: string): Promise<void> {
    await this.page.getByRole('tab', { name: 'Branches' }).click();
    await this.page.getByRole('searchbox', { name: 'Find a turn or branch' }).fill(text);
    await expect(this.count).toHaveText(/^1 of \d+$/);
  }

  /** Runs an action from the menu of the selected card. */
  async runAction(action: string): Promise<void> {
    await this.card.getByRole('button', { name: 'More' }).click();
    await this.page.getByRole('menuitem', { name: action }).click();
  }
}

/** Writes the lines to one process of the command `chat`. */
async function sendLines(home: Home, lines: readonly string[]): Promise<void> {
  const chat = spawn(built('contextinfinity'), ['chat'], { env: home.env(), stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [chat.stdout, chat.stderr]) stream.on('data', (data) => (output += data));
  chat.stdin.end(`${lines.join('\n')}\n`);
  const code = await new Promise((resolve) => chat.once('close', resolve));
  if (code !== 0) throw new Error(`chat ended with ${code}:\n${output}`);
}

/**
 * Creates a tree: a trunk, then forks at varying depths, each with a turn. Returns the messages on the path to each
 * fork, by its own message.
 */
async function createTree(home: Home, trunk: number, forks: number): Promise<Map<string, string[]>> {
  const paths = new Map<string, string[]>();
  let path = Array.from({ length: trunk }, (_, i) => `Trunk ${i + 1}`);
  const lines = [...path];
  for (let i = 1; i <= forks; i++) {
    const depth = 1 + (i % (trunk - 1));
    path = [...path.slice(0, depth), `Way ${String(i).padStart(3, '0')}`];
    lines.push(`/fork #${depth}`, path.at(-1)!);
    paths.set(path.at(-1)!, path);
  }
  await sendLines(home, lines);
  return paths;
}

/** The distinct messages of the tree that a text contains, in order, without those quoted in branch names. */
function treeMessages(text: string): string[] {
  return [...new Set(text.replace(/(?:from|rollback to) #\d+: \w+ \d+/g, '').match(/(?:Trunk|Way) \d+/g) ?? [])];
}

/** The texts that the engine highlights as search results. */
function highlightedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => ['found', 'found-here'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)));
}
