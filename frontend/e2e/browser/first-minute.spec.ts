import type { Page } from '@playwright/test';
import { onOllamasPort } from '../harness/ollama.ts';
import { Provider } from '../harness/provider.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation, prose } from './conversation.ts';

/** Internal terms, which a new user cannot know. "Buffered", which SRD 13.3 requires while an answer arrives, is not one. */
const internalTerms = /\b(?:durable|head|pending|epoch|journal|replay|chunk|manifest|ledger|commit(?:ted)?|lineage|librarian|fsync|embedd\w*)\b/i;

/** The visible texts, without text for screen readers only, text outside the window and tooltips. */
function visibleTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent!.trim();
      const element = node.parentElement!;
      if (text === '' || element.closest('.visually-hidden, script, style') || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if ([...range.getClientRects()].some((box) => box.width > 1 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth)) texts.push(text);
    }
    return [...texts, ...[...document.querySelectorAll<HTMLInputElement>('[placeholder]')].map((field) => field.placeholder)];
  });
}

/** Waits until the visible text matches the pattern, and expects that it contains no internal terms. */
async function expectPlainWords(page: Page, pattern: RegExp): Promise<void> {
  let texts: string[] = [];
  await expect.poll(async () => (texts = await visibleTexts(page)).join('\n')).toMatch(pattern);
  expect(texts.filter((text) => internalTerms.test(text))).toEqual([]);
}

test.beforeEach(({ page }) => page.addInitScript(() => localStorage.setItem('contextinfinity.layout', '{}'))); // the default layout, as on the first run

test('a local server: the first answer takes one click and one message, and the screen shows no internal terms', async ({ launch, page }) => {
  const started = await onOllamasPort(Provider.startAt);
  test.skip(started === undefined, 'something else listens on port 11434 of this machine');
  const server = started as Provider;
  const answer = prose(60, 'the first answer');
  try {
    server.models = ['llama3.2:3b'];
    server.answer('What can you do?', answer, { chunkSize: 20, holdAfter: 40 });
    await launch();
    const startButtons = page.getByRole('main').getByRole('button', { name: /^(Start with|Test the key|Check again)/ });
    const start = page.getByRole('region', { name: 'Use this computer' }).getByRole('button', { name: 'Start with llama3.2:3b' });
    await expect(async () => {
      const retry = page.getByRole('button', { name: 'Check again' });
      if (await retry.isVisible()) await retry.click({ timeout: 2_000 }); // the machine was too busy to respond in time
      await expect(start).toBeVisible({ timeout: 10_000 });
    }).toPass();
    await expect(startButtons.and(page.locator('[data-kind="primary"]'))).toHaveCount(1); // exactly one primary button: the one checked next
    await expect(start).toHaveAttribute('data-kind', 'primary');
    await expectPlainWords(page, /Use this computer/);

    await start.click(); // the one click
    const chat = new Conversation(page);
    await expect(chat.composer).toBeFocused();
    await chat.ready();
    await expect(page.getByRole('tabpanel')).toHaveCount(0); // the inspector is closed
    await expect(page.getByText('A new session')).toBeVisible();
    await expectPlainWords(page, /Write to/);

    await page.keyboard.type('What can you do?');
    await page.keyboard.press('Enter'); // the one message
    await chat.waitForText(1, 200);
    await expectPlainWords(page, /Stream/);
    server.release('What can you do?');
    await expect(chat.answer(1)).toContainText(answer.slice(-40));
    await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
    await expectPlainWords(page, /Saved/);
  } finally {
    await server.stop();
  }
});
