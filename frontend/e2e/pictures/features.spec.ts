import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { cli, expect, test } from '../harness/fixtures.ts';
import { canaryKey, type Home } from '../harness/home.ts';
import { repository } from '../harness/process.ts';
import { Provider } from '../harness/provider.ts';
import { openSessions, panels, runCommand } from '../harness/screens.ts';
import { essay, Seed, seedHistory } from '../harness/seed.ts';
import { Conversation } from '../browser/conversation.ts';
import { bothSizes, leave, picture, pictureOpened } from './shots.ts';

// The second part of `make screens`: each feature in use. conversation.spec.ts shows reading and writing.
test.use({ deviceScaleFactor: 1, permissions: ['clipboard-read', 'clipboard-write'] });

const shortAnswer = 'It is noted.';

async function openSettings(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+,');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
}

test('one question to several models', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  const question = 'Which index would you add?';
  provider.answer('Hello', 'Good morning.');
  provider.answer(question, essay(3), { chunkSize: 12, holdAfter: 25 });
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Hello', 'Good morning.');
  await page.getByRole('button', { name: /^Model and effort: mock/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Model and effort' });
  await dialog.getByText('Several models').click();
  for (const model of ['mock-messages', 'mock-chat']) await dialog.getByRole('button', { name: new RegExp(`^${model}`) }).click();
  await bothSizes(page, 'answers-choice');
  await dialog.getByRole('button', { name: 'Use 3 models' }).click();
  await bothSizes(page, 'answers-chosen');
  await chat.ask(question);
  const view = page.getByRole('region', { name: 'Answers side by side' });
  for (const model of ['mock', 'mock-messages', 'mock-chat']) await expect(view.getByRole('region', { name: `Answer from ${model}`, exact: true })).toContainText('B saved');
  await bothSizes(page, 'answers-arrive');
  provider.release(question);
  await expect(view.getByRole('button', { name: /^Stop/ })).toHaveCount(0);
  await expect(view.getByRole('button', { name: 'Merge' })).toBeEnabled();
  await bothSizes(page, 'answers-whole');
  provider.answer('End of answer 3 ===', 'All three agree on the partial index.');
  await pictureOpened(page, 'answers-merge', () => view.getByRole('button', { name: 'Merge' }).click());
  await view.getByRole('button', { name: 'Merge' }).click();
  await page.getByRole('menuitem', { name: /^mock-messages/ }).click();
  await expect(chat.answer(2)).toContainText('All three agree on the partial index.');
  await bothSizes(page, 'answers-merged');
});

test('a project', async ({ home, provider, launch, page }, info) => {
  home.configure(provider);
  provider.answer('', shortAnswer);
  const folder = info.outputPath('bakery');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'rye.md'), '# Rye bread\n\nThe sourdough of the rye bread rests for nineteen hours.\n');
  writeFileSync(join(folder, '.env'), 'OVEN_KEY=hunter2');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await runCommand(page, 'New project');
  await expect(page.getByRole('dialog', { name: 'New project' })).toBeVisible();
  await bothSizes(page, 'project-new');
  await page.keyboard.type('Bakery');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Project “Bakery”' });
  await dialog.getByRole('textbox', { name: 'Instructions' }).fill('Always answer as a baker would.');
  await bothSizes(page, 'project-settings');
  await dialog.getByRole('tab', { name: /Pinned facts/ }).click();
  for (const fact of ['The oven is called Hildegard.', 'We bake on Tuesdays and on Fridays, from four in the morning.']) {
    await dialog.getByRole('button', { name: 'Add a fact' }).click();
    await page.keyboard.type(fact);
  }
  await bothSizes(page, 'project-facts');
  await dialog.getByRole('tab', { name: /Files/ }).click();
  await bothSizes(page, 'project-files-none');
  await dialog.locator('input[type=file]').setInputFiles({ name: 'prices.md', mimeType: 'text/markdown', buffer: Buffer.from('# Prices\n\nA loaf of spelt costs seven francs.') });
  await expect(dialog.getByRole('button', { name: 'Remove prices.md' })).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Folder' }).fill(folder);
  await page.keyboard.press('Enter');
  await expect(dialog.getByText(/: 1 new$/)).toBeVisible();
  await bothSizes(page, 'project-files');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog).toBeHidden();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  const folderMenu = async () => {
    await openSessions(page);
    await list.getByRole('button', { name: /^Bakery/ }).hover();
    await list.getByRole('button', { name: 'Actions for the folder Bakery' }).click();
  };
  await pictureOpened(page, 'project-list-menu', folderMenu, async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });
  await folderMenu();
  await page.getByRole('menuitem', { name: 'New session in this project' }).click();
  await expect(page.getByRole('button', { name: /^Scope of memory.*This project/ })).toBeVisible();
  await bothSizes(page, 'project-chat-new');
  await chat.askAndWait(1, 'How long does the sourdough of the rye bread rest?', shortAnswer);
  await pictureOpened(page, 'project-scope', () => page.getByRole('button', { name: /^Scope of memory/ }).click());
  await panels.find(({ name }) => name === 'xray-saw')?.show(page);
  await bothSizes(page, 'project-xray');
  await pictureOpened(page, 'project-menu', () => page.getByRole('button', { name: /^Project Bakery/ }).click());
  await page.getByRole('button', { name: /^Project Bakery/ }).click();
  await page.getByRole('menuitem', { name: 'Files…' }).click();
  await dialog.getByRole('tab', { name: 'Settings' }).click();
  await dialog.getByRole('button', { name: 'Delete project…' }).click();
  await expect(page.getByRole('dialog', { name: 'Delete the project “Bakery” permanently' }).getByRole('textbox')).toBeVisible();
  await bothSizes(page, 'project-delete');
});

