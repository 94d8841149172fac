import type { Page } from '@playwright/test';
import { Provider } from '../harness/provider.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation, prose } from './conversation.ts';

/** Internal terms, which a new user has never read about. */
const ledgerWords = /\b(?:durable|buffered|head|pending|epoch|journal|replay|chunk|manifest|ledger|commit(?:ted)?|lineage|librarian|fsync|embedd\w*)\b/i;

/** The visible text: neither text for screen readers only, nor text outside the window, nor tooltips. */
function drawn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent!.trim();
      const element = node.parentElement!;
      if (text === '' || element.closest('.visually-hidden, script, style') || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if ([...range.getClientRects()].some((box) => box.width > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth)) found.push(text);
    }
    return [...found, ...[...document.querySelectorAll<HTMLInputElement>('[placeholder]')].map((field) => field.placeholder)];
  });
}

/** Expects that the visible text matches `seen` and contains no internal terms. */
async function usesPlainWords(page: Page, seen: RegExp): Promise<void> {
  let texts: string[] = [];
  await expect.poll(async () => (texts = await drawn(page)).join('\n')).toMatch(seen);
  expect(texts.filter((text) => ledgerWords.test(text))).toEqual([]);
}

test.beforeEach(({ page }) => page.addInitScript(() => localStorage.setItem('contextinfinity.layout', '{}'))); // as on the first start

test('a local server: one click and one message to the first answer, and no internal terms on the screen', async ({ launch, page }) => {
  const local = await Provider.startAt(11434).catch(() => undefined);
  test.skip(local === undefined, 'something else listens on port 11434 of this machine');
  const server = local as Provider;
  const answer = prose(60, 'the first answer');
  try {
    server.models = ['llama3.2:3b'];
    server.answer('What can you do?', answer, { chunkSize: 20, holdAfter: 40 });
    await launch();
    const ways = page.getByRole('main').getByRole('button', { name: /^(Start with|Test the key|Look again)/ });
    const start = page.getByRole('region', { name: 'Use this computer' }).getByRole('button', { name: 'Start with llama3.2:3b' });
    await expect(async () => {
      const again = page.getByRole('button', { name: 'Look again' });
      if (await again.isVisible()) await again.click({ timeout: 2_000 }); // it was too busy to respond in time
      await expect(start).toBeVisible({ timeout: 10_000 });
    }).toPass();
    await expect(ways.and(page.locator('[data-kind="primary"]'))).toHaveCount(1); // exactly one primary button, which is this one
    await expect(start).toHaveAttribute('data-kind', 'primary');
    await usesPlainWords(page, /Use this computer/);

    await start.click(); // the one click
    const chat = new Conversation(page);
    await expect(chat.composer).toBeFocused();
    await chat.ready();
    await expect(page.getByRole('tabpanel')).toHaveCount(0); // the inspector is closed
    await expect(page.getByText('A new session')).toBeVisible();
    await usesPlainWords(page, /Write to/);

    await page.keyboard.type('What can you do?');
    await page.keyboard.press('Enter'); // the one message
    await chat.shown(1, 200);
    await usesPlainWords(page, /Answering/);
    server.release('What can you do?');
    await expect(chat.answer(1)).toContainText(answer.slice(-40));
    await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
    await expect(chat.header).toContainText('All summarised');
    await usesPlainWords(page, /All summarised/);
  } finally {
    await server.stop();
  }
});
