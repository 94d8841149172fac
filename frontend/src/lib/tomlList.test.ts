import { describe, expect, it } from 'vitest';
import { linesOf, listFrom, listOf } from './tomlList';

describe('a list of the configuration', () => {
  it.each([['[]', ''], ['["one"]', 'one'], ['["one two", "say \\"no\\""]', 'one two\nsay "no"']])('%s is edited one entry per line, and becomes the same list again', (value, lines) => {
    expect(linesOf(value)).toBe(lines);
    expect(listOf(listFrom(lines))).toEqual(listOf(value));
  });

  it.each([['["a\\nb"]'], ['[" a"]'], ['[""]'], ['["a", 1]'], ["['a']"], ['[']])('%s is edited as it is, because lines would change it', (value) => {
    expect(linesOf(value)).toBe(value);
    expect(listFrom(value)).toBe(value);
  });

  it('empty lines and spaces around entries are not part of it', () => {
    expect(listFrom('  one \n\n two\n')).toBe('["one","two"]');
    expect(listFrom(' \n')).toBe('[]');
  });
});