test('assistants and prompts', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', shortAnswer);
  cli(home, 'prompts', 'new', 'Translate a text', 'Into {{language:English}}: {{text}}');
  cli(home, 'prompts', 'new', 'Review a change', 'Look at this change as a reviewer who is on call tonight would. Name what can fail, in the order of how bad it would be, and what you would measure first.');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await chat.composer.pressSequentially('/tra');
  await expect(page.getByRole('option', { selected: true })).toContainText('Translate a text');
  await bothSizes(page, 'prompt-by-slash');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Translate a text' })).toBeVisible();
  await bothSizes(page, 'prompt-form');
  await leave(page);
  await chat.composer.fill('');
  await page.getByRole('button', { name: 'Insert a prompt' }).click();
  await expect(page.getByRole('dialog', { name: 'Insert a prompt' })).toBeVisible();
  await bothSizes(page, 'prompt-list');
  await leave(page);
  await openSettings(page, 'Saved prompts');
  await expect(page.getByText('Review a change')).toBeVisible();
  await bothSizes(page, 'prompts');
  await page.getByRole('button', { name: 'New prompt' }).click();
  await expect(page.getByRole('dialog', { name: 'New prompt' })).toBeVisible();
  await bothSizes(page, 'prompt-editor');
  await leave(page);
  await page.keyboard.press('Escape');
  await openSettings(page, 'Assistants');
  await page.getByRole('button', { name: 'New assistant' }).click();
  const editor = page.getByRole('dialog', { name: 'New assistant' });
  await editor.getByRole('textbox', { name: 'Name' }).fill('Poet');
  await editor.getByRole('textbox', { name: 'Instructions' }).fill('Answer in rhymes.');
  await bothSizes(page, 'assistant-editor');
  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('list', { name: 'Assistants' })).toContainText('Answer in rhymes.');
  await bothSizes(page, 'assistants');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('group', { name: 'Start with an assistant' })).toBeVisible();
  await bothSizes(page, 'assistant-choices');
  await page.getByRole('group', { name: 'Start with an assistant' }).getByRole('button', { name: 'Poet' }).click();
  await chat.askAndWait(1, 'About the sea', shortAnswer);
  cli(home, 'assistants', 'set', 'Poet', '--instructions', 'Answer in prose.');
  await page.getByRole('button', { name: 'Assistant: Poet' }).click();
  await expect(page.getByRole('dialog', { name: /^Settings of/ })).toContainText('The settings of this session differ from the assistant.');
  await bothSizes(page, 'assistant-differs');
});

