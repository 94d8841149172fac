import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { waitForWindow } from './desktop.ts';
import { completeFirstRun, sendMessage, test, turnName } from './fixtures.ts';

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
