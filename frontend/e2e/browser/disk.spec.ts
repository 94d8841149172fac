import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, expect, test } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { exhaustive } from '../harness/tier.ts';
import { Conversation, prose } from './conversation.ts';
import { byteCounts, head, parseByteCounts } from './recovery.ts';

/** How the window reports a disk that is full or fails: what happened, what is safe, what to do. */

test.use({ isOnDisk: true });
test.beforeEach(({ home, provider }) => home.configure(provider));

/** The disk of a home, which a test can make appear full. */
function simulatedDisk(home: Home) {
  const full = join(home.root, 'full');
  return {
    env: { CONTEXTINFINITY_FAULT_FULL: full },
    fill: () => writeFileSync(full, ''),
    free: () => rmSync(full),
  };
}

test('on a full disk no message is accepted, the window says so and keeps the text, and sending works again when there is space', async ({ home, provider, launch, page }) => {
  const { env, fill, free } = simulatedDisk(home);
  provider.answer('First', 'One answer.');
  provider.answer('Second, on a full disk', 'Another answer.');
  await launch(env);
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'First', 'One answer.');
  await expect(chat.turn(1)).toHaveAccessibleName(/saved, latest/);
  // The head changes again when the turn is committed; the comparison below needs the head after that.
  await expect.poll(() => head(chat)).toMatch(/^Head: #1 /);
  const before = await head(chat);

  fill();
  await chat.composer.fill('Second, on a full disk');
  await expect(page.getByRole('status').filter({ hasText: 'Not saved yet' })).toContainText(/disk is full|no space/i);
  await chat.composer.press('Enter');
  const refused = page.getByRole('alert');
  await expect(refused).toContainText(/disk is full|no space/i);
  await expect(refused).toContainText('Your text is still here');
  await expect(refused).not.toContainText('"code"'); // not the JSON of the error
  await expect(chat.composer).toHaveValue('Second, on a full disk');
  await expect(page.getByRole('article', { name: /^Turn/ })).toHaveCount(1);
  expect(provider.questions()).toHaveLength(1);
  expect(await head(chat)).toBe(before);

  free();
  await chat.composer.press('Enter');
  await chat.expectAnswer(2, 'Another answer.');
  await expect(chat.turn(2)).toHaveAccessibleName(/saved, latest/);
  await expect(refused).toBeHidden();
  await expect(chat.composer).toHaveValue('');
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a disk that is full at the start: the window opens the data read-only, and accepts no message', async ({ home, provider, launch, page }) => {
  const { env, fill, free } = simulatedDisk(home);
  provider.answer('First', 'One answer.');
  provider.answer('Second', 'Another answer.');
  const program = await launch(env);
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'First', 'One answer.');
  await expect(chat.turn(1)).toHaveAccessibleName(/saved, latest/);
  await program.stop();

  fill();
  const readOnly = await launch(env);
  await chat.expectAnswer(1, 'One answer.');
  await expect(page.getByText('The disk is full, so the data is open read-only.')).toBeVisible();
  await chat.composer.fill('Second');
  await chat.composer.press('Enter');
  const refused = page.getByRole('alert');
  await expect(refused).toContainText('open read-only');
  await expect(refused).toContainText('Your text is still here');
  expect(provider.questions()).toHaveLength(1);
  await readOnly.stop();

  free();
  await launch(env);
  await chat.expectAnswer(1, 'One answer.');
  await expect(page.getByText('open read-only')).toHaveCount(0);
  await chat.composer.fill('Second');
  await chat.composer.press('Enter');
  await chat.expectAnswer(2, 'Another answer.');
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a draft that could not be saved on a full disk is saved automatically when there is space', exhaustive, async ({ home, launch, page }) => {
  const { env, fill, free } = simulatedDisk(home);
  await launch(env);
  const chat = new Conversation(page);
  await chat.ready();
  fill();
  await chat.composer.fill('half a thought');
  const unsaved = page.getByRole('status').filter({ hasText: 'Not saved yet' });
  await expect(unsaved).toBeVisible();
  free();
  await expect(unsaved).toBeHidden(); // without any further typing
  await page.reload();
  await expect(chat.composer).toHaveValue('half a thought');
});

