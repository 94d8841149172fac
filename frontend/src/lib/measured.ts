import { flushSync } from 'svelte';

/**
 * The `onresize` of a virtual list: draws the measured sizes before the callback of its resize observer returns. Svelte
 * would draw them just after the callback, when the list no longer knows that it must not observe a new item before the
 * next frame: the browser then reports "ResizeObserver loop completed with undelivered notifications".
 */
export function drawMeasured(): void {
  flushSync();
}
