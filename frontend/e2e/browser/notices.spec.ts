import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { command, panels } from '../harness/screens.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

const notice = (page: Page) => page.getByRole('region', { name: 'Notices' }).getByRole('group');

/** Whatever is drawn under the notice and is not what it is in: a page, a drawer, a field. */
function covered(page: Page): Promise<string[]> {
  return notice(page).evaluate((toast) => {
    const box = toast.getBoundingClientRect();
    const found = new Set<string>();
    for (let x = 1; x < 10; x++) {
      for (let y = 1; y < 4; y++) {
        for (const below of document.elementsFromPoint(box.x + (box.width * x) / 10, box.y + (box.height * y) / 4)) {
          if (!below.contains(toast) && !toast.contains(below)) found.add(`${below.tagName} ${below.className}`);
        }
      }
    }
    return [...found];
  });
}

/** Shows a notice by a command that works everywhere, and the one that undoes it. */
async function withNotice(page: Page, where: string): Promise<void> {
  for (const text of ['Background work is paused', 'Background work resumed']) {
    await command(page, 'Pause or resume background work');
    await expect(notice(page)).toContainText(text);
    expect(await covered(page), where).toEqual([]);
  }
  await notice(page).getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice(page)).toHaveCount(0);
}

for (const size of [{ width: 1280, height: 800 }, { width: 900, height: 600 }]) {
  test(`a notice covers nothing, wherever one is, at ${size.width} by ${size.height}`, async ({ provider, launch, page }) => {
    await page.setViewportSize(size);
    provider.answer('Tell me', 'Told.');
    await launch();
    await new Conversation(page).askAndWait(1, 'Tell me', 'Told.');
    await withNotice(page, 'the conversation');

    await panels.find(({ name }) => name === 'state')?.show(page); // a drawer, where there is no room beside the conversation
    await withNotice(page, 'an open inspector');
    await page.keyboard.press('Escape');

    await command(page, 'Show the tree at full size');
    await expect(page.getByRole('tree', { name: 'Branches' })).toBeVisible();
    await withNotice(page, 'the tree');
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+,');
    const links = page.getByRole('navigation', { name: 'Settings' }).locator('[data-page]');
    await expect(links.first()).toHaveText('General');
    await page.getByRole('main').last().evaluate((main) => main.scrollTo(0, main.scrollHeight));
    await withNotice(page, 'the settings');
  });
}