test('a setting that could not be saved on a full disk shows an error, and is saved when there is space', exhaustive, async ({ home, launch, page }) => {
  const { env, fill, free } = simulatedDisk(home);
  await launch(env);
  await new Conversation(page).ready();
  await page.getByRole('button', { name: /^Settings/ }).click();
  const pages = page.getByRole('navigation', { name: 'Settings' });
  await pages.getByRole('checkbox').check(); // pages for details
  await pages.getByRole('button', { name: /^Stream/ }).click();
  const writeAhead = page.getByRole('radio', { name: 'Write ahead' });
  fill();
  await writeAhead.click();
  await expect(page.getByText(/disk is full|no space/i).first()).toBeVisible();
  await expect(writeAhead).toHaveAttribute('aria-checked', 'false');
  free();
  await writeAhead.click();
  await expect(writeAhead).toHaveAttribute('aria-checked', 'true');
  await expect(page.getByText(/disk is full|no space/i)).toHaveCount(0);
});

test('a disk that fills up while an answer arrives: the shown text stays, and can be kept or discarded when there is space', async ({ home, provider, launch, page }) => {
  const { env, fill, free } = simulatedDisk(home);
  const text = prose(100);
  provider.answer('Tell me', text, { chunkSize: 15, holdAfter: 40 });
  provider.answer('And then?', 'Then there was space.');
  await launch(env);
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  const shown = await chat.waitForText(1, 150);
  await expect(chat.header.getByText('saved', { exact: true })).toBeVisible(); // the displayed text is fsynced
  fill();
  provider.release('Tell me');
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, incomplete');
  await expect(chat.turn(1)).toContainText(/disk is full|no space/i);
  await expect(chat.header.locator('[data-field="status"]')).toContainText('Incomplete');
  expect((await chat.text(1)).startsWith(shown)).toBe(true);
  const { durable, displayed } = await byteCounts(chat);
  expect(durable).toBeGreaterThan(0);
  expect(durable).toBeLessThanOrEqual(displayed);

  // The error of a decision is shown at the turn, and stays.
  await chat.turn(1).getByRole('button', { name: 'Keep' }).press('Enter');
  await expect(chat.turn(1).getByRole('alert')).toContainText(/disk is full|no space/i);
  expect((await chat.text(1)).startsWith(shown)).toBe(true);

  free();
  await chat.turn(1).getByRole('button', { name: 'Keep' }).press('Enter');
  await expect(chat.turn(1)).toContainText('Partial answer, kept');
  expect((await chat.text(1)).startsWith(shown)).toBe(true);
  await chat.askAndWait(2, 'And then?', 'Then there was space.');
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a journal that cannot be fsynced: no byte is wrongly shown as durable, and the window warns', async ({ home, provider, launch, page }) => {
  const text = prose(400);
  provider.answer('Tell me', text, { chunkSize: 6, holdAfter: [60, 1200] });
  const trace = join(home.root, 'trace');
  await launch({ CONTEXTINFINITY_FAULT: 'io.journal.sync:2+:eio', CONTEXTINFINITY_FAULT_TRACE: trace });
  const chat = new Conversation(page);
  await chat.ready();
  const streamField = chat.header.locator('[data-field="status"]');
  await streamField.evaluate(recordSamples); // every state of the field, not only those that polling sees
  await chat.ask('Tell me');
  await expect.poll(async () => (await byteCounts(chat)).durable).toBeGreaterThan(0); // the first fsync succeeds
  provider.release('Tell me');
  await expect.poll(async () => (await byteCounts(chat)).displayed).toBeGreaterThan(3_000);
  await expect(streamField).toContainText('buffered');
  await expect.poll(() => readFileSync(trace, 'utf8').split('\n').filter((line) => line === 'io.journal.sync').length).toBeGreaterThan(1); // another fsync was tried, and failed
  provider.release('Tell me');
  await expect(chat.turn(1)).toHaveAccessibleName('Turn 1, incomplete');
  await expect(chat.turn(1)).toContainText('could not be flushed to disk');
  await expect(chat.turn(1)).toContainText(/saved to disk: copy what you need/);

  const samples = (await page.evaluate(() => (window as unknown as { samples: string[] }).samples)).filter((text) => text.includes('/')).map(parseByteCounts);
  expect(samples.length).toBeGreaterThan(3);
  for (const { durable, displayed, text: fieldText } of samples) {
    expect(durable).toBeLessThanOrEqual(displayed);
    if (durable < displayed) expect(fieldText).toContain('buffered');
  }
  // The page contains the whole displayed text, including the parts out of view that are not laid out. Long lines are
  // drawn in runs, without the spaces between them. What was received is drawn until its end, so the two agree at last.
  await expect(async () => {
    const last = await byteCounts(chat);
    expect(last.durable).toBeLessThan(last.displayed);
    expect(last.text).toContain('buffered');
    const drawn = (await chat.answer(1).evaluate((answer) => answer.textContent)) ?? '';
    expect(drawn.replace(/\s/g, '')).toBe(text.slice(0, last.displayed).replace(/\s/g, ''));
  }).toPass();
});

