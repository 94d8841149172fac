import { flushSync } from 'svelte';

/**
 * The `onresize` of a virtual list: draws the measured sizes before its resize observer's callback returns. Left to
 * Svelte, that is drawn just after the callback, where the list no longer knows that it must observe a new item only in
 * the next frame: the browser then reports "ResizeObserver loop completed with undelivered notifications".
 */
export function drawMeasured(): void {
  flushSync();
}
