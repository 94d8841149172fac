import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { canaryKey } from '../harness/home.ts';
import { overlays, panels, runCommand, temporary, tour, visitSettings } from '../harness/screens.ts';
import { configureTools, connectPrograms, connectServers, decideWithClick, decideWithKey, elicit, isServerInstalled, toolScreens } from '../harness/toolscreens.ts';
import { essay, Seed, seedHistory, writeTenThousandTurns } from '../harness/seed.ts';
import { Conversation } from '../browser/conversation.ts';
import { bothSizes, eachSize, picture } from './shots.ts';

// The first part of `make screens`: takes a picture of every screen for review. These are not tests, and the pictures
// are not committed. features.spec.ts and conversation.spec.ts show each feature in use.
const longTurns = 40;

test.use({ deviceScaleFactor: 1 });

/** Takes pictures of dialogs that the settings open. */
async function takeSettingsDialogs(page: Page): Promise<void> {
  for (const [settingsName, button, name] of [['Models', 'Add a model', 'model-form'], ['Providers and keys', 'Add a compatible server', 'server-form'], ['Data and backups', 'Move…', 'move-data']] as const) {
    await page.keyboard.press('Control+,');
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: settingsName }).click();
    await page.getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await picture(page, name);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  }
}

test('the first run', async ({ launch, page }) => {
  await launch();
  await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
  await bothSizes(page, 'first-start');
});

test('without sessions', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const requireTurns = ['memory-results', 'activity-charts', 'xray-saw', 'xray-raw'];
  const workWithoutTurns = ['palette', 'branch-switcher', 'session-settings', 'shortcuts', 'no-results', 'no-commands'];
  await eachSize(page, async () => {
    await tour(page, panels.filter(({ name }) => !requireTurns.includes(name)), (name) => picture(page, `empty-${name}`));
    await tour(page, overlays.filter(({ name }) => workWithoutTurns.includes(name)), (name) => picture(page, `empty-${name}`));
    await page.keyboard.press('Control+Shift+F');
    await picture(page, 'empty-search');
    await page.keyboard.press('Escape');
    await visitSettings(page, (name) => picture(page, name));
    await takeSettingsDialogs(page);
    await tour(page, [temporary], (name) => picture(page, name));
  });
});

test('with a long history', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await seedHistory(page, provider, longTurns);
  await expect(chat.turn(longTurns)).toBeVisible();
  await eachSize(page, async () => {
    await tour(page, panels, (name) => picture(page, `long-${name}`));
    await tour(page, overlays, (name) => picture(page, `long-${name}`));
  });
  for (const title of ['Runbook for', 'What the new cluster']) {
    await page.getByRole('navigation', { name: 'Sessions' }).getByRole('button', { name: new RegExp(`^${title}`) }).click();
    await expect(chat.turn(1)).toHaveAccessibleName(/incomplete|failed/);
    await expect(page.locator('.plot canvas').first()).toBeVisible();
    await bothSizes(page, title.startsWith('Runbook') ? 'turn-incomplete' : 'turn-failed');
  }
});

test('during work, and after a crash', async ({ home, provider, launch, page }) => {
  // The answer to the librarian is held, so that a turn stays pending. With the default timeout of 30 s the turn would
  // be committed without it.
  home.configure(provider, '\n[librarian]\nmodel = "mock"\ntimeout_s = 600\n\n[stream]\nfsync_ms = 4000\n');
  provider.answer('Write the updated memory.', 'never read', { holdAfter: 0 });
  provider.answer('Plan the tests', essay(3));
  provider.answer('Tell it slowly', essay(1).repeat(3), { chunkSize: 9, holdAfter: [60, 70] });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Plan the tests');
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, pending');
  await page.getByRole('tab', { name: /^State/ }).click();
  await bothSizes(page, 'turn-pending');
  await chat.ask('Tell it slowly');
  await chat.waitForText(2, 300);
  provider.release('Tell it slowly');
  await expect(chat.header).toContainText('buffered');
  await bothSizes(page, 'turn-responding');
  await program.crash();

  await launch();
  await expect(chat.turn(2)).toHaveAccessibleName(/incomplete/i);
  await page.getByRole('tab', { name: /^Activity/ }).click();
  await bothSizes(page, 'recovered');
});

test('suggestions: a pin, and a model embedder', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('always answer in metric units', 'Metric units it is.');
  await launch({ OPENAI_API_KEY: canaryKey }); // an available embedder; no request of a test reaches the vendor
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'From now on, always answer in metric units', 'Metric units it is.');
  await expect(chat.turn(1)).toHaveAccessibleName(/head|saved|latest/i);
  await expect(page.getByText(/^Pin for every request/)).toBeVisible();
  await eachSize(page, async () => {
    await tour(page, panels.filter(({ name }) => ['conversation', 'memory', 'state'].includes(name)), (name) => picture(page, `suggested-${name}`));
  });
  await runCommand(page, 'Show the memory');
  await page.getByRole('button', { name: 'Show cost and time…' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await bothSizes(page, 'embedder-review');
});

