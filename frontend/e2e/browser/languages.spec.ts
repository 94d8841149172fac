import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { layoutProblems } from '../harness/reach.ts';
import { overlays, panels, tour, visitSettings } from '../harness/screens.ts';
import { call, seedHistory } from '../harness/seed.ts';
import { exhaustive, variants } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

// Each problem includes its location, so traces are not needed.
test.use({ trace: 'off' });

const shrinkWindow = (page: Page) => page.setViewportSize({ width: 900, height: 600 });

async function setLanguage(page: Page, language: string): Promise<void> {
  await call(page, 'Settings', 'Set', 'ui.language', language);
  await expect(page.locator('html')).toHaveAttribute('lang', language);
}

/** Matches the texts and names that seedHistory creates. */
const seededText = /have to watch|measure first|you saw|of the night|Note the lag|to say about|to Postgres|by hand|two people|logical replication|sequences|triggers|on a Friday|cut-over|new cluster|orders service|the kitchen|Runbook/i;

/** The English sentences and labels that the window shows, apart from messages, answers, names and code. */
async function englishTexts(page: Page): Promise<string[]> {
  return (await textsWithEnglishWords(page)).filter((text) => !seededText.test(text));
}

function textsWithEnglishWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const commonWords = /\b(?:the|of|and|to|is|are|were|not|with|from|for|your|you|this|that|it|each|before|after|user|assistant)\b/i;
    // Menus and tooltips that stay open keep the language in which they were opened.
    const userContent = 'article, [dir="auto"], pre, code, kbd, .mono, option, .text-input, .slash, [role="listbox"] .name, [role="option"] .preview, [data-session], h1, [role="menu"], [role="tooltip"]';
    const texts = new Set<string>();
    const add = (source: string | null, element: Element) => {
      const text = source?.replace(/\s+/g, ' ').trim() ?? '';
      if (text !== '' && commonWords.test(text) && !element.closest(userContent) && element.checkVisibility()) texts.add(`${text.slice(0, 120)} (${element.tagName.toLowerCase()}.${element.classList[0] ?? ''})`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) add(node.textContent, node.parentElement!);
    for (const name of ['aria-label', 'title', 'placeholder']) for (const element of document.querySelectorAll(`[${name}]`)) add(element.getAttribute(name), element);
    return [...texts];
  });
}

test.describe('in another language, at 900 x 600, nothing is cut off, unreachable or in English', () => {
  // The screens are opened by their English names. Then the language is changed, which takes effect at once.
  const check = (page: Page) => async (name: string) => {
    for (const language of variants('de', 'zh-CN')) {
      await setLanguage(page, language);
      expect.soft(await layoutProblems(page), `${name}, ${language}`).toEqual([]);
      // Some texts come from the program, so they change a moment later.
      await expect.soft.poll(() => englishTexts(page), `${name}, ${language}`).toEqual([]);
    }
    await setLanguage(page, 'en');
  };

  test.beforeEach(async ({ home, provider, launch, page }) => {
    home.configure(provider);
    await launch();
    await new Conversation(page).ready();
  });

  test('in the conversation and beside it', async ({ provider, page }) => {
    await seedHistory(page, provider, 5);
    await shrinkWindow(page);
    await new Conversation(page).ready();
    await tour(page, panels, check(page));
  });

  test('in overlays and full-size views', exhaustive, async ({ provider, page }) => {
    await seedHistory(page, provider, 3);
    await shrinkWindow(page);
    await new Conversation(page).ready();
    await tour(page, overlays, check(page));
  });

  test('in the settings', exhaustive, async ({ page }) => {
    await shrinkWindow(page);
    await visitSettings(page, check(page));
  });
});
