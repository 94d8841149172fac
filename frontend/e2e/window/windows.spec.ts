import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { built, until } from '../harness/process.ts';
import { Desktop, waitForWindow, windowOf } from './desktop.ts';
import { completeFirstRun, composer, conversationText, sendMessage, test } from './fixtures.ts';

const sessionTitles = ({ page }: Desktop) => page.run<string[]>(`return [...document.querySelectorAll('[data-session]')].map((row) => row.innerText.trim())`);

test('a second window shows another session, streams answers requested in the first, and takes over when the first one crashes', async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('From the first window', 'An answer for both.');
  provider.answer('From the second window', 'An answer in the second window.');
  const first = await open();
  await completeFirstRun(first);
  await sendMessage(first, 'From the first window');
  await until('the answer', async () => (await conversationText(first)).includes('An answer for both.'));

  const second = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--new-window']);
  try {
    await until('the page of the second window', () => second.page.has(composer));
    expect(second.pid).not.toBe(first.pid);
    // The second window lists the same sessions, although only the first process has the data open.
    await until('the session of the first window is listed', async () => (await sessionTitles(second)).length > 0);
    await second.page.run(`document.querySelector('[data-session]')?.click()`);
    await until('the message from the first window', async () => (await conversationText(second)).includes('An answer for both.'));
    await sendMessage(second, 'From the second window');
    await until('the answer in the second window', async () => (await conversationText(second)).includes('An answer in the second window.'));
    await until('the answer in the first window', async () => (await conversationText(first)).includes('An answer in the second window.'));

    await first.crash();
    // The second window restarts, and its process opens the data.
    await until('the second window has the data open', () => readFileSync(join(home.dataDir, 'writer.lock'), 'utf8').includes(String(second.pid)));
    expect(await waitForWindow(second.pid)).not.toBe('');
  } finally {
    await second.cleanUp().catch(() => undefined); // its driver lost the connection when it restarted
  }
});

test('closing the first window keeps the second one working, and closing the last one ends the program', async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('Still there?', 'Still there.');
  const first = await open();
  await completeFirstRun(first);
  const second = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--new-window']);
  try {
    await until('the page of the second window', () => second.page.has(composer));
    await first.pressClose();
    await until('the first window is hidden', () => windowOf(first.pid) === '');
    expect(first.running).toBe(true);
    await sendMessage(second, 'Still there?');
    await until('an answer', async () => (await conversationText(second)).includes('Still there.'));
    expect(await second.close()).toBe(true);
    await first.waitUntilEnded();
  } finally {
    await second.cleanUp();
  }
});
