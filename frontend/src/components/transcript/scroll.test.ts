import type { VirtualizerHandle } from 'virtua/svelte';
import { expect, it } from 'vitest';
import { TranscriptScroll } from './scroll.svelte';

it('follows again once everything is in view, so that no way to the end is offered', async () => {
  const element = { scrollTop: 0, scrollHeight: 900, clientHeight: 500, firstElementChild: null };
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.leaveEnd();
  scroll.measured();
  expect(scroll.following).toBe(false);
  element.scrollHeight = 500; // a long block was folded
  scroll.measured();
  expect(scroll.following).toBe(true);
});

/** A scroller as browsers have it: no position is below the end. */
function scroller(scrollHeight: number, clientHeight: number, list: HTMLElement | null = null) {
  let top = 0;
  const end = () => Math.max(0, element.scrollHeight - element.clientHeight);
  const element = {
    scrollHeight,
    clientHeight,
    firstElementChild: list,
    get scrollTop() {
      return (top = Math.min(top, end()));
    },
    set scrollTop(value: number) {
      top = Math.min(value, end());
    },
  };
  return element;
}

it('goes on following after the end shrank and grew again, as code does that becomes a diagram', () => {
  const element = scroller(1000, 500);
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.toEnd();
  element.scrollHeight = 800;
  expect(element.scrollTop).toBe(300);
  scroll.scrolled();
  element.scrollHeight = 1100;
  scroll.measured();
  expect(scroll.following).toBe(true);
});

it('moves nothing while the pointer is pressed, or the click would be lost, and follows again afterwards', async () => {
  const element = scroller(1000, 500);
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.toEnd();
  scroll.press();
  element.scrollHeight = 1100;
  scroll.measured();
  await Promise.resolve();
  expect([element.scrollTop, scroll.following]).toEqual([500, true]);
  scroll.release();
  expect(element.scrollTop).toBe(600);
});

it('leaves the end when the reader moves up', () => {
  const element = scroller(1000, 500);
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.toEnd();
  element.scrollTop = 400;
  scroll.scrolled();
  expect(scroll.following).toBe(false);
});

it('goes on following after a turn above the last one shrank, by which the list shifts the position up', () => {
  const element = scroller(1000, 500);
  const begins = [0, 400];
  const handle = { findItemIndex: () => 1, getItemOffset: (turn: number) => begins[turn] };
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.use(handle as unknown as VirtualizerHandle);
  scroll.toEnd();
  element.scrollHeight = 1300;
  begins[1] = 376;
  element.scrollTop -= 24;
  scroll.measured();
  expect(scroll.following).toBe(true);
  element.scrollTop -= 24; // this time the reader
  scroll.scrolled();
  expect(scroll.following).toBe(false);
});

it('goes on following a new turn that is taller than its place in the list, which WebKit ignores for a moment', () => {
  const list = document.createElement('div');
  list.style.height = '972px';
  const element = scroller(1000, 500, list);
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  scroll.toEnd();
  element.scrollTop = 472;
  scroll.scrolled();
  expect(scroll.following).toBe(true);
});

it('is where it was after the conversation was hidden, at the end or above it', () => {
  const element = scroller(1000, 500);
  const scroll = new TranscriptScroll();
  scroll.attach(element as unknown as HTMLElement);
  const hide = () => {
    Object.assign(element, { clientHeight: 0, scrollHeight: 0 });
    scroll.measured();
    expect(element.scrollTop).toBe(0);
    Object.assign(element, { clientHeight: 500, scrollHeight: 1000 });
    scroll.scrolled();
  };
  scroll.toEnd();
  hide();
  expect([element.scrollTop, scroll.following]).toEqual([500, true]);
  element.scrollTop = 200;
  scroll.scrolled();
  hide();
  expect([element.scrollTop, scroll.following]).toEqual([200, false]);
});
