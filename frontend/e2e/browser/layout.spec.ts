import type { Locator } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { canaryKey } from '../harness/home.ts';
import { openSessions, overlays, runCommand } from '../harness/screens.ts';
import { Seed } from '../harness/seed.ts';
import { Conversation } from './conversation.ts';

// Checks for layout errors that were found in screenshots, because roles and texts do not show them.
test.beforeEach(({ home, provider }) => {
  home.configure(provider);
  provider.answer('', 'It is noted.');
});

const box = async (target: Locator) => (await target.boundingBox())!;
const style = (target: Locator, name: string) => target.evaluate((element, property) => getComputedStyle(element).getPropertyValue(property), name);

test('a disabled button looks the same under the pointer', async ({ launch, page }) => {
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await expect(chat.send).toBeDisabled();
  const before = await style(chat.send, 'background-color');
  const { x, y, width, height } = await box(chat.send);
  await page.mouse.move(x + width / 2, y + height / 2);
  expect(await style(chat.send, 'background-color')).toBe(before);
});

test('in the settings: shortcuts are beside their command, a note is aligned with its table, the search stays visible', async ({ launch, page }) => {
  await launch();
  await new Conversation(page).ready();
  await page.keyboard.press('Control+,');
  const nav = page.getByRole('navigation', { name: 'Settings' });
  await nav.getByRole('button', { name: 'Keyboard', exact: true }).click();
  const row = page.locator('dl > div').filter({ hasText: 'Rename this session' });
  const middle = async (target: Locator) => box(target).then(({ y, height }) => y + height / 2);
  expect(Math.abs((await middle(row.locator('dt'))) - (await middle(row.getByRole('button').first())))).toBeLessThanOrEqual(1);

  await nav.getByRole('button', { name: 'Models', exact: true }).click();
  expect((await style(page.getByText(/^The working set is what/), 'padding-left'))).toBe('0px'); // footnotes in answers are indented

  await page.setViewportSize({ width: 900, height: 600 });
  await nav.evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await expect(page.getByRole('searchbox', { name: 'Search settings' })).toBeInViewport({ ratio: 1 });
});

test('no button of the first run moves under the pointer when its information is loaded', async ({ home, launch, page }) => {
  home.configured = false; // shows the first run, with the configured model at the top
  await page.setViewportSize({ width: 900, height: 600 });
  await page.addInitScript(() => {
    const positions = ((window as any).positions = new Set<string>());
    const record = () => {
      for (const button of document.querySelectorAll('.welcome button')) if (/^(Use|Start with recall|Import)/.test(button.textContent!.trim())) positions.add(`${button.textContent}: ${Math.round(button.getBoundingClientRect().y)}`);
      requestAnimationFrame(record);
    };
    record();
  });
  await launch({ CONTEXTINFINITY_E2E_KEY: canaryKey });
  await expect(page.getByRole('button', { name: 'Use mock' })).toHaveAttribute('data-kind', 'primary');
  await expect(page.getByRole('region', { name: 'Use this computer' })).toContainText(/No model server|answered/);
  expect(await page.evaluate(() => [...((window as any).positions as Set<string>)])).toHaveLength(3);
});

test('the settings of a session stay in place when the tokens of its prompt are counted', async ({ launch, page }) => {
  await launch();
  await new Conversation(page).askAndWait(1, 'Hello', 'It is noted.');
  await runCommand(page, 'Instructions, temperature and effort of this session');
  const settings = page.getByRole('dialog', { name: /^Settings of/ });
  const prompt = settings.getByRole('textbox', { name: 'Instructions' });
  await expect(prompt).toBeEditable();
  await page.setViewportSize({ width: 560, height: 800 }); // too narrow for the help and the count in one line
  const below = settings.getByRole('textbox', { name: 'Temperature' });
  const before = await box(below);
  await prompt.fill('word '.repeat(150_000));
  await expect(settings).toContainText(/\d tokens/);
  expect(await box(below)).toEqual(before);
});

