import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { waitForWindow } from './desktop.ts';
import { completeFirstRun, conversationText, sendMessage, test, turnName } from './fixtures.ts';

test('a lost database: after “Start fresh” and a restart in the window, the same process creates an empty history', async ({ provider, open, home }) => {
  home.configure(provider);
  provider.answer('Remember me', 'It is noted.');
  let desktop = await open();
  await completeFirstRun(desktop);
  await sendMessage(desktop, 'Remember me');
  await until('the turn is committed', async () => /saved/.test(await turnName(desktop)));
  expect(await conversationText(desktop)).toContain('It is noted.');
  await desktop.crash();
  for (const name of readdirSync(home.dataDir).filter((file) => /\.db(-wal|-shm)?$/.test(file))) rmSync(join(home.dataDir, name));

  desktop = await open();
  await until('the page about lost data', async () => (await desktop.page.text('h1')).includes('could not be opened'));
  await desktop.page.press('Start fresh…');
  await until('the question', async () => (await desktop.page.text('dialog')).includes('Nothing is deleted'));
  await desktop.page.run(`[...document.querySelectorAll('dialog button')].find((button) => button.innerText.trim() === 'Start fresh').click()`);
  await until('the message that the old data is saved', async () => (await desktop.page.text('dialog')).includes('replaced'));
  await desktop.page.press('Restart').catch(() => undefined); // the page closes during the click, and the driver loses the connection
  // The same process restarts, and creates the new database before its window.
  await until('a new database', () => readdirSync(home.dataDir).includes('contextinfinity.db'));
  await waitForWindow(desktop.pid);
  expect(await desktop.close()).toBe(true);
  expect(JSON.parse(cli(home, 'sessions', '--json')).sessions ?? []).toEqual([]);
  expect(readdirSync(join(home.dataDir, 'replaced'))).toHaveLength(1);
});
