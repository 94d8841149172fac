import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { overlays, panels, settingsPages, temporary, tour } from '../harness/screens.ts';
import { workedIn } from '../harness/seed.ts';
import { Conversation } from './conversation.ts';

// Each finding includes its location, and recording a trace of some hundred inspections takes longer than the
// inspections.
test.use({ trace: 'off' });

test('first start: no serious finding', async ({ launch, page }) => {
  await launch();
  await expect(page.getByRole('button', { name: 'Start with recall' })).toBeVisible();
  await inspect(page, 'first start');
});

test('with forced colours, selections and search results are visible', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('A question', 'An answer.');
  await launch();
  await new Conversation(page).askAndWait(1, 'A question', 'An answer.');
  await page.emulateMedia({ forcedColors: 'active' });
  const style = (css: string, name: string) => page.evaluate(([at, property]) => getComputedStyle(document.querySelector(at!)!).getPropertyValue(property!), [css, name]);
  expect(await style('article .ask', 'outline-style')).toBe('solid'); // it has no background

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
  const places: string[] = [];
  for (let stop = 0; stop < 60 && places.at(-1) !== 'ASIDE'; stop++) {
    await page.keyboard.press('Tab');
    const [place, ring, name] = await page.evaluate(() => {
      const element = document.activeElement!;
      const around = [element, element.parentElement!, element.parentElement!.parentElement!];
      const rung = around.some((one) => getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0);
      return [element.closest('nav, header, main, aside')?.tagName ?? '', rung, element.outerHTML.slice(0, 120)] as const;
    });
    expect.soft(ring, `the focus is seen on ${name}`).toBe(true);
    if (place !== places.at(-1)) places.push(place);
  }
  expect(places).toEqual(['NAV', 'HEADER', 'MAIN', 'ASIDE']);
});

test.describe('no serious finding in the light, dark and contrast themes', () => {
  test.beforeEach(async ({ home, provider, launch, page }) => {
    home.configure(provider);
    await launch();
    await new Conversation(page).ready();
  });

  // In several parts, because each screen is inspected three times.
  const parts = <T>(all: readonly T[], many: number) => Array.from({ length: many }, (_, part) => all.filter((_, at) => at % many === part));

  for (const [part, some] of parts(panels, 3).entries()) {
    test(`in the conversation and beside it, part ${part + 1}`, async ({ provider, page }) => {
      await workedIn(page, provider, 5);
      await new Conversation(page).ready();
      await tour(page, some, (name) => inspect(page, name));
    });
  }

  test('with an empty conversation, and failed or interrupted answers', async ({ provider, page }) => {
    await inspect(page, 'an empty conversation');
    await workedIn(page, provider, 2);
    await new Conversation(page).ready();
    for (const [title, state] of [['Runbook for', /incomplete/i], ['What the new cluster', /failed/i]] as const) {
      await page.getByRole('navigation', { name: 'Sessions' }).getByRole('button', { name: new RegExp(`^${title}`) }).click();
      await expect(new Conversation(page).turn(1)).toHaveAccessibleName(state);
      await inspect(page, `a turn that is ${state.source}`);
    }
  });

  for (const [part, some] of parts(overlays, 4).entries()) {
    test(`in views over it, part ${part + 1}`, async ({ provider, page }) => {
      await workedIn(page, provider, 3);
      await new Conversation(page).ready();
      await tour(page, some, (name) => inspect(page, name));
    });
  }

  test('in the settings and in a temporary chat', async ({ provider, page }) => {
    await settingsPages(page, (name) => inspect(page, name));
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
    await inspect(page, 'the question before it is left');
  });
});
