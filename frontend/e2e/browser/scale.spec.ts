import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { drawnTurns, tallTurns, tenThousandTurns } from '../harness/seed.ts';
import { Conversation } from './conversation.ts';

test('10 000 turns: opens at its end, reaches any turn, finds text, and keeps little of it in the page', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  tenThousandTurns(home);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation').getByText('Ten thousand turns').first().click();
  await chat.ready();
  await expect(chat.turn(10_000)).toBeInViewport();
  await expect(chat.answer(10_000)).toContainText('Answer 10000, in some words');
  await small(page);

  const list = page.getByRole('log', { name: 'Conversation' });
  await list.focus();
  await page.keyboard.press('Home');
  await expect(chat.turn(1)).toBeInViewport();
  await expect(chat.answer(1)).toContainText('Answer 1, in some words');
  await expect(chat.turn(10_000)).toHaveCount(0);
  await small(page);

  await goTo(page, '#5000');
  await expect(chat.turn(5_000)).toBeInViewport();
  await expect(chat.turn(5_000)).toBeFocused();
  await expect(chat.answer(5_000)).toContainText('Answer 5000, in some words');
  await small(page);
  // The turns around it are loaded too, on both sides.
  await expect(chat.turn(4_999)).toHaveCount(1);
  await expect(chat.turn(5_001)).toHaveCount(1);

  await page.keyboard.press('Control+f');
  const find = page.getByRole('search', { name: 'Find in this session' });
  await find.getByRole('textbox').fill('question 7777,');
  await expect(find.getByRole('status')).toHaveText('1 of 1');
  await expect(chat.turn(7_777)).toBeInViewport();
  expect(await painted(page)).toEqual(['Question 7777,']);
  await small(page);
  // Esc closes the search at the match, and the conversation has the focus.
  await page.keyboard.press('Escape');
  await expect(find).toBeHidden();
  await expect(chat.turn(7_777)).toBeInViewport();
  await expect(list).toBeFocused();

  await goTo(page, '#2');
  await expect(chat.turn(2)).toBeFocused(); // as after a click on it
  await page.keyboard.press('End');
  await expect(chat.turn(10_000)).toBeInViewport();
  provider.answer('And on we go', 'As ever.');
  await chat.askAndWait(10_001, 'And on we go', 'As ever.');
  await expect(chat.turn(10_001)).toBeInViewport();
  await small(page);
});

test('a conversation of tall turns that is scrolled to its end stays there and stays drawn when its width changes', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  tallTurns(home, 12);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('What do we have to watch').first().click();
  await expect(chat.answer(12)).toContainText('That is all of step 12.');
  for (const width of [1280, 900, 1400, 1000, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(500); // a list that draws nothing stays empty
    expect([width, await page.evaluate(drawnTurns)]).toEqual([width, [11, 0]]);
  }
});

async function goTo(page: Page, where: string): Promise<void> {
  await page.keyboard.press('Control+g');
  const dialog = page.getByRole('dialog', { name: 'Go to a turn' });
  await dialog.getByRole('textbox').fill(where);
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
}

async function small(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3_000);
}

/** The texts that the engine paints as search results. */
function painted(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    ['found', 'found-here'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)),
  );
}
