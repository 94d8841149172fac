import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { unreachable } from '../harness/reach.ts';
import { overlays, panels, settingsPages, tour } from '../harness/screens.ts';
import { call, workedIn } from '../harness/seed.ts';
import { Conversation } from './conversation.ts';

// Each finding includes its location.
test.use({ trace: 'off' });
const eventually = expect.configure({ soft: true, timeout: 15_000 });

const small = (page: Page) => page.setViewportSize({ width: 900, height: 600 });

async function speak(page: Page, language: string): Promise<void> {
  await call(page, 'Settings', 'Set', 'ui.language', language);
  await expect(page.locator('html')).toHaveAttribute('lang', language);
}

/** The texts and names that workedIn creates. */
const seeded = /have to watch|measure first|you saw|of the night|Note the lag|to say about|to Postgres|by hand|two people|logical replication|sequences|triggers|on a Friday|cut-over|new cluster|orders service|the kitchen|Runbook/i;

/** English sentences and labels that the window shows, apart from messages, answers, names and code. */
async function english(page: Page): Promise<string[]> {
  return (await drawn(page)).filter((words) => !seeded.test(words));
}

function drawn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const common = /\b(?:the|of|and|to|is|are|were|not|with|from|for|your|you|this|that|it|each|before|after|user|assistant)\b/i;
    // Menus and tooltips that stay open keep the language in which they were opened.
    const written = 'article, [dir="auto"], pre, code, kbd, .mono, option, .text-input, .slash, [role="listbox"] .name, [role="option"] .preview, [data-session], h1, [role="menu"], [role="tooltip"]';
    const found = new Set<string>();
    const add = (text: string | null, element: Element) => {
      const words = text?.replace(/\s+/g, ' ').trim() ?? '';
      if (words !== '' && common.test(words) && !element.closest(written) && element.checkVisibility()) found.add(`${words.slice(0, 120)} (${element.tagName.toLowerCase()}.${element.classList[0] ?? ''})`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) add(node.textContent, node.parentElement!);
    for (const name of ['aria-label', 'title', 'placeholder']) for (const element of document.querySelectorAll(`[${name}]`)) add(element.getAttribute(name), element);
    return [...found];
  });
}

test.describe('in German and Chinese, at 900 x 600, nothing is cut off, unreachable or in English', () => {
  // The screens are opened by their English names; then the window changes its language, which takes effect at once.
  const look = (page: Page) => async (name: string) => {
    for (const language of ['de', 'zh-CN']) {
      await speak(page, language);
      await eventually.poll(() => unreachable(page), `${name}, ${language}`).toEqual([]);
      await eventually.poll(() => english(page), `${name}, ${language}`).toEqual([]);
    }
    await speak(page, 'en');
  };

  test.beforeEach(async ({ home, provider, launch, page }) => {
    home.configure(provider);
    await launch();
    await new Conversation(page).ready();
  });

  test('in the conversation and beside it', async ({ provider, page }) => {
    await workedIn(page, provider, 5);
    await small(page);
    await new Conversation(page).ready();
    await tour(page, panels, look(page));
  });

  test('in views over it', async ({ provider, page }) => {
    await workedIn(page, provider, 3);
    await small(page);
    await new Conversation(page).ready();
    await tour(page, overlays, look(page));
  });

  test('in the settings', async ({ page }) => {
    await small(page);
    await settingsPages(page, look(page));
  });
});
