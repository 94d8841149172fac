import type { Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

const fence = '```';
const wideCode = `${fence}sh run.sh\n${'a-command --with --many --options '.repeat(12)}\necho done\n${fence}`;
const answer = `Before the code.\n\n${wideCode}\n\n1. First item\n2. Second item\n\nAfter the code. ${'More. '.repeat(6)}`;

/** Follows what grows at the end of the conversation: the footer of the newest turn, the way to it. */
const atTheEnd = 'footer, .actions, .jump';
/** Shows other words and numbers during and after a turn, or has other buttons. */
const afterATurn = `${atTheEnd}, header, aside, form .bar`;
/** Shows what happens in the background, at any time. */
const background = 'header, aside, nav';

/**
 * Notes where each visible text and control is, and in every frame afterwards which of them are elsewhere. The returned
 * function ends this and returns them.
 */
async function watchPlaces(page: Page, except = atTheEnd): Promise<() => Promise<string[]>> {
  await page.evaluate(async (exceptions) => {
    const all = () => [...document.querySelectorAll('button, p, textarea')].map((element) => JSON.stringify(element.getBoundingClientRect())).join();
    for (let calm = 0, last = ''; calm < 5; ) { // until an earlier change is over
      await new Promise(requestAnimationFrame);
      const now = all();
      calm = now === last ? calm + 1 : 0;
      last = now;
    }
    const hasText = (element: Element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim() !== '');
    const places = new Map<Element, DOMRect>();
    for (const element of document.querySelectorAll('body *')) {
      if (element.closest(exceptions) || element.closest('.visually-hidden') || !(hasText(element) || element.matches('button, textarea, input, svg'))) continue;
      const place = element.getBoundingClientRect();
      if (place.width > 0 && place.height > 0 && place.bottom > 0 && place.top < innerHeight) places.set(element, place);
    }
    const moved = new Map<Element, string>();
    const compare = () => {
      for (const [element, before] of places) {
        const now = element.getBoundingClientRect();
        if (!element.isConnected || now.width === 0 || Math.abs(now.x - before.x) + Math.abs(now.y - before.y) < 1) continue;
        moved.set(element, `${element.tagName} ${element.className} "${element.textContent!.trim().slice(0, 40)}": ${before.x},${before.y} to ${now.x},${now.y}`);
      }
    };
    let frame = requestAnimationFrame(function next() {
      compare();
      frame = requestAnimationFrame(next);
    });
    (window as any).movedPlaces = () => {
      cancelAnimationFrame(frame);
      compare();
      const watched = [...places.keys()].filter((element) => element.isConnected && element.closest('article')).length;
      return [watched >= 10 ? [] : [`only ${watched} elements of the conversation were watched`], ...moved.values()].flat();
    };
  }, except);
  return () => page.evaluate(() => (window as any).movedPlaces() as string[]);
}

test('nothing moves when an answer begins and settles, at a wide code block, with the first letter, an attachment and a failed turn', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Show me', answer, { chunkSize: 10, holdAfter: Math.floor(answer.length / 10) });
  provider.answer('Think first', 'It is so.', { chunkSize: 3, holdAfter: [1, 5] });
  provider.refuse('This fails', 400, 'no such thing');
  await launch();
  const chat = new Conversation(page);

  await chat.ask('Show me');
  await expect(chat.answer(1)).toContainText('After');
  let moved = await watchPlaces(page, afterATurn);
  provider.release('Show me');
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await expect(chat.stop).toBeHidden();
  expect.soft(await moved(), 'when the answer settles').toEqual([]);

  const code = chat.answer(1).locator('.code');
  const wrap = code.getByRole('button', { name: 'Wrap long lines' });
  await chat.composer.hover();
  await expect(wrap).toHaveCSS('opacity', '0');
  moved = await watchPlaces(page, background);
  await code.hover();
  await expect(wrap).toHaveCSS('opacity', '1');
  await wrap.hover();
  expect.soft(await moved(), 'at the code block').toEqual([]);

  for (const [width, height] of [[1280, 800], [900, 600]] as const) {
    await page.setViewportSize({ width, height });
    await chat.composer.focus();
    moved = await watchPlaces(page, background);
    await page.keyboard.type('H');
    await expect(page.locator('form .count b')).toBeVisible();
    expect.soft(await moved(), `with the first letter, ${width} px`).toEqual([]);
    await page.keyboard.press('Backspace');
    await expect(page.locator('form .count b')).toBeHidden();
  }

  await page.setViewportSize({ width: 1280, height: 800 });
  moved = await watchPlaces(page);
  const attach = async (name: string) => {
    const [picker] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
    await picker.setFiles({ name, mimeType: 'text/markdown', buffer: Buffer.from(`# ${name}\n\nThe ferry leaves at nine.\n`) });
    await expect(page.getByRole('button', { name: `Remove ${name}` })).toBeVisible();
    await expect(page.getByRole('button', { name: `Stop attaching ${name}` })).toBeHidden();
  };
  await attach('notes.md');
  expect.soft(await moved(), 'with an attachment').toEqual([]);
  moved = await watchPlaces(page);
  await attach('more.md');
  await page.getByRole('button', { name: 'Remove more.md' }).click();
  expect.soft(await moved(), 'with another attachment').toEqual([]);
  await page.getByRole('button', { name: 'Remove notes.md' }).click();

  moved = await watchPlaces(page, afterATurn);
  await chat.ask('This fails');
  await expect(chat.turn(2).getByRole('button', { name: 'Retry' })).toBeVisible();
  expect.soft(await moved(), 'with a failed turn').toEqual([]);

  await page.setViewportSize({ width: 900, height: 600 });
  await chat.ask('Think first');
  await expect(chat.turn(3).locator('.skeleton')).toBeInViewport();
  moved = await watchPlaces(page, afterATurn);
  provider.release('Think first');
  await expect(chat.answer(3)).toBeVisible();
  expect.soft(await moved(), 'with the first words').toEqual([]);
  provider.release('Think first');
  await expect(chat.stop).toBeHidden();
});
