import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { repository } from '../harness/process.ts';
import { draw, overlays, panels, settingsPages, temporary, tour } from '../harness/screens.ts';
import { workedIn } from '../harness/seed.ts';
import { Conversation } from '../browser/conversation.ts';

// `make screens`: every screen as it is, to be looked at. Not tests, and kept nowhere.
const directory = join(repository, 'build/screens');
const sizes = [{ width: 1280, height: 800 }, { width: 900, height: 600 }];
const longTurns = 40;

test.use({ deviceScaleFactor: 1 });

/** In both themes, at the size the window has. */
async function picture(page: Page, name: string): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  for (const theme of ['light', 'dark'] as const) {
    await draw(page, theme);
    await page.screenshot({ path: join(directory, `${name}-${width}x${height}-${theme}.png`) });
  }
}

/** At each size anew: columns that become drawers close. */
async function eachSize(page: Page, look: () => Promise<void>): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await new Conversation(page).ready();
    await look();
  }
}

test.beforeAll(() => {
  mkdirSync(directory, { recursive: true });
});

test('the first start', async ({ launch, page }) => {
  await launch();
  await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
  for (const size of sizes) {
    await page.setViewportSize(size);
    await picture(page, 'first-start');
  }
});

test('empty', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const needTurns = ['memory-found', 'activity-charts'];
  const needNone = ['palette', 'branch-switcher', 'session-settings', 'shortcuts'];
  await eachSize(page, async () => {
    await tour(page, panels.filter(({ name }) => !needTurns.includes(name)), (name) => picture(page, `empty-${name}`));
    await tour(page, overlays.filter(({ name }) => needNone.includes(name)), (name) => picture(page, `empty-${name}`));
    await page.keyboard.press('Control+Shift+F');
    await picture(page, 'empty-search');
    await page.keyboard.press('Escape');
    await settingsPages(page, (name) => picture(page, name));
    await tour(page, [temporary], (name) => picture(page, name));
  });
});

test('after some work', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await workedIn(page, provider, longTurns);
  await expect(chat.turn(longTurns)).toBeVisible();
  await eachSize(page, async () => {
    await tour(page, panels, (name) => picture(page, `long-${name}`));
    await tour(page, overlays, (name) => picture(page, `long-${name}`));
  });
  await page.setViewportSize(sizes[0] as { width: number; height: number });
  for (const title of ['Runbook for', 'What the new cluster']) {
    await page.getByRole('navigation', { name: 'Sessions' }).getByRole('button', { name: new RegExp(`^${title}`) }).click();
    await expect(chat.turn(1)).toHaveAccessibleName(/incomplete|failed/);
    await picture(page, title.startsWith('Runbook') ? 'turn-incomplete' : 'turn-failed');
  }
});
