import { render, screen } from '@testing-library/svelte';
import { describe, expect, test, vi } from 'vitest';
import { BackendError } from '$lib/backend/errors';
import { clampable, formatCount, formatList, formatShort, formatBytes, formatDuration, parseTypedNumber } from './format';
import { Act, Loaded } from './loaded.svelte';
import { indentJSON, pieces } from './longtext';
import { menuTarget, placeMenu, typeAhead } from './menu';
import TextInput from './TextInput.svelte';

const gap = '\u202f';
const failure = new BackendError({ code: 'no_space', op: '', message: 'The disk is full', hint: '' });

function answers<T>() {
  const waiting: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = [];
  return { waiting, ask: () => new Promise<T>((resolve, reject) => waiting.push({ resolve, reject })) };
}

describe('Loaded', () => {
  test('many refreshes during a load cause one more load', async () => {
    const { waiting, ask } = answers<number>();
    const loaded = new Loaded(ask);
    const first = loaded.refresh();
    for (let i = 0; i < 5; i++) void loaded.refresh();
    waiting[0]?.resolve(1);
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    waiting[1]?.resolve(2);
    await first;
    expect(loaded.value).toBe(2);
    expect(waiting).toHaveLength(2);
  });

  test('the result of a load before a reset is dropped', async () => {
    const { waiting, ask } = answers<string>();
    const loaded = new Loaded(ask);
    const old = loaded.refresh();
    loaded.reset();
    const fresh = loaded.refresh();
    waiting[1]?.resolve('this branch');
    await fresh;
    waiting[0]?.resolve('the other branch');
    await old;
    expect(loaded.value).toBe('this branch');
    expect(loaded.loading).toBe(false);
  });

  test('a failure keeps the last value beside the error, and success clears the error', async () => {
    let fails = false;
    const loaded = new Loaded(() => (fails ? Promise.reject(failure) : Promise.resolve(7)));
    await loaded.refresh();
    fails = true;
    await loaded.refresh();
    expect(loaded.value).toBe(7);
    expect(loaded.error).toBe(failure);
    fails = false;
    await loaded.refresh();
    expect(loaded.error).toBeUndefined();
  });
});

describe('Act', () => {
  test('one at a time; the error is that of the failed action', async () => {
    const act = new Act();
    const { waiting, ask } = answers<void>();
    const running = act.run('save', ask);
    expect(await act.run('remove', ask)).toBe(false);
    waiting[0]?.reject(failure);
    expect(await running).toBe(false);
    expect(waiting).toHaveLength(1);
    expect(act.errorOf('save')).toBe(failure);
    expect(act.errorOf('remove')).toBeUndefined();
    expect(act.running).toBe('');
  });
});

describe('long text', () => {
  test.each([
    ['lines', 'one line of text\n'.repeat(5000)],
    ['one line', 'x'.repeat(100_000)],
    ['pairs at every cut', '😀'.repeat(9000)],
    ['nothing', ''],
  ])('%s: the parts join to the text, and split no character', (_, text) => {
    const parts = pieces(text);
    expect(parts.join('')).toBe(text);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(4096);
      expect(part).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
    }
  });

  test('indenting keeps every token unchanged', () => {
    expect(indentJSON('{"a":1e400,"a":[12345678901234567890,{}],"s":"{,:\\"}"}')).toBe(
      '{\n  "a": 1e400,\n  "a": [\n    12345678901234567890,\n    {}\n  ],\n  "s": "{,:\\"}"\n}',
    );
    expect(indentJSON('[]')).toBe('[]');
  });

  test.each(['', 'plain words', '{"torn":', '"a string"'])('%j is shown unchanged', (text) => {
    expect(indentJSON(text)).toBeUndefined();
  });

  test('a large list is indented line by line', () => {
    const list = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect(indentJSON(JSON.stringify(list))).toBe(JSON.stringify(list, undefined, 2));
  });
});

describe('a typed number', () => {
  test.each([
    ['128.000', true, '128000'], ['128,000', true, '128000'], ['128 000', true, '128000'], ['1’234’567', true, '1234567'], ['1_000', true, '1000'],
    ['1.234.567', true, '1234567'], ['1.234,567', true, '1234.567'], ['12.34', true, '12.34'], ['1,5', true, '1.5'],
    ['0,7', false, '0.7'], [',5', false, '.5'], ['0.7', false, '0.7'], ['1.234,5', false, '1234.5'], ['1,234.5', false, '1234.5'], ['1.234', false, '1.234'],
    ['many', true, 'many'], ['', false, ''],
  ])('%s (whole: %s) is read as %s', (typed, whole, expected) => expect(parseTypedNumber(typed, whole)).toBe(expected));
});

describe('menu', () => {
  test.each([
    ['ArrowDown', 2, 0],
    ['ArrowUp', 0, 2],
    ['ArrowUp', -1, 2],
    ['Home', 2, 0],
    ['End', 0, 2],
    ['x', 1, -1],
  ])('%s from %i goes to %i', (key, index, target) => expect(menuTarget(key, index, 3)).toBe(target));

  test('a repeated letter goes through the matching items, several letters find one', () => {
    const labels = ['Rename', 'Reset', 'Fork', 'Remove'];
    expect(typeAhead(labels, 'r', 0)).toBe(1);
    expect(typeAhead(labels, 'rr', 1)).toBe(3);
    expect(typeAhead(labels, 'r', 3)).toBe(0);
    expect(typeAhead(labels, 'rem', 0)).toBe(3);
    expect(typeAhead(labels, 'z', 0)).toBe(-1);
  });

  test('stays inside the window', () => {
    const view = { width: 900, height: 600 };
    const size = { width: 200, height: 300 };
    const below = placeMenu({ left: 850, right: 890, top: 20, bottom: 48 }, size, view, 'start');
    expect(below.left + size.width).toBeLessThanOrEqual(view.width);
    expect(below.top).toBe(52);
    const above = placeMenu({ left: 10, right: 50, top: 500, bottom: 528 }, size, view, 'start');
    expect(above.top + size.height).toBeLessThanOrEqual(500);
    const tall = placeMenu({ left: 10, right: 50, top: 500, bottom: 528 }, { width: 200, height: 5000 }, view, 'end');
    expect(tall.top).toBeGreaterThanOrEqual(0);
    expect(tall.top + tall.maxHeight).toBeLessThanOrEqual(500);
  });
});

test('numbers as the window writes them', () => {
  expect(formatCount(1234567)).toBe(`1${gap}234${gap}567`);
  expect([0, 999, 1_000, 9_999, 12_380, 99_949, 99_950].map(formatShort)).toEqual(['0', '999', '1k', '10k', '12.4k', '99.9k', '100k']);
  expect([['a'], ['a', 'b'], ['a', 'b', 'c']].map(formatList)).toEqual(['a', 'a and b', 'a, b and c']);
  expect(formatBytes(12480)).toBe(`12${gap}480${gap}B`);
  expect(formatBytes(1_234_567)).toBe(`1.2${gap}MB`);
  expect(formatDuration(640)).toBe(`640${gap}ms`);
  expect(formatDuration(65_400)).toBe(`1${gap}min 5${gap}s`);
});

test('a clamped text has a space before each place where its last line may end', () => {
  expect(clampable('One.  Two.\n  Three.\t\nFour.')).toBe('One. Two. \nThree. \nFour.');
  expect(clampable('One \n\n two')).toBe('One \n \ntwo');
});

test('an empty date is marked, because WebKit draws it as today', () => {
  render(TextInput, { value: '', type: 'date', 'aria-label': 'From' });
  expect(screen.getByLabelText('From')).toHaveAttribute('data-empty');
});
