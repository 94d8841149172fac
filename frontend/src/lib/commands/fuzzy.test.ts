import { describe, expect, it } from 'vitest';
import { fuzzy } from './fuzzy';

const marked = (text: string, query: string) => fuzzy(text, query)?.marks.map(({ from, to }) => text.slice(from, to));
const best = (query: string, texts: string[]) => texts.flatMap((text) => fuzzy(text, query)?.score ?? []).length && [...texts].sort((a, b) => (fuzzy(b, query)?.score ?? -1) - (fuzzy(a, query)?.score ?? -1))[0];

describe('matches for a typed text', () => {
  it.each([
    ['Commit pending turns now', 'com', ['Com']], ['Commit pending turns now', 'cpt', ['C', 'p', 't']], ['Light theme', 'light', ['Light']], ['New session', 'new ses', ['New', 'ses']],
    ['İstanbul 😀 plans', 'plans', ['plans']], ['Orders to Postgres', 'otp', ['O', 't', 'P']], ['anything', '', []],
  ])('%s by %s', (text, query, marks) => expect(marked(text, query)).toEqual(marks));

  it.each([['Commit pending turns now', 'xyz'], ['The quick brown fox jumps over', 'uirw'], ['', 'a'], ['abc', 'abcd'], ['abc', 'cba']])('%s does not fit %s', (text, query) => expect(fuzzy(text, query)).toBeNull());

  it('prefers starts of words, and the shorter text', () => {
    expect(best('set', ['The sunset talks', 'Settings'])).toBe('Settings');
    expect(best('fork', ['A long way to say fork', 'fork'])).toBe('fork');
    expect(best('ct', ['Commit turns', 'Actual'])).toBe('Commit turns');
  });

  it('prefers the start of a word to its inside, and a run to loose letters', () => {
    expect(best('roll', ['Wrap or scroll long lines', 'A new branch, or a longer way to roll back'])).toBe('A new branch, or a longer way to roll back');
    expect(best('line', ['Underlines', 'Lofty pine'])).toBe('Underlines');
    expect(marked('Codezeilen', 'zeilen')).toEqual(['zeilen']);
  });

  it.each([
    ['stgs', 'Settings', true], ['cmmt', 'Commit pending turns', true], ['dunkel', 'Der Umzug nach Köln: Termine für den Spediteur, Listen und Kartons', false],
    ['dunkel', '/home/ada/documents/unsorted/notes/kitchen-2024/remodelling.md', false], ['roll', 'Rename the folder of all old sessions', false], ['e', 'Settings', false],
  ])('%s in %s: %s', (query, text, fits) => expect(fuzzy(text, query) !== null).toBe(fits));

  it('is fast for long texts', () => expect(marked(`${'a'.repeat(5_000)} zebra`, 'zebra')).toEqual(['zebra']));
});
