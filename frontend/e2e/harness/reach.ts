import type { Page } from '@playwright/test';

/**
 * Problems of the current screen that make something unusable or unreadable, one per line: a control that scrolling
 * does not bring into the window, or that something covers; a box that scrolls sideways, or is wider than the window; a
 * window that scrolls as a whole; a text that is cut off and not available in full elsewhere.
 *
 * Checks the topmost dialog, menu or drawer, or the whole window if there is none.
 */
export function unreachable(page: Page): Promise<string[]> {
  return page.evaluate(unreachableHere);
}

/** Runs in the page, so it refers to nothing outside of itself; the tests of the real window run it over WebDriver. */
export async function unreachableHere(): Promise<string[]> {
  const found = new Set<string>();
  const top = ['dialog[open], [popover]:popover-open', '.drawer', 'main [role="listbox"]'].map((over) => [...document.querySelectorAll<HTMLElement>(over)].at(-1)).find(Boolean) ?? document.body;
  const drawn = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('[inert], [aria-hidden="true"], .visually-hidden');
  const nameOf = (element: Element) => {
    const words = element.getAttribute('aria-label') || (element as HTMLElement).innerText || element.getAttribute('title') || '';
    return `${element.tagName.toLowerCase()}${element.className && typeof element.className === 'string' ? `.${element.className.split(' ')[0]}` : ''} “${words.replace(/\s+/g, ' ').slice(0, 60)}”`;
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const moment = () => new Promise((resolve) => setTimeout(resolve, 300));

  const edge = top.getBoundingClientRect();
  if (edge.left < -1 || edge.top < -1 || edge.right > innerWidth + 1 || edge.bottom > innerHeight + 1) found.add(`beyond the window, at ${[edge.left, edge.top, edge.right, edge.bottom].map(Math.round).join(' ')}: ${nameOf(top)}`);
  if (document.documentElement.scrollWidth > innerWidth) found.add(`the page is ${document.documentElement.scrollWidth} wide, the window ${innerWidth}`);

  // Code, data tables, the tree and tab lists may be wider than their place, because they scroll.
  const mayScroll = 'pre, .data-scroll, [role="tree"], [role="tablist"]';
  for (const element of top.querySelectorAll<HTMLElement>('*')) {
    if (!drawn(element) || element.closest(`svg, .katex, ${mayScroll}`)) continue;
    const style = getComputedStyle(element);
    if (element.clientWidth === 0 || element.scrollWidth <= element.clientWidth + 1) continue;
    if (['auto', 'scroll'].includes(style.overflowX) && !['INPUT', 'TEXTAREA'].includes(element.tagName)) found.add(`scrolls sideways, ${element.scrollWidth} in ${element.clientWidth}: ${nameOf(element)}`);
    if (style.overflowX !== 'hidden' && style.overflowX !== 'clip' || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) continue;
    const available = element.closest('[title], summary, button[aria-expanded], [role="option"], article') || element.querySelector('[title]');
    if (!available) found.add(`cut off, ${element.scrollWidth} in ${element.clientWidth}: ${nameOf(element)}`);
  }

  const controls = 'button, a[href], input, select, textarea, summary, [role="option"], [role="menuitem"], [role="tab"]';
  const within = (hit: Element | null, element: Element) => hit !== null && (element.contains(hit) || hit.contains(element) && !hit.matches('dialog') && (hit.closest('label') !== null || hit.parentElement === element.parentElement));
  for (const element of top.querySelectorAll<HTMLElement>(controls)) {
    if (!element.isConnected || !drawn(element) || element.matches(':disabled')) continue;
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    await frame();
    let box = element.getBoundingClientRect();
    if (!element.isConnected || box.width === 0 || box.height === 0) continue;
    if (box.left < -1 || box.right > innerWidth + 1 || (box.height < innerHeight && (box.top < -1 || box.bottom > innerHeight + 1))) {
      found.add(`outside, at ${[box.left, box.top, box.right, box.bottom].map(Math.round).join(' ')} of ${innerWidth} x ${innerHeight}: ${nameOf(element)}`);
      continue;
    }
    const at = () => document.elementFromPoint(box.left + box.width / 2, Math.max(0, box.top) + Math.min(box.height, innerHeight) / 2);
    let hit = at();
    if (!within(hit, element)) {
      // A list that scrolls takes no clicks for a moment, and may have redrawn its rows.
      await moment();
      if (!element.isConnected) continue;
      element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
      await moment();
      box = element.getBoundingClientRect();
      hit = at();
    }
    if (!within(hit, element)) found.add(`covered by ${hit ? nameOf(hit) : 'nothing'}: ${nameOf(element)}`);
  }
  for (const element of [document.documentElement, document.body, document.querySelector('.window')]) {
    if (element && (element.scrollTop !== 0 || element.scrollLeft !== 0)) found.add(`the whole window was scrolled by ${element.scrollTop}: ${element.tagName.toLowerCase()}`);
  }
  return [...found];
}
