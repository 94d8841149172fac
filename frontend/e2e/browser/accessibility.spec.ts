import { inspect, themes } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { overlays, panels, temporary, tour, visitSettings } from '../harness/screens.ts';
import { seedHistory } from '../harness/seed.ts';
import { exhaustive } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

// Each finding includes its location, and recording a trace of hundreds of inspections takes longer than the
// inspections.
test.use({ trace: 'off' });

test('first run: no serious finding', async ({ launch, page }) => {
  await launch();
  await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
  await inspect(page, 'first run', themes);
});

test('with forced colours, selections and search results are visible', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('A question', 'An answer.');
  await launch();
  await new Conversation(page).askAndWait(1, 'A question', 'An answer.');
  await page.emulateMedia({ forcedColors: 'active' });
  const style = (css: string, name: string) => page.evaluate(([selector, property]) => getComputedStyle(document.querySelector(selector!)!).getPropertyValue(property!), [css, name]);
  expect(await style('article .ask', 'outline-style')).toBe('solid'); // forced colours remove its background

  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('br');
  await expect(page.locator('dialog[open] [role="option"] mark').first()).toBeVisible();
  expect(await style('dialog[open] [role="option"] mark', 'color')).not.toBe(await style('dialog[open]', 'background-color'));
  expect(await style('dialog[open] [role="option"][aria-selected="true"]', 'outline-style')).toBe('solid');
  await page.keyboard.press('Escape');

  await page.locator('article .answer p').last().click({ button: 'right' });
  await expect(page.getByRole('menu', { name: 'Actions' })).toBeVisible();
  expect(await style('[role="menuitem"]:focus', 'outline-style')).toBe('solid');
});

test('Tab follows the visual order of the window, and shows the focus', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('A question', 'An answer.');
  await launch();
  await new Conversation(page).askAndWait(1, 'A question', 'An answer.');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.mouse.click(1, 1);
  const landmarks: string[] = [];
  for (let stop = 0; stop < 60 && landmarks.at(-1) !== 'ASIDE'; stop++) {
    await page.keyboard.press('Tab');
    const [landmark, hasRing, html] = await page.evaluate(() => {
      const element = document.activeElement!;
      const candidates = [element, element.parentElement!, element.parentElement!.parentElement!];
      const hasOutline = candidates.some((candidate) => getComputedStyle(candidate).outlineStyle !== 'none' && parseFloat(getComputedStyle(candidate).outlineWidth) > 0);
      return [element.closest('nav, header, main, aside')?.tagName ?? '', hasOutline, element.outerHTML.slice(0, 120)] as const;
    });
    expect.soft(hasRing, `the focus is visible on ${html}`).toBe(true);
    if (landmark !== landmarks.at(-1)) landmarks.push(landmark);
  }
  expect(landmarks).toEqual(['NAV', 'HEADER', 'MAIN', 'ASIDE']);
});

test.describe('no serious finding', () => {
  test.beforeEach(async ({ home, provider, launch, page }) => {
    home.configure(provider);
    await launch();
    await new Conversation(page).ready();
  });

  test('in the conversation and beside it', async ({ provider, page }) => {
    await seedHistory(page, provider, 5);
    await new Conversation(page).ready();
    await tour(page, panels, (name) => inspect(page, name));
  });

  test('with an empty conversation, and failed or interrupted answers', async ({ provider, page }) => {
    await inspect(page, 'an empty conversation');
    await seedHistory(page, provider, 2);
    await new Conversation(page).ready();
    for (const [title, state] of [['Runbook for', /incomplete/i], ['What the new cluster', /failed/i]] as const) {
      await page.getByRole('navigation', { name: 'Sessions' }).getByRole('button', { name: new RegExp(`^${title}`) }).click();
      await expect(new Conversation(page).turn(1)).toHaveAccessibleName(state);
      await inspect(page, `a turn that is ${state.source}`);
    }
  });

  test('in overlays and full-size views', exhaustive, async ({ provider, page }) => {
    await seedHistory(page, provider, 3);
    await new Conversation(page).ready();
    await tour(page, overlays, (name) => inspect(page, name));
  });

  test('in the settings and in a temporary chat', async ({ provider, page }) => {
    await visitSettings(page, (name) => inspect(page, name));
    provider.answer('Show me', 'The end of it.');
    const chat = new Conversation(page);
    await temporary.show(page);
    await inspect(page, 'an empty temporary chat');
    await chat.composer.fill('Show me');
    await chat.composer.press('Enter');
    await expect(chat.turn(1)).toContainText('Answered, not kept');
    await inspect(page, 'a temporary chat');
    await temporary.leave?.(page);
    await expect(page.getByRole('dialog')).toBeVisible();
    await inspect(page, 'the question before leaving it');
  });
});
