import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { waitUntilSettled } from '../harness/reach.ts';
import { drawnTurns, importTallTurns, writeTenThousandTurns } from '../harness/seed.ts';
import { Conversation } from './conversation.ts';

test('a conversation of 10 000 turns opens at its end, any turn and text can be found, and the page contains few of them', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  writeTenThousandTurns(home);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation').getByText('Ten thousand turns').first().click();
  await chat.ready();
  await expect(chat.turn(10_000)).toBeInViewport();
  await expect(chat.answer(10_000)).toContainText('Answer 10000, in some words');
  await expectFewElements(page);

  const list = page.getByRole('log', { name: 'Conversation' });
  await list.focus();
  await page.keyboard.press('Home');
  await expect(chat.turn(1)).toBeInViewport();
  await expect(chat.answer(1)).toContainText('Answer 1, in some words');
  await expect(chat.turn(10_000)).toHaveCount(0);
  await expectFewElements(page);

  await goToTurn(page, '#5000');
  await expect(chat.turn(5_000)).toBeInViewport();
  await expect(chat.turn(5_000)).toBeFocused();
  await expect(chat.answer(5_000)).toContainText('Answer 5000, in some words');
  await expectFewElements(page);
  // The turns around it are loaded too, on both sides.
  await expect(chat.turn(4_999)).toHaveCount(1);
  await expect(chat.turn(5_001)).toHaveCount(1);

  await page.keyboard.press('Control+f');
  const find = page.getByRole('search', { name: 'Find in this session' });
  await find.getByRole('textbox').fill('question 7777,');
  await expect(find.getByRole('status')).toHaveText('1 of 1');
  await expect(chat.turn(7_777)).toBeInViewport();
  expect(await highlightedTexts(page)).toEqual(['Question 7777,']);
  await expectFewElements(page);
  // Esc closes the search, stays at the match, and moves the focus to the conversation.
  await page.keyboard.press('Escape');
  await expect(find).toBeHidden();
  await expect(chat.turn(7_777)).toBeInViewport();
  await expect(list).toBeFocused();

  await goToTurn(page, '#2');
  await expect(chat.turn(2)).toBeFocused();
  await page.keyboard.press('End');
  await expect(chat.turn(10_000)).toBeInViewport();
  provider.answer('One more question', 'One more answer.');
  await chat.askAndWait(10_001, 'One more question', 'One more answer.');
  await expect(chat.turn(10_001)).toBeInViewport();
  await expectFewElements(page);
});

test('a conversation of tall turns that is scrolled to its end stays there and stays drawn when its width changes', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  importTallTurns(home, 12);
  await launch();
  const chat = new Conversation(page);
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('What do we have to watch').first().click();
  await expect(chat.answer(12)).toContainText('That is all of step 12.');
  for (const width of [1280, 900, 1400, 1000, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate(waitUntilSettled);
    expect([width, await page.evaluate(drawnTurns)]).toEqual([width, [11, 0]]);
  }
});

async function goToTurn(page: Page, turn: string): Promise<void> {
  await page.keyboard.press('Control+g');
  const dialog = page.getByRole('dialog', { name: 'Go to a turn' });
  await dialog.getByRole('textbox').fill(turn);
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
}

async function expectFewElements(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(3_000);
}

/** The texts that the engine highlights as search results. */
function highlightedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    ['found', 'found-here'].flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)),
  );
}
