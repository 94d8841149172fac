import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation, prose } from './conversation.ts';

/** Serious and critical findings, each with where it is. */
async function findings(page: Page): Promise<string[]> {
  const result = await new AxeBuilder({ page }).analyze();
  return result.violations
    .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
    .flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary}`));
}

test('first start: no serious finding', async ({ launch, page }) => {
  await launch();
  await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
  expect(await findings(page)).toEqual([]);
});

for (const theme of ['light', 'dark', 'contrast']) {
  test(`the window in ${theme}: no serious finding on any screen`, async ({ home, provider, launch, page }) => {
    home.configure(provider, `\n[appearance]\ntheme = "${theme}"\n`);
    provider.answer('Show me', `${prose(3)}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`go\nfunc main() {}\n\`\`\`\n\nThe end of it.`);
    provider.answer('Break off', prose(40), { chunkSize: 20, dropAfter: 16 });
    await launch();
    const chat = new Conversation(page);
    expect.soft(await findings(page), 'an empty conversation').toEqual([]);
    await chat.askAndWait(1, 'Show me', 'The end of it.');
    await chat.ask('Break off');
    await expect(chat.turn(2)).toHaveAccessibleName(/incomplete/i);
    for (const tab of ['Pending', 'Memory', 'State', 'Activity']) {
      await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click();
      expect.soft(await findings(page), `conversation and ${tab}`).toEqual([]);
    }
    await page.getByRole('button', { name: /settings/i }).first().click();
    await expect(page.getByRole('button', { name: /^Back/ })).toBeVisible();
    expect.soft(await findings(page), 'settings').toEqual([]);
    await page.keyboard.press('Control+Shift+N');
    await expect(page.getByRole('heading', { name: 'A temporary chat' })).toBeVisible();
    expect.soft(await findings(page), 'an empty temporary chat').toEqual([]);
    await chat.composer.fill('Show me');
    await chat.composer.press('Enter');
    await expect(chat.turn(1)).toContainText('Answered, not kept');
    expect.soft(await findings(page), 'a temporary chat').toEqual([]);
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect.soft(await findings(page), 'the question before it is left').toEqual([]);
  });
}
