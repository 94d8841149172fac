import { describe, expect, it } from 'vitest';
import { byWords, common, compare, unified } from './diff';

const text = (pieces: { text: string }[]) => pieces.map((piece) => piece.text).join('');
const signed = (old: string, updated: string) => unified(compare(old, updated)).map((line) => `${{ same: ' ', add: '+', del: '-' }[line.change]}${text(line.pieces)}`);

/** Reproducible small random numbers. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

describe('a longest common subsequence', () => {
  it.each([['', '', ''], ['abc', 'abc', 'abc'], ['abcbdab', 'bdcaba', 4], ['abc', '', ''], ['xaby', 'ab', 'ab'], ['ab', 'xaby', 'ab']])('of %s and %s', (a, b, expected) => {
    const pairs = common([...a], [...b])!;
    expect(pairs.every(([i, j]) => a[i] === b[j])).toBe(true);
    if (typeof expected === 'number') expect(pairs).toHaveLength(expected);
    else expect(pairs.map(([i]) => a[i]).join('')).toBe(expected);
  });

  it('has rising indexes on both sides, and reproduces both texts', () => {
    const next = random(7);
    for (let round = 0; round < 200; round++) {
      const make = () => Array.from({ length: Math.floor(next() * 12) }, () => 'abc'[Math.floor(next() * 3)]!);
      const [a, b] = [make(), make()];
      const pairs = common(a, b)!;
      for (let i = 1; i < pairs.length; i++) expect(pairs[i]![0] > pairs[i - 1]![0] && pairs[i]![1] > pairs[i - 1]![1]).toBe(true);
      const rows = compare(a.join('\n'), b.join('\n'));
      expect(rows.filter((row) => row.old).map((row) => text(row.old!.pieces))).toEqual(a);
      expect(rows.filter((row) => row.new).map((row) => text(row.new!.pieces))).toEqual(b);
    }
  });

  it('gives up on inputs that are too large; compare then shows everything as changed', () => {
    const many = (prefix: string) => Array.from({ length: 1_200 }, (_, i) => `${prefix}${i}`);
    expect(common(many('a'), many('b'))).toBeNull();
    const start = performance.now();
    const lines = unified(compare(many('a').join('\n'), many('b').join('\n')));
    expect([lines.length, performance.now() - start < 2_000]).toEqual([2_400, true]);
  });
});

describe('two summaries', () => {
  it('keeps equal lines, and puts removed lines before their replacements', () => {
    expect(signed('## Facts\n\n- One\n- Two\n', '## Facts\n\n- One\n- Two and a half\n- Three')).toEqual([' Facts', ' One', '-Two', '+Two and a half', '+Three']);
  });

  it('recognizes headings, and an empty text has no lines', () => {
    expect(compare('', '# A').map((row) => [row.old, row.new?.heading])).toEqual([[null, true]]);
    expect(compare('', '')).toEqual([]);
  });

  it('treats Windows line ends like others', () => expect(signed('a\r\nb', 'a\nb')).toEqual([' a', ' b']));

  it('marks the words that differ if the lines are similar', () => {
    const [old, updated] = byWords('Cutover on Sunday 30 November', 'Cutover on Sunday 7 December');
    expect([old.filter((piece) => piece.changed).map((piece) => piece.text), updated.filter((piece) => piece.changed).map((piece) => piece.text)]).toEqual([['30', 'November'], ['7', 'December']]);
    expect(byWords('Entirely different', 'no match at all here')[0]).toEqual([{ text: 'Entirely different', changed: false }]);
  });

  it('splits words of every script', () => expect(text(byWords('Größe 12 m², 東京', 'Größe 13 m², 東京')[1])).toBe('Größe 13 m², 東京'));
});
