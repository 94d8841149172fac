import { render } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { describe, expect, it } from 'vitest';
import Arguments from './Arguments.svelte';
import { argumentLine, argumentsOf } from './plain';

/** The readable text of arguments, with everything unfolded and without the program's own labels. */
function readable(json: string): string {
  const { container, unmount } = render(Arguments, { json, redactions: 0 });
  for (const more of container.querySelectorAll<HTMLButtonElement>('button.more')) flushSync(() => more.click());
  for (const label of container.querySelectorAll('.visually-hidden, button')) label.remove();
  const texts = [...container.querySelectorAll('dt, .names, pre, [data-change]')].map((part) => part.textContent);
  unmount();
  return texts.join('\n');
}

/** Reproducible random numbers. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const names = ['old', 'new', 'before', 'after', 'original', 'replacement', 'oldText', 'newText', 'old_string', 'new_string', 'edits', 'path', 'replace_all', '__proto__', 'constructor'];

/** Random arguments that often contain pairs of texts and lists of edits; `words` are their names and scalars. */
function randomArguments(seed: number): { json: string; words: string[] } {
  const below = seeded(seed);
  const words: string[] = [];
  const record = (word: string) => (words.push(word), word);
  let last = 0;
  const scalar = (): string => {
    const kind = below(7);
    if (kind < 4) return JSON.stringify(Array.from({ length: 1 + below(3) }, () => record(`v${seed}x${last++}`)).join(below(2) ? ' ' : '\n'));
    return record(kind === 4 ? String(1_000_000 + seed * 1000 + last++) : kind === 5 ? 'true' : 'null');
  };
  const member = (name: string, value: string) => `${JSON.stringify(record(name))}:${value}`;
  const object = (depth: number): string => {
    const keys = names.filter(() => below(4) === 0);
    return `{${keys.map((name) => member(name, name === 'edits' ? edits(depth) : value(depth))).join(',')}}`;
  };
  const edits = (depth: number): string => `[${Array.from({ length: 1 + below(2) }, () => {
    const pair = [member('oldText', JSON.stringify(record(`v${seed}x${last++}`))), member('newText', JSON.stringify(record(`v${seed}x${last++}`)))];
    return `{${[...pair, ...(below(2) ? [member('path', value(depth + 1))] : [])].join(',')}}`;
  }).join(',')}]`;
  const value = (depth: number): string => {
    const kind = depth > 2 ? 0 : below(6);
    if (kind === 4) return object(depth + 1);
    return kind === 5 ? `[${Array.from({ length: below(3) }, () => value(depth + 1)).join(',')}]` : scalar();
  };
  return { json: object(0), words };
}

const countWords = (words: readonly string[]) => words.reduce((counts, word) => counts.set(word, (counts.get(word) ?? 0) + 1), new Map<string, number>());

describe('the arguments of a call', () => {
  it('hide no name and no value', () => {
    let pairs = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const { json, words } = randomArguments(seed);
      const text = readable(json);
      if (text.includes('→')) pairs++;
      const seen = countWords(text.replaceAll('\\n', ' ').match(/\w+/g) ?? []);
      const hidden = [...countWords(words)].filter(([word, count]) => (seen.get(word) ?? 0) < count);
      expect(hidden, json).toEqual([]);
    }
    expect(pairs).toBeGreaterThan(10); // enough cases contain pairs
  });

  it.each([
    ['{"old":"a","new":"a","replacement":{"evil":"rm"},"after":["x"]}', ['old', 'new', 'replacement', 'evil', 'rm', 'after', 'x']],
    ['{"edits":[{"oldText":"a","newText":"b","path":"/home/me/.bashrc","replace_all":true}]}', ['oldText', 'newText', '/home/me/.bashrc', 'replace_all', 'true']],
    ['{"":"x"}', ['""', 'x']],
  ])('are all readable: %s', (json, words) => {
    const text = readable(json);
    for (const word of words) expect(text).toContain(word);
  });

  it.each([
    ['{"message_id":1234567890123456789}', /^It contains a number/],
    ['{"a":{"b":[0.1234567890123456789]}}', /^It contains a number/],
    ['{"a":1e400}', /^It contains a number/],
    ['{"a":1e-400}', /^It contains a number/],
    ['{"path":"evil","path":"ok"}', /^A name occurs twice/],
    ['{"path":"evil","p\\u0061th":"ok"}', /^A name occurs twice/],
    [`{"path":"evil","path"${' '.repeat(1000)}:"ok"}`, /^A name occurs twice/],
    ['{"a":[{"x":{},"x":1}]}', /^A name occurs twice/],
    ['{"__proto__":1,"__proto__":2}', /^A name occurs twice/],
  ])('are shown as sent where formatting would change them: %s', (json, note) => {
    expect(argumentsOf(json)).toEqual({ values: null, replacements: [], note: expect.stringMatching(note) });
    const { container } = render(Arguments, { json, redactions: 0 });
    expect(container.querySelector('pre')?.textContent).toBe(json);
    expect(container.querySelector('.note')?.textContent).toMatch(note);
  });

  it('are the same on a folded card', () => {
    expect(argumentLine('{"path":"evil","path":"ok"}')).toBe('{"path":"evil","path":"ok"}');
    expect(argumentLine('{"id":1234567890123456789}')).toContain('1234567890123456789');
  });

  it.each(['{"a":1.50,"b":-0.10,"c":100,"d":1E3,"e":0.0,"f":1e21,"g":9007199254740991,"h":1e-7,"i":123456.75}', '{"a":"12345678901234567890","b":["a","a",{"a":1}],"c":"a","d":"\\"a\\": 1e999, \\\\"}'])('are shown by name where that is exact: %s', (json) => {
    expect(argumentsOf(json).note).toBe('');
  });
});
