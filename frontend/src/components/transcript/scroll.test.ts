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
