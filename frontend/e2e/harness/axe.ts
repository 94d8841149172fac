import type { Page } from '@playwright/test';
import axe from 'axe-core';
import { expect } from './fixtures.ts';
import { applyTheme } from './screens.ts';
import { variants } from './tier.ts';

/** Returns the serious and critical findings with their locations, by all rules or only the listed ones. */
async function findings(page: Page, rules: string[] = []): Promise<string[]> {
  // Injected once per document: axe has 1.3 MB, and sending it for each inspection took longer than the inspections.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  expect(page.frames(), 'a frame would not be examined').toHaveLength(1);
  const result = await page.evaluate((values) => {
    // Only violations: listing what passed takes longer than the inspection.
    const options: axe.RunOptions = { resultTypes: ['violations'] };
    if (values.length > 0) options.runOnly = { type: 'rule', values };
    return (window as unknown as { axe: typeof axe }).axe.run(document, options);
  }, rules);
  return result.violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary}`));
}

export const themes = ['light', 'dark', 'contrast'] as const;

/**
 * Expects no serious finding: with all rules in the light theme; the dark and the contrast theme differ only in
 * colours. Leaves the page in the light theme.
 */
export async function inspect(page: Page, screen: string, chosen = variants(...themes)): Promise<void> {
  for (const theme of chosen.toReversed()) {
    await applyTheme(page, theme);
    expect.soft(await findings(page, theme === 'light' ? [] : ['color-contrast']), `${screen}, ${theme}`).toEqual([]);
  }
}

/** Expects that the page is not wider than the window. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
}
