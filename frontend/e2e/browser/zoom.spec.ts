import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { canaryKey } from '../harness/home.ts';
import { layoutProblems } from '../harness/reach.ts';
import { openSettingsPage, overlays, panels, runCommand, type Screen, temporary, tour, visitSettings } from '../harness/screens.ts';
import { call, seedHistory } from '../harness/seed.ts';
import { configureTools, connectPrograms, connectServers, isServerInstalled, toolScreens } from '../harness/toolscreens.ts';
import { exhaustive, variants } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

// Each problem includes its location, so traces are not needed.
test.use({ trace: 'off' });
/**
 * A window of 1280 x 800 at 200 %: with the zoom of the engine, which makes the viewport smaller, and with the
 * program's text size.
 */
const zooms = {
  'the program’s text size': async (page: Page) => {
    await call(page, 'Settings', 'Set', 'appearance.text_zoom', '200');
    await page.reload();
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px');
  },
  'the engine’s zoom': (page: Page) => page.setViewportSize({ width: 640, height: 400 }),
};

const openSettings = async (page: Page, name: string) => {
  await page.keyboard.press('Control+,');
  await openSettingsPage(page, name);
};

/** A dialog opened by a button on a page of the settings. */
const dialog = (settingsName: string, button: string | RegExp): Screen => ({
  name: `${settingsName}: ${button}`,
  async show(page) {
    await openSettings(page, settingsName);
    await page.getByRole('button', { name: button }).first().click();
    await expect(page.getByRole('dialog')).toBeVisible();
  },
  async leave(page) {
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.keyboard.press('Escape');
  },
});

const dialogs: readonly Screen[] = [
  dialog('Models', 'Add a model'),
  dialog('Providers and keys', 'Add a compatible server'),
  dialog('Assistants', 'New assistant'),
  dialog('Saved prompts', 'New prompt'),
  dialog('Memory and search', /^Use .* on OpenAI$/),
  dialog('Data and backups', 'Move…'),
  { name: 'project', show: async (page) => {
    await runCommand(page, 'New project');
    await page.getByRole('dialog', { name: 'New project' }).getByRole('textbox').fill('Harbour');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: /Harbour/ })).toBeVisible();
  } },
];

for (const [zoom, enlarge] of variants(...Object.entries(zooms))) {
  test.describe(`at 200 % with ${zoom} everything can be reached and read`, () => {
    const check = (page: Page) => async (name: string) => {
      expect.soft(await layoutProblems(page), name).toEqual([]);
    };

    test('in the conversation and beside it', async ({ home, provider, launch, page }) => {
      home.configure(provider);
      await launch();
      await new Conversation(page).ready();
      await seedHistory(page, provider, 5);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, panels, check(page));
    });

    test('in overlays and full-size views', exhaustive, async ({ home, provider, launch, page }) => {
      home.configure(provider);
      await launch();
      await new Conversation(page).ready();
      await seedHistory(page, provider, 3);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, overlays, check(page));
    });

    test('in the first run, in the settings and their dialogs, and in a temporary chat', exhaustive, async ({ launch, page }) => {
      await launch({ OPENAI_API_KEY: canaryKey }); // no request of a test reaches the vendor
      await enlarge(page);
      await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
      await check(page)('first run');
      await page.getByRole('button', { name: 'Start with recall' }).click();
      await new Conversation(page).ready();
      await visitSettings(page, check(page));
      await tour(page, dialogs, check(page));
      await tour(page, [temporary], check(page));
    });

    test('for tools, their servers and other programs', exhaustive, async ({ home, provider, launch, page }) => {
      test.skip(!isServerInstalled, 'the MCP servers of test/mcp are not installed (scripts/setup test)');
      configureTools(home, provider);
      await launch();
      await new Conversation(page).ready();
      await connectServers(page);
      await connectPrograms(page, home);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, toolScreens, check(page));
    });
  });
}

test('in the smallest window at 200 %, in German, most of the space is left for the conversation', async ({ home, provider, launch, page }) => {
  home.configure(provider, '[ui]\nlanguage = "de"');
  provider.answer('Erzähle', 'Erzählt.');
  await page.setViewportSize({ width: 900, height: 600 });
  await launch();
  await expect(page.getByRole('banner').locator('[data-field="model"]')).toBeVisible();
  await page.locator('main form textarea').fill('Erzähle');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-turn] .answer')).toContainText('Erzählt.');
  await zooms['the program’s text size'](page);
  await expect(page.locator('[data-turn] .answer')).toContainText('Erzählt.');
  await page.locator('main form textarea').fill('Eine lange Nachricht. '.repeat(40));
  const height = (css: string) => page.locator(css).first().evaluate((element) => element.getBoundingClientRect().height);
  await expect.poll(() => height('main > .stage'), 'the conversation').toBeGreaterThan(200);
  expect(await height('header.header'), 'the header has one line').toBeLessThan(120);
  await page.getByRole('banner').locator('[data-field="status"]').click();
  await expect(page.getByRole('menuitem', { name: /^Stream/ })).toBeInViewport();
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+,');
  const content = page.locator('.settings main.page');
  await expect.poll(() => content.evaluate((element) => element.getBoundingClientRect().top), 'the page of the settings').toBeLessThan(300);
});
