import { describe, expect, it } from 'vitest';
import { goalOf, seqOfDay } from './goal';

const now = new Date(2026, 10, 21, 15, 0);
const day = (year: number, month: number, date: number) => ({ kind: 'day', at: new Date(year, month - 1, date).getTime() });

describe('the target of "go to"', () => {
  it.each<[string, unknown]>([
    ['1200', { kind: 'seq', seq: 1200 }],
    ['#1 200', { kind: 'seq', seq: 1200 }],
    ['0 %', { kind: 'seq', seq: 1 }],
    ['50%', { kind: 'seq', seq: 5001 }],
    ['100 %', { kind: 'seq', seq: 10_000 }],
    ['today', day(2026, 11, 21)],
    ['Yesterday', day(2026, 11, 20)],
    ['2026-11-18', day(2026, 11, 18)],
    ['2026-02', day(2026, 2, 1)],
    ['18.11.2025', day(2025, 11, 18)],
    ['18/11/2025', day(2025, 11, 18)],
    ['18 November', day(2026, 11, 18)],
    ['24 Dec', day(2025, 12, 24)],
    ['March 3rd, 2024', day(2024, 3, 3)],
    ['march', day(2026, 3, 1)],
  ])('%s', (typed, goal) => {
    expect(goalOf(typed, 1, 10_000, now)).toEqual(goal);
  });

  it.each([
    ['', ''], ['0', '#1 to #10000'], ['10001', '#1 to #10000'], ['101 %', '100 %'], ['2026-02-30', 'no such day'], ['31 April', 'no such day'], ['somewhere', 'A number'],
  ])('no target: %s', (typed, reason) => {
    const goal = goalOf(typed, 1, 10_000, now);
    expect(goal.kind === 'none' && goal.reason).toContain(reason);
  });

  it('a day is found in few steps', async () => {
    let lookups = 0;
    const timeOf = async (seq: number) => {
      lookups++;
      return seq * 10;
    };
    expect(await seqOfDay(4_995, 1, 1000, timeOf)).toBe(500);
    expect(lookups).toBeLessThan(12);
    expect(await seqOfDay(0, 1, 1000, timeOf)).toBe(1);
    expect(await seqOfDay(99_999, 1, 1000, timeOf)).toBe(1000);
  });
});