test('tools, their servers, and other programs', async ({ home, provider, launch, page }) => {
  test.skip(!isServerInstalled, 'the MCP servers of test/mcp are not installed (scripts/setup test)');
  const folder = configureTools(home, provider, 'run_commands = true\n');
  const file = join(folder, 'alerts.yml');
  writeFileSync(file, 'alert: drift\nfor: 5m\nthreshold: 10\nlabels:\n  severity: page\n');
  provider.callsTools('Raise the threshold', 'I read how it is, and write it.', [
    { name: 'everything__echo', arguments: { message: 'threshold: 10' } },
    { name: 'write_file', arguments: { path: file, content: 'alert: drift\nfor: 5m\nthreshold: 100\nlabels:\n  severity: page\n' } },
  ], 'It is 100 now.');
  provider.callsTools('Run the repair', 'I run it.', [{ name: 'run_command', arguments: { command: 'sleep 600', folder, timeout_s: 600 } }], 'As you found it.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await eachSize(page, () => tour(page, [{ name: 'servers-none', show: async () => {
    await page.keyboard.press('Control+,');
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name: 'Tools', exact: true }).click();
    await expect(page.getByText('No tool servers')).toBeVisible();
  } }], (name) => picture(page, name)));
  await connectServers(page);
  await connectPrograms(page, home);
  await eachSize(page, () => tour(page, toolScreens, (name) => picture(page, name)));
  await elicit(page, provider);
  await bothSizes(page, 'elicitation');
  await page.getByRole('button', { name: 'Decline' }).click();
  await expect(chat.answer(1)).toContainText('Thank you.');

  await chat.ask('Raise the threshold');
  await expect(page.getByText('2 tool calls wait for you')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Call to write_file' })).toBeInViewport(); // checked because this picture was once blank
  await bothSizes(page, 'calls-wait');
  await page.keyboard.press('Control+Shift+A');
  await expect(page.getByRole('dialog', { name: '2 tool calls wait for you' })).toBeVisible();
  await bothSizes(page, 'calls-queue');
  await decideWithKey(page, 'O');
  await expect(page.getByRole('dialog', { name: '1 tool call waits for you' })).toBeVisible();
  await decideWithKey(page, 'O');
  await expect(chat.answer(2)).toContainText('It is 100 now.');
  await bothSizes(page, 'calls-done');

  await chat.ask('Run the repair');
  const card = page.getByRole('region', { name: 'Call to run_command' });
  await decideWithClick(card, /^Allow once/);
  await expect(card).toContainText('Running');
  await bothSizes(page, 'call-runs');
  await program.crash();
  await launch();
  await expect(card).toContainText('Outcome unknown');
  await bothSizes(page, 'call-unknown');
});

test('long names', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Name it', 'It has a name.');
  await launch();
  await new Conversation(page).ready();
  const long = 'A title that somebody wrote out in full because it had to say which of the forty migrations this was about, and when, and Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';
  const seed = await Seed.session(page, long);
  const first = await seed.send('Name it');
  const fork = await seed.fork(first, 'a branch whose label is as long as labels may become, and says what was tried there');
  await fork.send('Name it');
  await fork.open();
  await page.reload();
  await page.getByRole('navigation', { name: 'Sessions' }).locator(`[data-session="${seed.session}"]`).click();
  await eachSize(page, async () => {
    await tour(page, panels.filter(({ name }) => ['conversation', 'branches', 'activity'].includes(name)), (name) => picture(page, `names-${name}`));
    await tour(page, overlays.filter(({ name }) => ['branch-switcher', 'export', 'delete', 'session-settings'].includes(name)), (name) => picture(page, `names-${name}`));
  });
});

test('ten thousand turns', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  writeTenThousandTurns(home);
  await launch();
  await page.getByRole('navigation').getByText('Ten thousand turns').first().click();
  const chat = new Conversation(page);
  await chat.ready();
  await expect(chat.turn(10_000)).toBeInViewport();
  await eachSize(page, () => tour(page, panels.filter(({ name }) => ['conversation', 'branches', 'state', 'xray'].includes(name)), (name) => picture(page, `many-${name}`)));
});

test('a temporary chat with an answer, and data that cannot be opened', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Show me', essay(0));
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await temporary.show(page);
  await chat.composer.fill('Show me');
  await chat.composer.press('Enter');
  await expect(chat.turn(1)).toContainText('Answered, not kept');
  await bothSizes(page, 'temporary-answered');
  await temporary.leave?.(page);
  await expect(page.getByRole('dialog')).toBeVisible();
  await bothSizes(page, 'temporary-leave');
  await program.crash();

  for (const name of readdirSync(home.dataDir).filter((file) => file.endsWith('.db'))) writeFileSync(join(home.dataDir, name), 'no database');
  await launch();
  await expect(page.getByRole('heading', { name: 'Your conversations could not be opened' })).toBeVisible();
  await bothSizes(page, 'cannot-open');
});

test('a lost database, and an empty history in its place', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Remember me', 'It is noted.');
  const program = await launch();
  await new Conversation(page).askAndWait(1, 'Remember me', 'It is noted.');
  await program.crash();
  for (const name of readdirSync(home.dataDir).filter((file) => /\.db(-wal|-shm)?$/.test(file))) rmSync(join(home.dataDir, name));
  await launch();
  await expect(page.getByRole('heading', { name: 'Your conversations could not be opened' })).toBeVisible();
  await bothSizes(page, 'lost');
  await page.getByRole('button', { name: 'Start fresh…' }).click();
  await bothSizes(page, 'lost-start-fresh');
  await page.getByRole('button', { name: 'Start fresh', exact: true }).click();
  await expect(page.getByRole('dialog')).toContainText('replaced');
  await bothSizes(page, 'lost-kept');
});