test('a database that fails briefly: the message is accepted once the database works again, and the answer is saved automatically', exhaustive, async ({ home, provider, launch, page }) => {
  provider.answer('Tell me', 'An answer.');
  const failingPoints = ['turn.accept.committing:2', 'turn.finalize.committing:3', 'turn.finalize.committing:4', 'turn.finalize.committing:6'];
  await launch({ CONTEXTINFINITY_FAULT: failingPoints.map((point) => `tx.${point}:eio`).join() });
  const chat = new Conversation(page);
  for (let seq = 1; seq <= 4; seq++) {
    await chat.ready();
    await chat.composer.fill('Tell me');
    await expect(async () => {
      if ((await chat.turn(seq).count()) === 0) await chat.composer.press('Enter');
      await expect(chat.turn(seq)).toHaveAccessibleName(/, saved/, { timeout: 5_000 });
    }).toPass();
  }
  await expect(page.getByRole('article', { name: /^Turn/ })).toHaveCount(4);
  expect(provider.questions()).toHaveLength(4); // no request was repeated
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('a disk that is full when a complete answer is saved: the window says so, and saves it automatically when there is space', exhaustive, async ({ home, provider, launch, page }) => {
  const { env, free } = simulatedDisk(home);
  provider.answer('Tell me', 'All of an answer.');
  await launch({ ...env, CONTEXTINFINITY_FAULT: 'tx.turn.finalize.begun:1:full' });
  const chat = new Conversation(page);
  await chat.ask('Tell me');
  const turn = chat.turn(1);
  await expect(turn).toHaveAccessibleName('Turn 1, not saved yet');
  await expect(turn).toContainText('All of an answer.');
  await expect(turn).toContainText(/disk is full/i);
  await expect(turn).toContainText('You do not need to do anything');
  await expect(chat.header.locator('[data-field="status"]')).toContainText('Not saved yet');
  for (const decision of ['Keep', 'Discard', 'Retry']) await expect(turn.getByRole('button', { name: decision })).toHaveCount(0);
  await turn.getByRole('button', { name: 'Try now' }).press('Enter');
  await expect(turn.getByRole('alert')).toContainText(/disk is full/i);

  free();
  await expect(turn).toHaveAccessibleName(/saved, latest/, { timeout: 60_000 }); // the program retries at least every half minute
  await expect(turn).toContainText('All of an answer.');
  expect(provider.questions()).toHaveLength(1);
  expect(cli(home, 'verify')).toContain('No problems found');
});

/** Records each state that a field of the header shows. */
function recordSamples(headerField: Element): void {
  const samples: string[] = [];
  (window as unknown as { samples: string[] }).samples = samples;
  const take = () => samples.push((headerField as HTMLElement).innerText);
  new MutationObserver(take).observe(headerField, { subtree: true, childList: true, characterData: true });
}
