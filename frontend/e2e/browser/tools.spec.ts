import type { Page } from '@playwright/test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectFits, inspect } from '../harness/axe.ts';
import { cli, expect, test } from '../harness/fixtures.ts';
import { untilCardDecides } from '../harness/process.ts';
import { waitUntilSettled } from '../harness/reach.ts';
import { tour } from '../harness/screens.ts';
import { variants } from '../harness/tier.ts';
import { configureTools, connectPrograms, connectServers, decideWithClick, decideWithKey, elicit, isServerInstalled, toolScreens } from '../harness/toolscreens.ts';
import { Conversation } from './conversation.ts';

const card = (page: Page, tool: string) => page.getByRole('region', { name: `Call to ${tool}` });
const queue = (page: Page) => page.getByRole('dialog', { name: /wait|outcome/ });

test('a call waits for a decision, is allowed with the keyboard, and shows its result in its card', async ({ home, provider, launch, page }) => {
  const folder = configureTools(home, provider, 'run_commands = true\n');
  writeFileSync(join(folder, 'alerts.yml'), 'alert: drift\nthreshold: 10\n');
  provider.callsTools('Raise the threshold', 'I write it.', [{ name: 'write_file', arguments: { path: join(folder, 'alerts.yml'), content: 'alert: drift\nthreshold: 100\n' } }], 'It is 100 now.');
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Raise the threshold');

  await expect(card(page, 'write_file')).toContainText('Waits for you');
  await expect(page.getByText('1 tool call waits for you')).toBeVisible();
  await expect(chat.header).toContainText('Waiting for you');
  await expect(chat.composer).toBeFocused(); // a waiting call never takes the focus
  expect(readFileSync(join(folder, 'alerts.yml'), 'utf8')).toContain('threshold: 10\n');
  await expect(card(page, 'write_file').getByRole('group', { name: /^Changes/ })).toContainText('threshold: 100');
  await inspect(page, 'a waiting call');

  await page.keyboard.press('Control+Shift+A');
  await expect(queue(page).getByRole('button', { expanded: true })).toBeFocused();
  await inspect(page, 'the queue');
  await page.setViewportSize({ width: 900, height: 600 });
  await expectFits(page);
  await untilCardDecides();
  await page.keyboard.type('so add another one'); // like a message typed into the queue by mistake
  await expect(queue(page)).toContainText('write_file');
  await queue(page).getByRole('heading', { level: 2 }).click(); // after a click on a place without a control, the keys still work
  await decideWithKey(page, 'O');
  await expect(queue(page)).toBeHidden();
  await expect(chat.answer(1)).toContainText('It is 100 now.');
  await expect(card(page, 'write_file')).toContainText(/Done in/);
  await expectFits(page);
  expect(readFileSync(join(folder, 'alerts.yml'), 'utf8')).toContain('threshold: 100\n');
  await inspect(page, 'a finished call');
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a denied call does not run, and the model continues', async ({ home, provider, launch, page }) => {
  const folder = configureTools(home, provider, 'run_commands = true\n');
  provider.callsTools('Write it', 'I write it.', [{ name: 'write_file', arguments: { path: join(folder, 'new.txt'), content: 'x' } }], 'Then not.');
  const program = await launch();
  const chat = new Conversation(page);
  await expect(page.getByText(/^Can .* call tools\?$/)).toBeVisible();
  await chat.ask('Write it');
  await decideWithClick(card(page, 'write_file'), /^Deny/);
  await expect(chat.answer(1)).toContainText('Then not.');
  await expect(card(page, 'write_file')).toContainText('Denied');
  expect(existsSync(join(folder, 'new.txt'))).toBe(false);

  // After the model called a tool, the question is not shown again, neither in another session nor after a restart.
  const question = page.getByText(/^Can .* call tools\?$/);
  provider.answer('Hello', 'Good morning.');
  await page.keyboard.press('Control+N');
  await chat.askAndWait(1, 'Hello', 'Good morning.');
  await expect(question).toBeHidden();
  await program.stop();
  await launch();
  await expect(chat.answer(1)).toContainText('Good morning.');
  await expect(chat.header).toContainText('mock');
  await page.evaluate(waitUntilSettled); // the question would appear once the models and the tools are loaded
  await expect(question).toBeHidden();
});

