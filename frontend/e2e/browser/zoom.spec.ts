import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { canaryKey } from '../harness/home.ts';
import { unreachable } from '../harness/reach.ts';
import { command, overlays, panels, settingsPage, settingsPages, temporary, tour, type Screen } from '../harness/screens.ts';
import { call, workedIn } from '../harness/seed.ts';
import { connectPrograms, connectServers, installed, toolScreens, withTools } from '../harness/toolscreens.ts';
import { Conversation } from './conversation.ts';

// Each finding includes its location.
test.use({ trace: 'off' });
/** A screen may still be changing at the first check. */
const eventually = expect.configure({ soft: true, timeout: 15_000 });

/**
 * A window of 1280 x 800 at 200 %: with the zoom of the engine, which makes the viewport smaller, and with the
 * program's text size.
 */
const ways = {
  'the engine’s zoom': (page: Page) => page.setViewportSize({ width: 640, height: 400 }),
  'the program’s text size': async (page: Page) => {
    await call(page, 'Settings', 'Set', 'appearance.text_zoom', '200');
    await page.reload();
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px');
  },
};

const settings = async (page: Page, name: string) => {
  await page.keyboard.press('Control+,');
  await settingsPage(page, name);
};

/** A dialog opened by a button on a page of the settings. */
const dialog = (at: string, button: string | RegExp): Screen => ({
  name: `${at}: ${button}`,
  async show(page) {
    await settings(page, at);
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
    await command(page, 'New project');
    await page.getByRole('dialog', { name: 'New project' }).getByRole('textbox').fill('Harbour');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: /Harbour/ })).toBeVisible();
  } },
];

for (const [way, enlarge] of Object.entries(ways)) {
  test.describe(`at 200 % by ${way} everything is reachable and readable`, () => {
    const look = (page: Page) => async (name: string) => {
      await eventually.poll(() => unreachable(page), name).toEqual([]);
    };

    test('in the conversation and beside it', async ({ home, provider, launch, page }) => {
      home.configure(provider);
      await launch();
      await new Conversation(page).ready();
      await workedIn(page, provider, 5);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, panels, look(page));
    });

    test('in views over it', async ({ home, provider, launch, page }) => {
      home.configure(provider);
      await launch();
      await new Conversation(page).ready();
      await workedIn(page, provider, 3);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, overlays, look(page));
    });

    test('on the first start, in the settings and their dialogs, and in a temporary chat', async ({ launch, page }) => {
      await launch({ OPENAI_API_KEY: canaryKey }); // no request of a test reaches the vendor
      await enlarge(page);
      await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
      await look(page)('first start');
      await page.getByRole('button', { name: 'Start with recall' }).click();
      await new Conversation(page).ready();
      await settingsPages(page, look(page));
      await tour(page, dialogs, look(page));
      await tour(page, [temporary], look(page));
    });

    test('for tools, their servers and other programs', async ({ home, provider, launch, page }) => {
      test.skip(!installed, 'the MCP servers of test/mcp are not installed (scripts/setup test)');
      withTools(home, provider);
      await launch();
      await new Conversation(page).ready();
      await connectServers(page);
      await connectPrograms(page, home);
      await enlarge(page);
      await new Conversation(page).ready();
      await tour(page, toolScreens, look(page));
    });
  });
}

test('in the smallest window at 200 % most of it is for reading, in German', async ({ home, provider, launch, page }) => {
  home.configure(provider, '[ui]\nlanguage = "de"');
  provider.answer('Erzähle', 'Erzählt.');
  await page.setViewportSize({ width: 900, height: 600 });
  await launch();
  await expect(page.getByRole('banner').locator('[data-field="model"]')).toBeVisible();
  await page.locator('main form textarea').fill('Erzähle');
  await page.keyboard.press('Enter');
  await expect(page.locator('[data-turn] .answer')).toContainText('Erzählt.');
  await ways['the program’s text size'](page);
  await expect(page.locator('[data-turn] .answer')).toContainText('Erzählt.');
  await page.locator('main form textarea').fill('Eine lange Nachricht. '.repeat(40));
  const height = (css: string) => page.locator(css).first().evaluate((element) => element.getBoundingClientRect().height);
  await expect.poll(() => height('main > .place'), 'the conversation').toBeGreaterThan(200);
  expect(await height('header.header'), 'the header: one line').toBeLessThan(120);
  const more = page.getByRole('banner').getByRole('button', { name: 'Mehr zu dieser Sitzung' });
  await more.click();
  await expect(page.getByRole('menuitem', { name: /^Kontext/ })).toBeVisible();
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+,');
  const content = page.locator('.settings main.page');
  await expect.poll(() => content.evaluate((element) => element.getBoundingClientRect().top), 'the page of the settings').toBeLessThan(300);
});
