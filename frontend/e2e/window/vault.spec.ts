import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { canaryKey, Home } from '../harness/home.ts';
import { cli } from '../harness/fixtures.ts';
import { built, until } from '../harness/process.ts';
import { Desktop } from './desktop.ts';
import { completeFirstRun, conversationText, sendMessage, test } from './fixtures.ts';

const folderField = 'dialog input';
const passwordField = 'dialog input[type="password"]';

test('two computers share a folder: each window shows what the other wrote, a deletion arrives, the folder has no word of it, and one removes the other', async ({ home, provider, open, vendors }) => {
  const vault = join(home.root, 'vault');
  mkdirSync(vault);
  const passphrase = 'correct horse battery';
  const later = 'purple staple lantern';
  provider.answer('Where is the xylocanary?', 'The xylocanary sings at home.');
  provider.answer('And at night?', 'At night the xylocanary sleeps elsewhere.');
  home.configure(provider);
  const first = await open();
  await completeFirstRun(first);
  await sendMessage(first, 'Where is the xylocanary?');
  await until('the first answer', async () => (await conversationText(first)).includes('sings at home'));

  const [{ session_id: session }] = JSON.parse(cli(home, 'sessions', '--json')).sessions;

  await openSync(first);
  await first.page.press('Connect a vault');
  await first.page.type(folderField, vault);
  await first.page.press('Continue', 'dialog');
  const code = await confirmCode(first);
  await first.page.press('Continue', 'dialog');
  await until('the passphrase', () => first.page.has(passwordField));
  await first.page.type(passwordField, passphrase);
  await first.page.keys('\uE004');
  await first.page.paste(passphrase);
  await first.page.press('Create the vault', 'dialog');
  await inStep(first);

  const other = new Home();
  let second: Desktop | undefined;
  try {
    other.configure(provider);
    second = await Desktop.start(other, built('contextinfinity'), vendors.env);
    await completeFirstRun(second);
    await openSync(second);
    await second.page.press('Connect a vault');
    await second.page.type(folderField, vault);
    await second.page.press('Continue', 'dialog');
    await until('the passphrase', () => second!.page.has(passwordField));
    await second.page.type(passwordField, passphrase);
    await second.page.press('Join the vault', 'dialog');
    await inStep(second);
    await second.page.press('Close settings');
    await second.page.click(`[data-session="${session}"]`);
    await until('the first part', async () => (await conversationText(second!)).includes('sings at home'));
    await sendMessage(second, 'And at night?');
    await until('the second part', async () => (await conversationText(second!)).includes('sleeps elsewhere'));

    await first.page.press('Close settings');
    await until('the first window shows both parts as one conversation', async () => {
      cli(home, 'sync');
      return /sings at home[^]*sleeps elsewhere/.test(await conversationText(first));
    });
    for (const each of [home, other]) expect(cli(each, 'verify')).toContain('No problems found');
    expect(cli(other, 'show', session)).toBe(cli(home, 'show', session));
    expect(latestState(other, session)).toBe(latestState(home, session));
    const files = filesIn(vault);
    expect(files.length).toBeGreaterThan(3);
    for (const text of ['xylocanary', 'night', canaryKey, passphrase, code]) expect(files.filter((file) => readFileSync(file).includes(text))).toEqual([]);

    cli(other, 'delete', session, '--hard', '--yes');
    await until('the first window has no such session', async () => {
      cli(home, 'sync');
      return !(await first.page.has(`[data-session="${session}"]`));
    });
    expect(home.filesContaining('sleeps elsewhere')).toEqual([]);

    await openSync(first);
    await first.page.press('Remove', '.sync li');
    for (const [i, text] of [passphrase, later, later].entries()) {
      if (i > 0) await first.page.keys('\uE004');
      else await until('the passphrase', () => first.page.has(passwordField));
      await first.page.paste(text);
    }
    await first.page.press('Continue', 'dialog');
    const newCode = await confirmCode(first);
    await first.page.press('Remove', 'dialog');
    await until('the computer is removed', async () => !(await first.page.has('dialog')) && /removed/i.test(await first.page.text('.sync ul')));
    expect(() => cli(other, 'sync')).toThrow(/passphrase/);
    for (const file of filesIn(vault)) for (const text of [later, newCode]) expect(readFileSync(file).includes(text), file).toBe(false);
  } finally {
    await second?.cleanUp();
    other.remove();
  }
});

/** Opens the settings at the vault. */
async function openSync({ page }: Desktop): Promise<void> {
  await page.keys('\uE009', ',');
  await page.press('Several computers', 'nav[aria-label="Settings"]');
}

/** Types the last group of the recovery code that a dialog shows. */
async function confirmCode({ page }: Desktop): Promise<string> {
  const code = await until('the recovery code', async () => /(?:[0-9A-Z]+-){5,}[0-9A-Z]+/.exec(await page.text('dialog'))?.[0]);
  await page.type('dialog input', code.split('-').at(-1)!);
  return code;
}

async function inStep({ page }: Desktop): Promise<void> {
  await until('all is in step', async () => (await page.text('.sync [role="status"]')).includes('In step.'));
}

function latestState(home: Home, session: string): string {
  return JSON.stringify(JSON.parse(cli(home, 'states', session, '--json')), null, 1);
}

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
