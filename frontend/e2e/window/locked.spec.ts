import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { foundInMemory } from '../harness/memory.ts';
import { built, processTree, repository, until } from '../harness/process.ts';
import { exhaustive } from '../harness/tier.ts';
import { Desktop, waitForWindow } from './desktop.ts';
import { completeFirstRun, conversationText, sendMessage, test, turnName } from './fixtures.ts';

test('sealed data: the window asks for the passphrase and opens it; no file, argument or variable has a word of it', async ({ provider, open, home }) => {
  const passphrase = 'correct horse battery';
  home.configure(provider, '[appearance]\ntheme = "dark"\n');
  provider.answer('Where is the xylocanary?', 'The xylocanary sings.');
  let desktop = await open();
  await completeFirstRun(desktop);
  await sendMessage(desktop, 'Where is the xylocanary?');
  await until('the turn is committed', async () => /saved/.test(await turnName(desktop)));
  expect(await desktop.close()).toBe(true);
  expect(home.filesContaining('xylocanary')).not.toEqual([]); // the search sees

  const secret = join(home.root, 'secret');
  writeFileSync(secret, passphrase);
  cli(home, 'encrypt', '--passphrase-file', secret, '--yes');
  writeFileSync(secret, '');
  desktop = await open();
  await until('the field', () => desktop.page.has('input[type="password"]'));
  expect(await desktop.page.run(`return document.documentElement.dataset.theme`)).toBe('dark');
  expect(await desktop.page.run(`return document.activeElement?.type`)).toBe('password');
  await desktop.page.type('input[type="password"]', 'wrong\uE007');
  await until('the words about it', async () => (await desktop.page.text()).includes('neither the passphrase nor the recovery code'));
  await desktop.page.paste(passphrase); // the wrong one is selected
  await desktop.page.keys('\uE007').catch(() => undefined); // the page closes
  await until('the program opens the data and serves other calls', () => {
    try {
      return cli(home, 'sessions', '--json').includes('xylocanary');
    } catch {
      return false;
    }
  });
  await waitForWindow(desktop.pid);
  for (const name of ['cmdline', 'environ']) expect(readFileSync(`/proc/${desktop.pid}/${name}`, 'utf8')).not.toContain(passphrase);
  await desktop.crash();
  for (const text of [passphrase, 'xylocanary']) expect(home.filesContaining(text)).toEqual([]);
});

test('sealed data is stored plain again from the settings, with the passphrase only, and is complete', exhaustive, async ({ provider, home, vendors }) => {
  const passphrase = 'correct horse battery';
  home.configure(provider);
  for (const text of ['The xylocanary sings.', 'The xylocanary sleeps.']) cli(home, 'send', '--new', '--model', 'recall', text);
  const titles = () => (JSON.parse(cli(home, 'sessions', '--json')).sessions as { title: string }[]).map(({ title }) => title);
  const before = titles();
  expect(before).toHaveLength(2);
  const secret = join(home.root, 'secret');
  writeFileSync(secret, passphrase);
  cli(home, 'encrypt', '--passphrase-file', secret, '--yes');
  expect(home.filesContaining('xylocanary')).toEqual([]);

  const desktop = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--passphrase-file', secret]);
  try {
    await until('the sessions', () => desktop.page.has('[data-session]'));
    await desktop.page.keys('\uE009', ',');
    await desktop.page.press('Data and backups', 'nav[aria-label="Settings"]');
    await desktop.page.press('Store it plain…');
    await until('the field', () => desktop.page.has('dialog input[type="password"]'));
    await desktop.page.type('dialog input[type="password"]', 'wrong\uE007');
    await until('the words about it', async () => (await desktop.page.text('dialog')).includes('neither the passphrase nor the recovery code of the data; nothing was changed'));
    expect(existsSync(join(home.dataDir, 'lock.json'))).toBe(true);
    await desktop.page.run(`document.querySelector('dialog input[type="password"]').select()`);
    await desktop.page.type('dialog input[type="password"]', `${passphrase}\uE007`).catch(() => undefined); // the page closes
    await until('the program has restarted with plain data', () => !existsSync(join(home.dataDir, 'lock.json')));
    await waitForWindow(desktop.pid);
    expect(titles()).toEqual(before);
    expect(cli(home, 'verify')).toBe('No problems found.\n');
  } finally {
    await desktop.cleanUp().catch(() => undefined); // its driver lost the connection when it restarted
  }
  expect(home.filesContaining('xylocanary')).not.toEqual([]);
});

/** The key of sealed data, as docs/encryption.md says how to open its lock. */
async function dataKey(home: Home, code: string): Promise<Buffer> {
  const { Decrypter } = await import(createRequire(join(repository, 'test/reader/read.mjs')).resolve('age-encryption'));
  const decrypter = new Decrypter();
  decrypter.addPassphrase(code);
  return Buffer.from(await decrypter.decrypt(Buffer.from(JSON.parse(readFileSync(join(home.dataDir, 'lock.json'), 'utf8')).recovery, 'base64')));
}

test('a locked program and its children have neither a word, nor the passphrase, nor the key in their memory', exhaustive, async ({ provider, open, home, vendors }) => {
  const passphrase = 'correct horse battery';
  home.configure(provider);
  provider.answer('Where is the xylocanary?', 'The xylocanary sings.');
  const plain = await open();
  await completeFirstRun(plain);
  await sendMessage(plain, 'Where is the xylocanary?');
  await until('the turn is committed', async () => /saved/.test(await turnName(plain)));
  expect(await plain.close()).toBe(true);
  const secret = join(home.root, 'secret');
  writeFileSync(secret, passphrase);
  const { recovery_code: code } = JSON.parse(cli(home, 'encrypt', '--passphrase-file', secret, '--yes', '--json'));
  const sought = { word: 'xylocanary', passphrase, code, key: await dataKey(home, code) };

  const desktop = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--passphrase-file', secret]);
  try {
    await until('the sessions', () => desktop.page.has('[data-session]'));
    await desktop.page.run(`document.querySelector('[data-session]').click()`);
    await until('the answer', async () => (await conversationText(desktop)).includes('The xylocanary sings.'));
    writeFileSync(secret, ''); // the file of an open program may be gone
    const [program, ...children] = processTree(desktop.pid).map((pid) => foundInMemory(pid, sought)); // the search sees
    expect(program).toEqual(['key', 'passphrase', 'word']);
    expect(children.flat()).toContain('word');

    const before = processTree(desktop.pid).slice(1);
    await desktop.page.keys('\uE009', ',');
    await desktop.page.press('Data and backups', 'nav[aria-label="Settings"]');
    await desktop.page.press('Lock now').catch(() => undefined); // the page closes
    await until('the locked program has a page', () => processTree(desktop.pid).some((pid) => pid !== desktop.pid && !before.includes(pid) && isPage(pid)));
    await waitForWindow(desktop.pid);
    await until('the earlier page has ended', () => !before.some(isPage));
    for (const pid of processTree(desktop.pid)) expect(foundInMemory(pid, sought), `process ${pid}: ${name(pid)}`).toEqual([]);
    expect(() => cli(home, 'sessions', '--json')).toThrow();
  } finally {
    await desktop.cleanUp().catch(() => undefined); // its driver lost the connection when it restarted
  }
});

/** The command of a process; empty: it has ended. */
function name(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const isPage = (pid: number) => name(pid).includes('WebKitWebProcess');
