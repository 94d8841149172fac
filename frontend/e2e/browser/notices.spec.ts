import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { cli, expect, test } from '../harness/fixtures.ts';
import { panels, runCommand } from '../harness/screens.ts';
import { variants } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

const notice = (page: Page) => page.getByRole('region', { name: 'Notices' }).getByRole('group');

/** The elements that the notice covers, such as a page, a drawer, a field or a turn. */
function coveredElements(page: Page): Promise<string[]> {
  return notice(page).evaluate((toast) => {
    const box = toast.getBoundingClientRect();
    const covered = new Set<string>();
    for (let x = 1; x < 10; x++) {
      for (let y = 1; y < 4; y++) {
        for (const below of document.elementsFromPoint(box.x + (box.width * x) / 10, box.y + (box.height * y) / 4)) {
          if (!below.contains(toast) && !toast.contains(below) && (!below.closest('main .stage') || below.closest('[data-turn], .day'))) covered.add(`${below.tagName} ${below.className}`);
        }
      }
    }
    return [...covered];
  });
}

/** Shows two notices, with a command that works everywhere, and expects that they cover nothing in the view and do not move the conversation. */
async function checkNotices(page: Page, view: string): Promise<void> {
  const place = () => page.evaluate(() => [...document.querySelectorAll('main .transcript, main [data-turn]')].map((element) => element.getBoundingClientRect().toJSON() as DOMRect));
  const before = await place();
  for (const text of ['Background work is paused', 'Background work resumed']) {
    await runCommand(page, 'Pause or resume background work');
    await expect(notice(page)).toContainText(text);
    expect(await coveredElements(page), view).toEqual([]);
    if (view === 'the conversation') expect(await place()).toEqual(before);
  }
  await notice(page).getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice(page)).toHaveCount(0);
}

for (const size of variants({ width: 900, height: 600 }, { width: 1280, height: 800 })) {
  test(`a notice covers nothing in any view, at ${size.width} by ${size.height}`, async ({ provider, launch, page }) => {
    await page.setViewportSize(size);
    provider.answer('Tell me', 'Done.');
    await launch();
    await new Conversation(page).askAndWait(1, 'Tell me', 'Done.');
    await checkNotices(page, 'the conversation');
    await runCommand(page, 'Pause or resume background work');
    const edges = (part: Locator) => part.boundingBox().then((box) => box && [Math.round(box.x), Math.round(box.x + box.width)]);
    expect(await edges(notice(page)), 'aligned with the field').toEqual(await edges(page.locator('main form .frame')));
    await runCommand(page, 'Pause or resume background work');
    await notice(page).getByRole('button', { name: 'Dismiss' }).click();

    await panels.find(({ name }) => name === 'state')?.show(page); // a drawer, if there is no space beside the conversation
    await checkNotices(page, 'an open inspector');
    await page.keyboard.press('Escape');

    await runCommand(page, 'Show the tree at full size');
    await expect(page.getByRole('tree', { name: 'Branches' })).toBeVisible();
    await checkNotices(page, 'the tree');
    await page.keyboard.press('Escape');

    await page.keyboard.press('Control+,');
    const links = page.getByRole('navigation', { name: 'Settings' }).locator('[data-page]');
    await expect(links.first()).toHaveText('General');
    await page.getByRole('main').last().evaluate((main) => main.scrollTo(0, main.scrollHeight));
    await checkNotices(page, 'the settings');
  });
}

test('a notice in a dialog is aligned with the content of the dialog and covers none of it', async ({ home, launch, page }) => {
  const folder = join(home.root, 'bakery');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'rye.md'), '# Rye bread\n\nThe sourdough rests for nineteen hours.\n');
  cli(home, 'projects', 'new', 'Bakery');
  cli(home, 'projects', 'watch', 'Bakery', folder);
  await launch();
  await new Conversation(page).ready();
  await page.getByRole('button', { name: /^Bakery/ }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Project settings…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Project “Bakery”' });
  await dialog.getByRole('tab', { name: /Files/ }).click();
  for (const size of [{ width: 1280, height: 800 }, { width: 900, height: 600 }]) {
    await page.setViewportSize(size);
    await dialog.getByRole('button', { name: 'Check now' }).click();
    await expect(dialog.getByRole('region', { name: 'Notices' }).getByRole('group')).toBeVisible();
    const content = await dialog.locator('.dialog__body').evaluate((body) => {
      const { left, right } = body.getBoundingClientRect();
      const { paddingLeft, paddingRight } = getComputedStyle(body);
      return [Math.round(left + parseFloat(paddingLeft)), Math.round(right - parseFloat(paddingRight))];
    });
    const box = (await notice(page).boundingBox())!;
    expect([Math.round(box.x), Math.round(box.x + box.width)], 'aligned with the content').toEqual(content);
    const body = (await dialog.locator('.dialog__body').boundingBox())!;
    const frame = (await dialog.boundingBox())!;
    expect(box.y, 'below the content').toBeGreaterThanOrEqual(body.y + body.height - 1);
    expect(box.y + box.height, 'within the dialog').toBeLessThan(frame.y + frame.height);
    await notice(page).getByRole('button', { name: 'Dismiss' }).click();
  }
});