test('the share dialog focuses its action; the passphrases of an export are in one line, above a path that is in view; a list within a task is indented', async ({ provider, launch, page }) => {
  provider.answer('Tasks', '- [ ] Not done\n  - Within it\n\nThe end of it.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Tasks', 'The end of it.');
  const [task, within] = [await box(chat.answer(1).locator('.task')), await box(chat.answer(1).getByText('Within it'))];
  expect(within.x).toBeGreaterThan(task.x + task.width + 10);
  await page.keyboard.press('Control+Shift+S');
  await expect(page.getByRole('dialog', { name: /^Share/ }).getByRole('button', { name: 'Save…' })).toBeFocused();

  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 900, height: 600 });
  await page.keyboard.press('Control+e');
  const exporting = page.getByRole('dialog', { name: 'Export' });
  await exporting.getByRole('checkbox', { name: 'Protect with a passphrase' }).check();
  const [passphrase, repeated] = [await box(exporting.getByLabel('New passphrase')), await box(exporting.getByLabel('The same again'))];
  expect(repeated.y).toBe(passphrase.y);
  await expect(exporting.getByLabel('Save as')).toBeInViewport({ ratio: 1 });
});

test('in the smallest window the tree gets most of the space, and the actions on a run are visible', async ({ launch, page }) => {
  await launch();
  await new Conversation(page).ready();
  const seed = await Seed.session(page, 'A long talk');
  for (let step = 1; step <= 10; step++) await seed.send(`What about step ${step}?`);
  await page.reload();
  await page.getByRole('navigation', { name: 'Sessions' }).locator(`[data-session="${seed.session}"]`).click();
  await page.setViewportSize({ width: 900, height: 600 });
  const card = page.getByRole('region', { name: /^Selected: / });
  const tree = page.getByRole('tree', { name: 'Branches' });
  for (const show of [() => runCommand(page, 'Show the branches'), () => overlays.find(({ name }) => name === 'tree')!.show(page)]) {
    await show();
    await expect(card).toContainText('Its answer');
    await expect(card.getByRole('button', { name: 'Compare' })).toBeInViewport({ ratio: 1 });
    expect((await box(tree)).height).toBeGreaterThan((await box(card)).height);
    await page.keyboard.press('Escape');
  }
});

// Every test fails if a ResizeObserver loops, because reportLoops writes that to the console.
test('a list that grows causes no ResizeObserver loop', async ({ launch, page }) => {
  await page.setViewportSize({ width: 640, height: 400 });
  await launch();
  await new Conversation(page).ready();
  for (let i = 1; i <= 30; i++) await Seed.session(page, `Session ${i}`);
  await page.reload();
  await new Conversation(page).ready();
  await openSessions(page);
  await expect(page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]').first()).toBeVisible();
});

test('the message field is completely visible in a low window, with one question at a time above it', async ({ home, provider, launch, page }) => {
  home.configure(provider, '', 'unsure');
  home.addModel(`[models.unsure]\nprovider = "chatcompletions"\nmodel_id = "unsure-1"\nbase_url = "${provider.url}/v1"\ncontext_limit = 32000\n`);
  await page.setViewportSize({ width: 1264, height: 704 });
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Hello', 'It is noted.');
  await page.keyboard.press('Control+n');
  await expect(page.getByRole('heading', { name: 'A new session' })).toBeVisible();
  await expect(page.getByText('May earlier sessions help here?')).toBeVisible();
  await pastePicture(chat.composer);
  await expect(page.getByText('Does unsure accept images?')).toBeVisible();
  await expect(page.getByText('May earlier sessions help here?')).toHaveCount(0); // this question appears after the other is answered

  await chat.composer.fill('A pasted long line of text, number one.\n'.repeat(100));
  for (const height of [704, 480, 360]) {
    await page.setViewportSize({ width: 1264, height });
    await expect(chat.send, `${height} px`).toBeInViewport({ ratio: 1 });
    const [frame, conversation] = [await box(page.locator('main form .frame')), await box(page.locator('main > .stage').first())];
    expect(frame.y + frame.height).toBeLessThanOrEqual(height);
    expect(conversation.height, `conversation at ${height} px`).toBeGreaterThan(50);
  }
  await page.getByRole('button', { name: "I don’t know" }).click();
  await expect(page.getByText('May earlier sessions help here?')).toBeVisible();
});

/** Dispatches a paste event with a picture, as a browser does. */
async function pastePicture(field: Locator): Promise<void> {
  await field.evaluate((element) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='), (character) => character.charCodeAt(0))], 'dot.png', { type: 'image/png' }));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
}
