import { describe, expect, test } from 'vitest';
import { parts, plainRuns } from './bound';
import { GrowingMarkdown, render } from './render';
import { afterWeight, drawable, tame } from './tame';

const letters = (text: string) => [...text].length;

describe('tame', () => {
  test('leaves ordinary text unchanged', () => {
    for (const text of ['Tiếng Việt, größe', 'שָׁלוֹם עֲלֵיכֶם', 'བསྒྲུབས་', 'ക്ഷേത്രം ന്‍റെ ශ්‍රී', 'می‌خواهم', '👨‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️‍🔥 👩🏽‍🚀', 'a̐é̩̍ z̴̡͎̳̐̕']) expect(tame(text)).toBe(text);
  });

  test('limits the marks on a character', () => {
    expect(letters(tame(`a${'\u0301'.repeat(500_000)}b`))).toBe(10);
    expect(tame('e\u0301'.repeat(5000))).toBe('e\u0301'.repeat(5000));
  });

  test('limits the parts of an emoji, and loses none', () => {
    const tamed = tame('👩\u200d'.repeat(100_000));
    expect(tamed.replaceAll('\u200d', '')).toBe('👩'.repeat(100_000));
    expect(Math.max(...tamed.split(/👩👩/u).map((run) => run.split('\u200d').length))).toBeLessThanOrEqual(10);
  });

  test('keeps what was drawn of a growing text', () => {
    for (const text of [`a${'\u0301'.repeat(40)} b`, `${'👩\u200d'.repeat(40)} b`]) {
      const complete = tame(text);
      for (let at = 1; at < text.length; at++) expect(complete.startsWith(tame(text.slice(0, at)).replace(/[\ud800-\udbff\u200d]+$/, ''))).toBe(true);
    }
  });
});

test('text that is slow to draw is drawn in smaller parts', () => {
  const emoji = '👩\u200d👧'.repeat(50_000);
  const { texts, left } = parts(emoji, 6);
  expect(texts).toHaveLength(6);
  for (const part of texts) expect(part.length).toBeLessThanOrEqual(4_000);
  expect(texts.join('').length + left).toBe(emoji.length);
  expect(parts('word '.repeat(6_000)).texts).toHaveLength(1);
  expect(afterWeight('abc', 1, 2)).toBe(3);
  expect(drawable(emoji).length).toBeLessThanOrEqual(5_001);
  expect(drawable('word '.repeat(100_000))).toHaveLength(500_000);
  for (const text of [`${'word '.repeat(20_000)}🚀`, `🚀${'word '.repeat(20_000)}`]) expect(drawable(text)).toBe(text);
});

test('very long plain text is drawn in short runs, which lose nothing and split no character', () => {
  for (const text of ['x'.repeat(9_999), 'لله'.repeat(5_000), '👩\u200d👧 '.repeat(3_000), 'e\u0301'.repeat(5_000), '👍🏽'.repeat(3_000), `${'word '.repeat(900)}\n`.repeat(3)]) {
    const runs = plainRuns(text);
    expect(runs.join('')).toBe(text);
    for (const run of runs) {
      expect(run.length).toBeLessThanOrEqual(1_000);
      expect(run).not.toMatch(/^(?:[\p{M}\u200d\udc00-\udfff]|🏽)|[\ud800-\udbff]$/u);
    }
    const growing = new GrowingMarkdown();
    for (let at = 8_000; at < text.length; at += 3_000) growing.update(text.slice(0, at));
    const drawn = growing.update(text).map(({ html }) => html);
    for (const html of drawn) expect(html).toMatch(/^<p class="plain">[^<]{0,1200}<\/p>$/);
  }
});

test('no block contains more than can be laid out at once, at the end or while it grows', () => {
  for (const text of [`a${'\u0301'.repeat(500_000)}`, '![a]('.repeat(30_000), '![a](\n'.repeat(30_000), '👩\u200d'.repeat(100_000)]) {
    for (const part of parts(text, 6).texts) {
      for (const { html } of render(part)) {
        expect(html).not.toMatch(/\p{M}{9}/u);
        expect((html.match(/<(a|img) /g) ?? []).length).toBeLessThan(1_000);
        expect(afterWeight(html, 0, 40_000)).toBe(html.length);
      }
    }
    const growing = new GrowingMarkdown().update(text.slice(0, 8_000));
    for (const { html } of growing) expect(html).not.toMatch(/\p{M}{9}/u);
  }
});
