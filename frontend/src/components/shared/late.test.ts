import { render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Skeleton from './Skeleton.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a placeholder is shown only for loads that take noticeably long', async () => {
  const { unmount } = render(Skeleton, { props: { label: 'Metrics' } });
  await vi.advanceTimersByTimeAsync(140);
  expect(screen.queryByRole('status')).toBeNull();
  await vi.advanceTimersByTimeAsync(20);
  await tick();
  expect(screen.getByRole('status')).toHaveTextContent('Metrics: loading');
  unmount();
});

test('a placeholder that disappears early leaves no timer', () => {
  const before = vi.getTimerCount(); // timers of other code in this process
  const { unmount } = render(Skeleton, { props: { label: 'Metrics' } });
  expect(vi.getTimerCount()).toBe(before + 1);
  unmount();
  expect(vi.getTimerCount()).toBe(before);
});