for (const language of variants('de', 'en', 'zh-CN')) {
  test(`no field of the header overlaps another, with a project and in a narrow window, in ${language}`, async ({ home, provider, launch, page }) => {
    home.configure(provider, `[ui]\nlanguage = "${language}"`);
    provider.answer('Tell me', 'Done.');
    await page.setViewportSize({ width: 1280, height: 800 });
    await launch();
    const field = (name: string) => page.getByRole('banner').locator(`[data-field="${name}"]`);
    await expect(field('context')).toBeVisible();
    await page.locator('main form textarea').fill('Tell me');
    await page.keyboard.press('Enter');
    await expect(page.locator('[data-turn] .answer')).toContainText('Done.');
    await expect(field('status')).toHaveAttribute('title', /#1 /);
    const session = await page.locator('[data-session][aria-current]').getAttribute('data-session');
    for (const project of ['', 'Moving the orders into the new database']) {
      if (project) await page.evaluate(async ([id, name]) => {
        const { Projects, Sessions } = (window as unknown as { go: { api: Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>> } }).go.api;
        await Projects?.['Create']?.(name);
        await Sessions?.['SetFolder']?.([id], name);
      }, [session, project]);
      if (project) await expect(field('project')).toContainText(project);
      for (const [width, height] of [[1440, 800], [1280, 800], [1100, 800], [900, 800], [450, 300]] as const) { // the last is 900x600 at 200 %
        await page.setViewportSize({ width, height });
        await expect.poll(() => page.evaluate(() => window.innerWidth)).toBe(width);
        await expect.poll(() => page.getByRole('banner').evaluate(overlappingFields), { message: `${width} px, project “${project}”`, timeout: 10_000 }).toEqual([]);
      }
    }
  });
}

for (const language of variants('de', 'en', 'zh-CN')) {
  test(`no text of the header is cut off at 1280 beside a long title, in ${language}`, async ({ home, provider, launch, page }) => {
    home.configure(provider, `[ui]\nlanguage = "${language}"`);
    const question = 'Tell me how the bakery Miller and Sons delivers its invoices on Sundays';
    provider.answer(question, `Begun. ${'word '.repeat(400)} Done.`, { holdAfter: 40 });
    await page.setViewportSize({ width: 1280, height: 800 });
    await launch();
    const banner = page.getByRole('banner');
    await expect(banner.locator('[data-field="context"]')).toBeVisible();
    await page.locator('main form textarea').fill(question);
    await page.keyboard.press('Enter');
    await expect(page.locator('[data-turn] .answer')).toContainText('Begun.');
    const status = banner.locator('[data-field="status"]');
    for (const [width, height] of [[900, 600], [1280, 800]] as const) { // the bytes are in view while the answer arrives
      await page.setViewportSize({ width, height });
      await expect(status).toBeInViewport({ ratio: 1 });
      expect(await status.innerText(), `${width} px`).toMatch(/\d+ \/ \d+ B/);
      await expect.poll(() => banner.evaluate(cutOff), { message: `${width} px, streaming` }).toEqual([]);
    }
    provider.release(question);
    await expect(page.locator('[data-turn] .answer')).toContainText('Done.');
    const checkHeader = async () => {
      await expect(status).toHaveAttribute('title', /#1 /);
      for (const state of ['as opened', 'with the inspector toggled']) {
        await expect.poll(() => banner.evaluate(cutOff), { message: state }).toEqual([]);
        await page.keyboard.press('Control+i');
      }
    };
    await checkHeader();
    const session = await page.locator('[data-session][aria-current]').getAttribute('data-session');
    await page.evaluate(async ([id, name]) => {
      const { Projects, Sessions } = (window as unknown as { go: { api: Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>> } }).go.api;
      await Projects?.['Create']?.(name);
      await Sessions?.['SetFolder']?.([id], name);
    }, [session, 'Moving the orders into the new database']);
    await expect(banner.locator('[data-field="project"]')).toBeVisible();
    await checkHeader();
  });
}

/**
 * The texts in the fields of the header that are cut off. Names of sessions and projects have any length and are not
 * checked.
 */
function cutOff(banner: Element): string[] {
  return [...banner.querySelectorAll<HTMLElement>('[data-field]:not([data-field="project"]) :is(.truncate, .cell__word > *)')]
    .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth && getComputedStyle(element).display !== 'inline')
    .map((element) => `${element.closest<HTMLElement>('[data-field]')?.dataset['field']}: ${element.textContent}`);
}

/** The fields that overlap another in the same row or the edge of the header, and those too narrow to be readable. */
function overlappingFields(banner: Element): string[] {
  const boxes = [...banner.querySelectorAll<HTMLElement>('.header > .where, [data-field], .end > :last-child')]
    .map((field) => ({ name: field.dataset['field'] ?? field.className, box: field.getBoundingClientRect() }));
  return boxes.flatMap(({ name, box }, i) => [
    ...(box.right > banner.getBoundingClientRect().right + 1 || box.width < 24 ? [name] : []),
    ...boxes.slice(i + 1).filter((other) => Math.abs(other.box.top - box.top) < 10 && other.box.left < box.right - 1 && box.left < other.box.right - 1).map((other) => `${name} on ${other.name}`),
  ]);
}

test('a small dialog is not at the top edge of the window', async ({ launch, page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await launch();
  await new Conversation(page).ready();
  await runCommand(page, 'Rename this session');
  const { y, height } = (await page.locator('dialog[open]').boundingBox())!;
  expect(height).toBeLessThan(600);
  expect(y).toBeCloseTo(0.12 * 800, 0); // it has space below to grow
});