test('what the program knows', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', shortAnswer);
  const first = JSON.parse(cli(home, 'send', '--new', '--model', 'recall', '--wait', 'indexed', 'Always answer in French. Who are you?', '--json'));
  cli(home, 'pin', first.session_id, 'I live in Bern');
  await launch();
  await new Conversation(page).ready();
  await openSettings(page, 'What it knows');
  await expect(page.getByRole('article', { name: 'I live in Bern' })).toBeVisible();
  await bothSizes(page, 'knows-facts');
  for (const kind of ['Suggested', 'Instructions', 'Summaries']) {
    await page.getByRole('radio', { name: kind }).click();
    await expect(page.getByRole('article').first().or(page.getByText('Nothing yet'))).toBeVisible();
    await bothSizes(page, `knows-${kind.toLowerCase()}`);
  }
  await page.getByRole('radio', { name: 'Pinned facts' }).click();
  await page.getByRole('article', { name: 'I live in Bern' }).getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('dialog', { name: 'Edit' })).toBeVisible();
  await bothSizes(page, 'knows-edit');
  await leave(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+n');
  await expect(page.getByText('May earlier sessions help here?')).toBeVisible();
  await bothSizes(page, 'scope-question');
});

test('the first run with a local server', async ({ launch, page }) => {
  await page.addInitScript(() => localStorage.setItem('contextinfinity.layout', '{}')); // the default columns
  const server = await Provider.startAt(11434);
  try {
    server.models = ['llama3.2:3b', 'qwen3:8b'];
    server.answer('What can you do?', essay(3), { chunkSize: 12, holdAfter: 30 });
    await launch();
    await expect(page.getByRole('button', { name: 'Start with llama3.2:3b' })).toBeVisible();
    await bothSizes(page, 'first-start-server');
    await page.getByLabel('API key').fill(canaryKey);
    await page.getByRole('button', { name: 'Test the key' }).click();
    await expect(page.getByText(/provider cannot be determined from this key/)).toBeVisible();
    await bothSizes(page, 'first-start-key');
    await page.getByLabel('API key').fill('');
    await page.getByRole('button', { name: 'Start with llama3.2:3b' }).click();
    const chat = new Conversation(page);
    await chat.ready();
    await bothSizes(page, 'first-conversation');
    await chat.ask('What can you do?');
    await chat.waitForText(1, 200);
    await bothSizes(page, 'first-answer-arrives');
    server.release('What can you do?');
    await expect(chat.header).toContainText('Saved');
    await bothSizes(page, 'first-answer');
  } finally {
    await server.stop();
  }
});

/** Copies a test file of the importers into the home, and returns its path. */
function copyFixture(home: Home, fixture: string): string {
  const path = join(home.root, fixture.replace('/', '-'));
  copyFileSync(join(repository, 'backend/transfer/testdata', fixture), path);
  return path;
}

