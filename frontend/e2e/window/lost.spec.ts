import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { waitForWindow } from './desktop.ts';
import { pastFirstStart, said, say, test, turnName } from './fixtures.ts';

test('a lost database: start fresh and restart, in the window; the program creates an empty history in the same process', async ({ provider, open, home }) => {
  home.configure(provider);
  provider.answer('Remember me', 'It is noted.');
  let desktop = await open();
  await pastFirstStart(desktop);
  await say(desktop, 'Remember me');
  await until('the turn is committed', async () => /saved/.test(await turnName(desktop)));
  expect(await said(desktop)).toContain('It is noted.');
  await desktop.crash();
  for (const name of readdirSync(home.dataDir).filter((file) => /\.db(-wal|-shm)?$/.test(file))) rmSync(join(home.dataDir, name));

  desktop = await open();
  await until('the page of lost data', async () => (await desktop.page.text('h1')).includes('could not be opened'));
  await desktop.page.press('Start fresh…');
  await until('the question', async () => (await desktop.page.text('dialog')).includes('Nothing is deleted'));
  await desktop.page.run(`[...document.querySelectorAll('dialog button')].find((button) => button.innerText.trim() === 'Start fresh').click()`);
  await until('the saved text', async () => (await desktop.page.text('dialog')).includes('replaced'));
  await desktop.page.press('Restart').catch(() => undefined); // the page ends during the click, and the driver loses it
  // The same process restarts: only it creates the new database, and then its window.
  await until('a new database', () => readdirSync(home.dataDir).includes('contextinfinity.db'));
  await waitForWindow(desktop.pid);
  expect(await desktop.close()).toBe(true);
  expect(JSON.parse(verb(home, 'sessions', '--json')).sessions ?? []).toEqual([]);
  expect(readdirSync(join(home.dataDir, 'replaced'))).toHaveLength(1);
});
