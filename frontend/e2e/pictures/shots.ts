import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect } from '../harness/fixtures.ts';
import { repository } from '../harness/process.ts';
import { applyTheme } from '../harness/screens.ts';
import { call } from '../harness/seed.ts';
import { Conversation } from '../browser/conversation.ts';

// Takes pictures. With UI_LANGUAGE=de they are in German: the screens are opened by their English names, then the
// language is changed, which takes effect at once.
const language = process.env['UI_LANGUAGE'] ?? 'en';
const directory = join(repository, 'build/screens', language === 'en' ? '.' : language);
const large = { width: 1280, height: 800 };
const sizes = [large, { width: 900, height: 600 }];

async function setLanguage(page: Page, code: string): Promise<void> {
  if (language === 'en') return;
  await call(page, 'Settings', 'Set', 'ui.language', code);
  await expect(page.locator('html')).toHaveAttribute('lang', code);
}

/** Takes a picture in both themes, at the current window size. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  await setLanguage(page, language);
  for (const theme of ['light', 'dark'] as const) {
    await applyTheme(page, theme);
    await page.screenshot({ path: join(directory, `${name}-${width}x${height}-${theme}.png`) });
  }
  await setLanguage(page, 'en');
}

/** Calls `visit` at each window size, because columns that become drawers close when the size changes. */
export async function eachSize(page: Page, visit: () => Promise<void>): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await new Conversation(page).ready();
    await visit();
  }
  await page.setViewportSize(large);
}

/** Takes pictures of the same state of the window at each size. */
export async function bothSizes(page: Page, name: string): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await picture(page, name);
  }
  await page.setViewportSize(large);
}

/** Takes pictures of a view that closes when the window size changes: opens and closes it at each size. */
export async function pictureOpened(page: Page, name: string, open: () => Promise<void>, close: () => Promise<void> = () => page.keyboard.press('Escape')): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    await open();
    await picture(page, name);
    await close();
    await expect(page.getByRole('menu')).toHaveCount(0);
  }
  await page.setViewportSize(large);
}

/** Closes the views over the conversation, one at a time. */
export async function leave(page: Page, layers = 1): Promise<void> {
  for (let layer = 0; layer < layers; layer++) await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
}