test('import, export, backups and deletions', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', essay(1));
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Where is the key?', 'step 2.');
  await page.keyboard.press('Control+o');
  const dialog = page.getByRole('dialog', { name: 'Import history' });
  const notes = join(home.root, 'notes.md');
  writeFileSync(notes, '# Notes\n\nThe lamp is lit at dusk.\n');
  for (const path of [copyFixture(home, 'chatgpt/branches.json'), copyFixture(home, 'chatgpt/broken.json'), notes]) {
    await dialog.getByRole('textbox', { name: 'Path of a file' }).fill(path);
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('list', { name: 'Files' })).toContainText(path.slice(path.lastIndexOf('/') + 1));
  }
  await bothSizes(page, 'import-files');
  await page.getByRole('button', { name: 'Import 2 files' }).click();
  await expect(page.getByRole('region', { name: 'Import chatgpt-broken.json' })).toContainText(/not read/);
  await expect(page.getByRole('region', { name: 'Import chatgpt-branches.json' })).toContainText(/created/);
  await bothSizes(page, 'import-report');
  await leave(page);
  await page.keyboard.press('Control+e');
  const exportDialog = page.getByRole('dialog', { name: 'Export' });
  await exportDialog.getByRole('textbox').first().fill(join(home.root, 'out.md'));
  await page.keyboard.press('Tab');
  await exportDialog.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(exportDialog.getByRole('button', { name: 'Another export' })).toBeVisible();
  await bothSizes(page, 'export-done');
  await leave(page);
  await pictureOpened(page, 'more-menu', async () => {
    await openSessions(page);
    await page.getByRole('button', { name: 'More: import, export, theme' }).click();
  }, async () => {
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  });
  await runCommand(page, 'Show tasks: imports, exports, backups');
  await bothSizes(page, 'tasks');
  await leave(page);

  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('button', { name: /^Where is the key/ }).first().click();
  await chat.askAndWait(2, 'And the other?', 'step 2.');
  await expect(chat.turn(2)).toHaveAccessibleName(/, saved/);
  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: 'Delete this turn permanently…' }).click();
  const deletion = page.getByRole('dialog', { name: /^Delete #1/ });
  await deletion.getByLabel(/^To delete it/).fill('delete');
  await bothSizes(page, 'delete-turn');
  await page.keyboard.press('Enter');
  const receipt = page.getByRole('dialog', { name: 'The turn was permanently deleted' });
  await expect(receipt).toBeVisible();
  await bothSizes(page, 'delete-receipt');
  await receipt.getByRole('button', { name: 'Done' }).click();
  await bothSizes(page, 'turn-deleted');

  await openSettings(page, 'Data and backups');
  await page.getByRole('button', { name: 'Back up now…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Back up', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Done' })).toBeVisible();
  await bothSizes(page, 'back-up-done');
  await page.getByRole('button', { name: 'Done' }).click();
  const backup = page.getByRole('list', { name: 'Backups' }).getByRole('listitem').filter({ hasText: 'Manual' });
  await page.getByRole('button', { name: 'Check all' }).click();
  await expect(backup).toContainText('Checked');
  await backup.scrollIntoViewIfNeeded();
  await bothSizes(page, 'backups');
  await page.getByRole('button', { name: 'Check everything' }).click();
  await expect(page.getByText('No problems found. Every record is intact.')).toBeVisible();
  await page.getByRole('list', { name: 'Receipts' }).scrollIntoViewIfNeeded();
  await bothSizes(page, 'receipts');
  await backup.getByRole('button', { name: /^Restore/ }).click();
  await expect(page.getByRole('dialog', { name: 'Restore a backup' })).toContainText('The backup was verified: no problems found');
  await bothSizes(page, 'restore');
});

test('the inspector, with the views that its tabs open', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await seedHistory(page, provider, 8);
  await expect(chat.turn(8)).toHaveAccessibleName(/, saved/);
  const panel = page.getByRole('tabpanel');
  const selectBranch = async () => {
    await runCommand(page, 'Show the branches');
    await page.getByRole('searchbox', { name: 'Find a turn or branch' }).fill('triggers');
    await expect(panel.getByRole('region', { name: /^Selected: / })).toBeVisible();
  };
  await pictureOpened(page, 'branches-selected', selectBranch);
  const openMenu = async () => {
    await selectBranch();
    await panel.getByRole('button', { name: 'More' }).click();
  };
  await pictureOpened(page, 'branches-menu', openMenu);
  await openMenu();
  await page.getByRole('menuitem', { name: 'What would be sent' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await bothSizes(page, 'would-be-sent');
  await leave(page);

  await runCommand(page, 'Show the state summary and its history');
  await expect(panel.getByText('Validation')).toBeVisible();
  for (const name of ['Validation', 'History'] as const) {
    // The panel is drawn again when a state arrives.
    await expect(() => panel.getByText(name, { exact: true }).scrollIntoViewIfNeeded()).toPass();
    await bothSizes(page, `state-${name.toLowerCase()}`);
  }
  const openState = () => runCommand(page, 'Show the state summary and its history');
  await pictureOpened(page, 'state-sides', async () => {
    await openState();
    const sides = panel.getByRole('radio', { name: 'Side by side' });
    await sides.click();
    await sides.evaluate((radio) => radio.scrollIntoView({ block: 'start' }));
  });
  await pictureOpened(page, 'pin-editor', async () => {
    await openState();
    await panel.getByRole('button', { name: 'Edit fact 1' }).click();
    await expect(panel.getByRole('textbox')).toBeFocused();
  });
  await pictureOpened(page, 'roll-back', async () => {
    await openState();
    await panel.getByRole('row').filter({ hasText: '#3' }).getByRole('button').click();
    await panel.getByRole('button', { name: /^Roll back/ }).first().click();
    await expect(page.getByRole('dialog', { name: /^Roll back/ })).toBeVisible();
  });

  await panels.find(({ name }) => name === 'activity-charts')?.show(page);
  await panel.getByRole('button', { name: 'Numbers of Time by part' }).click();
  await bothSizes(page, 'activity-numbers');
  const row = panel.getByRole('button', { name: '#8', exact: true });
  await row.scrollIntoViewIfNeeded();
  await row.click();
  await expect(panel.getByText(/^Step 1/).first()).toBeVisible();
  await row.evaluate((element) => element.scrollIntoView({ block: 'start' }));
  await bothSizes(page, 'activity-turn');

  await panels.find(({ name }) => name === 'xray-saw')?.show(page);
  await panel.locator('summary', { hasText: 'Original turns' }).click();
  await bothSizes(page, 'xray-section');
  await panel.getByRole('radio', { name: 'Raw' }).click();
  await panel.getByRole('tab', { name: /^Events/ }).click();
  await expect(panel.getByRole('tab', { name: /^Events/, selected: true })).toBeVisible();
  await bothSizes(page, 'xray-events');
});

test('a smaller model, a pressed shortcut, a working key, a renamed session', async ({ home, provider, launch, page }) => {
  home.configure(provider, `\n[models.small]\nprovider = "openai"\nmodel_id = "small-1"\nbase_url = "${provider.url}/v1"\napi_key_env = "CONTEXTINFINITY_E2E_KEY"\ncontext_limit = 4000\nmax_output = 500\n`);
  provider.answer('', essay(1), { inputTokens: 400 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  const seed = await Seed.session(page, 'A long talk');
  for (let step = 1; step <= 12; step++) await seed.send(`What about step ${step}? ${'It has to be looked at from all sides. '.repeat(30)}`);
  await page.reload();
  await page.getByRole('navigation', { name: 'Sessions' }).locator(`[data-session="${seed.session}"]`).click();
  await chat.ready();
  await page.getByRole('banner').locator('[data-field="model"]').click();
  await page.getByRole('dialog', { name: 'Model and effort' }).getByRole('button', { name: /^small/ }).click();
  await expect(page.getByRole('dialog', { name: /small/ })).toBeVisible();
  await bothSizes(page, 'switch-model');
  await leave(page);

  await openSettings(page, 'Keyboard');
  await page.getByRole('button', { name: /^Shortcuts? for Search all sessions/ }).click();
  await expect(page.getByText('Press the new shortcut…')).toBeVisible();
  await bothSizes(page, 'shortcut-recording');
  await page.keyboard.press('Control+j');
  await expect(page.getByRole('button', { name: 'Use it here' })).toBeVisible();
  await bothSizes(page, 'shortcut-taken');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await openSettings(page, 'Providers and keys');
  await page.locator('main').getByRole('button', { name: /^Test 127/ }).click();
  await expect(page.getByText(/^Works/).first()).toBeVisible();
  await bothSizes(page, 'provider-tested');
  await page.keyboard.press('Escape');

  await runCommand(page, 'Rename this session');
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeVisible();
  await bothSizes(page, 'rename-session');
});

test('the quick-ask window', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('What is the capital of Norway?', 'Oslo.');
  // Gives the page the startup information of a quick-ask window. The window tests cover its process.
  await page.addInitScript(() => {
    let go: { api: { Settings: { Startup: () => Promise<object> } } };
    Object.defineProperty(window, 'go', {
      get: () => go,
      set: (value) => {
        go = value;
        queueMicrotask(() => {
          const { Settings } = go.api;
          const startup = Settings.Startup;
          Settings.Startup = async () => ({ ...(await startup()), quick: true });
        });
      },
    });
  });
  await launch();
  await page.setViewportSize({ width: 680, height: 480 });
  await expect(page.getByRole('heading', { name: 'Quick ask' })).toBeVisible();
  const chat = new Conversation(page);
  await picture(page, 'quick-ask');
  await chat.composer.fill('What is the capital of Norway?');
  await chat.composer.press('Enter');
  await expect(chat.answer(1)).toContainText('Oslo.');
  await picture(page, 'quick-ask-answered');
});
