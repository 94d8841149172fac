import { expect, test } from 'vitest';
import type { JobView } from '$lib/backend/types';
import { canRetry, canDismiss, countdown, jobWord } from './jobs';
import { moved, placeAt } from './reorder';

const now = 1_000_000;
const job = (more: Partial<JobView>): JobView => ({
  id: 1, type: 'summarize_turn', turnId: 't', turnSeq: 1, sessionId: 's', session: 'S', state: 'queued', attempts: 0, lastError: '', waitsFor: 0, runAfter: 0, updatedAt: 0, ...more,
});

test.each([
  [job({ id: 0, state: '' }), 'No job yet', false, false],
  [job({}), 'Queued', false, true],
  [job({ attempts: 2, runAfter: now + 41_200 }), 'Retry in 0:42', true, true],
  [job({ attempts: 2, runAfter: now - 1 }), 'Queued', true, true],
  [job({ state: 'running', attempts: 1 }), 'Running', false, false],
  [job({ state: 'dead', attempts: 8 }), 'Failed', true, false],
  [job({ state: 'done' }), 'Done', false, false],
])('%o is %s', (view, word, retryable, dismissible) => {
  expect(jobWord(view, now).word).toBe(word);
  expect(canRetry(view)).toBe(retryable);
  expect(canDismiss(view)).toBe(dismissible);
});

test('a countdown never shows zero before the end', () => {
  expect(countdown(1)).toBe('0:01');
  expect(countdown(60_000)).toBe('1:00');
  expect(countdown(3_700_000)).toBe('1 h 1 min');
});

test('a dragged row takes the position below the pointer', () => {
  const rows = [{ top: 0, bottom: 20 }, { top: 20, bottom: 60 }, { top: 60, bottom: 80 }];
  expect([-5, 9, 11, 45, 71, 500].map((y) => placeAt(y, rows))).toEqual([0, 0, 1, 2, 2, 2]);
  expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b']);
});