test('after a crash during a call, its outcome is unknown, it does not run again, and the user says what it did', async ({ home, provider, launch, page }) => {
  const folder = configureTools(home, provider, 'run_commands = true\n');
  const outputFile = join(folder, 'ran');
  provider.callsTools('Run the repair', 'I run it.', [{ name: 'run_command', arguments: { command: `echo run >> ran; sleep 600`, folder, timeout_s: 600 } }], 'As you found it.');
  provider.answer('And now?', 'Now we go on.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Run the repair');
  await decideWithClick(card(page, 'run_command'), /^Allow once/);
  await expect(card(page, 'run_command')).toContainText(/Running/);
  await expect.poll(() => existsSync(outputFile)).toBe(true);
  await program.crash();

  await launch();
  await expect(card(page, 'run_command')).toContainText('Outcome unknown');
  await expect(card(page, 'run_command')).toContainText('It is not run again automatically');
  await inspect(page, 'an unknown outcome');
  expect(readFileSync(outputFile, 'utf8')).toBe('run\n');

  await page.keyboard.press('Control+Shift+A');
  await expect(queue(page).getByRole('button', { expanded: true })).toBeFocused();
  await decideWithKey(page, 'E');
  await queue(page).getByRole('textbox', { name: /What the call did/ }).fill('Twelve rows were repaired.');
  await page.keyboard.press('Control+Enter');
  await expect(chat.answer(1)).toContainText('As you found it.');
  await expect(card(page, 'run_command')).toContainText('Twelve rows were repaired.');
  await chat.askAndWait(2, 'And now?', 'Now we go on.');
  expect(readFileSync(outputFile, 'utf8')).toBe('run\n');
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('tools and decisions are listed in the settings, and decisions can be revoked there', async ({ home, provider, launch, page }) => {
  const folder = configureTools(home, provider, 'run_commands = true\n');
  provider.callsTools('Write it', 'I write it.', [{ name: 'write_file', arguments: { path: join(folder, 'new.txt'), content: 'x' } }], 'Then not.');
  await launch();
  const chat = new Conversation(page);
  await chat.ask('Write it');
  await decideWithClick(card(page, 'write_file'), /^Never/);
  await expect(chat.answer(1)).toContainText('Then not.');

  await page.keyboard.press('Control+,');
  const pages = page.getByRole('navigation', { name: 'Settings' });
  await pages.getByRole('button', { name: 'Tools', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Built in' })).toContainText('Never offered');
  await inspect(page, 'tools in the settings');
  await page.getByRole('button', { name: 'Forget: write_file' }).click();
  await expect(page.getByRole('region', { name: 'Built in' })).not.toContainText('Never offered');

  await expect(page.getByRole('heading', { level: 2, name: 'Tool servers' })).toBeVisible();
  await page.setViewportSize({ width: 900, height: 600 });
  await expectFits(page);
});

// 640 x 400 is a window of 1280 x 800 with the page zoomed to 200 %.
for (const size of variants({ width: 900, height: 600 }, { width: 640, height: 400 })) {
  test(`each screen about tools, servers and programs at ${size.width} x ${size.height}: no serious finding, and nothing wider than the window`, async ({ home, provider, launch, page }) => {
    test.skip(!isServerInstalled, 'the MCP servers of test/mcp are not installed (scripts/setup test)');
    configureTools(home, provider);
    await launch();
    const chat = new Conversation(page);
    await chat.ready();
    await connectServers(page);
    await connectPrograms(page, home);
    await page.setViewportSize(size);
    const check = async (name: string) => {
      await expectFits(page);
      await inspect(page, name);
    };
    await tour(page, toolScreens, check);
    await elicit(page, provider);
    await check('elicitation');
    await page.getByRole('button', { name: 'Decline' }).click();
    await expect(chat.answer(1)).toContainText('Thank you.');
  });
}

test('the user is asked once whether a model calls tools, and the answer is saved', async ({ home, provider, launch, page }) => {
  configureTools(home, provider);
  provider.answer('Hello', 'Good morning.');
  provider.answer('And now?', 'Without tools.');
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Hello', 'Good morning.');
  const sentTools = () => (provider.lastRequest() as { tools?: unknown[] }).tools ?? [];
  expect(sentTools()).not.toEqual([]); // until the user answers, tools are sent
  const question = page.getByText(/^Can .* call tools\?$/);
  await expect(question).toBeVisible();
  await expect(chat.composer).toBeFocused();
  await page.setViewportSize({ width: 900, height: 600 });
  await expectFits(page);
  await inspect(page, 'a question about a model');
  await page.getByRole('button', { name: 'No', exact: true }).press('Enter');
  await expect(question).toBeHidden();
  await chat.askAndWait(2, 'And now?', 'Without tools.');
  expect(sentTools()).toEqual([]);
  await program.stop();

  await launch();
  await expect(chat.answer(2)).toContainText('Without tools.');
  await expect(question).toBeHidden();
});
