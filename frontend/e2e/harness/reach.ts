import type { Page } from '@playwright/test';

/**
 * Problems of the current screen that make something unusable or unreadable, one per line: a control that scrolling
 * does not bring into the window, or that is covered; a box that scrolls sideways, or is wider than the window; a
 * window that scrolls as a whole; a text that is cut off and not available in full elsewhere.
 *
 * Checks the topmost dialog, menu or drawer, or the whole window if there is none.
 */
export async function layoutProblems(page: Page): Promise<string[]> {
  await page.evaluate(waitUntilSettled);
  return page.evaluate(findLayoutProblems);
}

/**
 * Waits until the page has been drawn several times without a change: nothing is loading or sliding in, no element was
 * added or removed, and nothing that scrolls has another size or position. Runs in the page, so it may not use anything outside
 * this function. A page that never settles is not waited for: the caller then finds what is wrong with it.
 */
export async function waitUntilSettled(): Promise<void> {
  const state = () => JSON.stringify([
    innerWidth,
    innerHeight,
    document.querySelectorAll('*').length,
    ...[...document.querySelectorAll('main, [role="log"], dialog[open], [role="tabpanel"]')]
      .map(({ scrollTop, scrollHeight, clientWidth }) => [scrollTop, scrollHeight, clientWidth]),
  ]);
  const isMoving = () => document.getAnimations().some(({ playState, effect }) => playState === 'running' && effect?.getComputedTiming().endTime !== Infinity);
  await document.fonts.ready;
  let last = '';
  for (let frame = 0, calm = 0; frame < 600 && calm < 5; frame++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = state();
    calm = now === last && !document.querySelector('[aria-busy="true"]') && !isMoving() ? calm + 1 : 0;
    last = now;
  }
}

/**
 * Runs in the page, so it may not use anything outside this function. The tests of the real window run it over
 * WebDriver.
 */
export async function findLayoutProblems(): Promise<string[]> {
  const problems = new Set<string>();
  const top = ['dialog[open], [popover]:popover-open', '.drawer', 'main [role="listbox"]'].map((selector) => [...document.querySelectorAll<HTMLElement>(selector)].at(-1)).find(Boolean) ?? document.body;
  const isVisible = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('[inert], [aria-hidden="true"], .visually-hidden');
  const nameOf = (element: Element) => {
    const text = element.getAttribute('aria-label') || (element as HTMLElement).innerText || element.getAttribute('title') || '';
    return `${element.tagName.toLowerCase()}${element.className && typeof element.className === 'string' ? `.${element.className.split(' ')[0]}` : ''} “${text.replace(/\s+/g, ' ').slice(0, 60)}”`;
  };
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  /** A list that is scrolling ignores the pointer for a moment. */
  const listsAtRest = async () => {
    for (let frame = 0; frame < 600 && document.querySelector('[style*="pointer-events"]'); frame++) await nextFrame();
  };

  const topBox = top.getBoundingClientRect();
  if (topBox.left < -1 || topBox.top < -1 || topBox.right > innerWidth + 1 || topBox.bottom > innerHeight + 1) problems.add(`outside the window, at ${[topBox.left, topBox.top, topBox.right, topBox.bottom].map(Math.round).join(' ')}: ${nameOf(top)}`);
  if (document.documentElement.scrollWidth > innerWidth) problems.add(`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`);

  // Code, data tables, the tree and tab lists may be wider than the space they have, because they scroll.
  const scrollable = 'pre, .data-scroll, [role="tree"], [role="tablist"]';
  for (const element of top.querySelectorAll<HTMLElement>('*')) {
    if (!isVisible(element) || element.closest(`svg, .katex, ${scrollable}`)) continue;
    const style = getComputedStyle(element);
    if (element.clientWidth === 0 || element.scrollWidth <= element.clientWidth + 1) continue;
    if (['auto', 'scroll'].includes(style.overflowX) && !['INPUT', 'TEXTAREA'].includes(element.tagName)) problems.add(`scrolls sideways, ${element.scrollWidth} in ${element.clientWidth}: ${nameOf(element)}`);
    if (style.overflowX !== 'hidden' && style.overflowX !== 'clip' || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) continue;
    const fullText = element.closest('[title], summary, button[aria-expanded], [role="option"], article') || element.querySelector('[title]');
    if (!fullText) problems.add(`cut off, ${element.scrollWidth} in ${element.clientWidth}: ${nameOf(element)}`);
  }

  const controls = 'button, a[href], input, select, textarea, summary, [role="option"], [role="menuitem"], [role="tab"]';
  const isWithin = (hit: Element | null, element: Element) => hit !== null && (element.contains(hit) || hit.contains(element) && !hit.matches('dialog') && (hit.closest('label') !== null || hit.parentElement === element.parentElement));
  for (const element of top.querySelectorAll<HTMLElement>(controls)) {
    if (!element.isConnected || !isVisible(element) || element.matches(':disabled')) continue;
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    await nextFrame();
    let box = element.getBoundingClientRect();
    if (!element.isConnected || box.width === 0 || box.height === 0) continue;
    if (box.left < -1 || box.right > innerWidth + 1 || (box.height < innerHeight && (box.top < -1 || box.bottom > innerHeight + 1))) {
      problems.add(`outside the window, at ${[box.left, box.top, box.right, box.bottom].map(Math.round).join(' ')} of ${innerWidth} x ${innerHeight}: ${nameOf(element)}`);
      continue;
    }
    const topmost = () => document.elementFromPoint(box.left + box.width / 2, Math.max(0, box.top) + Math.min(box.height, innerHeight) / 2);
    let hit = topmost();
    if (!isWithin(hit, element)) {
      await listsAtRest();
      if (!element.isConnected) continue; // the list may have redrawn its rows
      element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
      await nextFrame();
      await listsAtRest();
      if (!element.isConnected) continue;
      box = element.getBoundingClientRect();
      hit = topmost();
    }
    if (!isWithin(hit, element)) problems.add(`covered by ${hit ? nameOf(hit) : 'nothing'}: ${nameOf(element)}`);
  }
  for (const element of [document.documentElement, document.body, document.querySelector('.window')]) {
    if (element && (element.scrollTop !== 0 || element.scrollLeft !== 0)) problems.add(`the whole window was scrolled by ${element.scrollTop}: ${element.tagName.toLowerCase()}`);
  }
  return [...problems];
}
