import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rangesIn } from './ranges';
import { occurrences } from './text';

describe('finding a text', () => {
  it.each<[string, string[], boolean, [number, number][]]>([
    ['One one ONE', ['one'], false, [[0, 3], [4, 7], [8, 11]]],
    ['One one ONE', ['one'], true, [[4, 7]]],
    ['aaaa', ['aa'], false, [[0, 2], [2, 4]]],
    ['İstanbul, größer 漢字', ['GRÖSSER'], false, []],
    ['İstanbul, größer 漢字', ['GRÖßER', '漢字'], false, [[10, 16], [17, 19]]],
    ['lag and lagging', ['lag', 'lagging'], false, [[0, 3], [8, 15]]],
    ['nothing', ['', '  '], false, []],
    ['a.b*c', ['.b*'], false, [[1, 4]]],
  ])('in %j, %j', (text, terms, matchCase, places) => {
    expect(occurrences(text, terms, matchCase).map(({ from, to }) => [from, to])).toEqual(places);
  });

  it('stops at the limit', () => {
    expect(occurrences('e'.repeat(1000), ['e'], false, 5)).toHaveLength(5);
  });

  const forms = JSON.parse(readFileSync('../backend/internal/highlight/testdata/forms.json', 'utf8')) as { needle: string; text: string; found: [number, number][] }[];
  it.each(forms)('agrees with the program: $needle in $text', ({ needle, text, found }) => {
    expect(occurrences(text, [needle], false).map(({ from, to }) => [from, to])).toEqual(found);
  });
});

describe('matches in drawn text', () => {
  const turn = (answer: string, ask = '') => {
    const root = document.createElement('article');
    root.innerHTML = `<div class="ask"><p class="text">${ask}</p><button class="more">Show all lag</button></div><div class="answer"><div class="prose">${answer}</div></div>`;
    return root;
  };
  const texts = (root: Element, terms: string[], matchCase = false) => rangesIn(root, { terms, matchCase }).map(String);

  it('may cross bold text and links, but not paragraphs', () => {
    expect(texts(turn('<p>by replication <b>la</b>g now</p>', 'Replication lag?'), ['replication lag'])).toEqual(['Replication lag', 'replication lag']);
    expect(texts(turn('<p>replication</p><p>lag</p>'), ['replication lag', 'replicationlag'])).toEqual([]);
  });

  it('exclude labels of the program', () => {
    expect(texts(turn('<div class="code"><div class="code__bar">Go lag</div><pre><code>lag := 1</code></pre></div>'), ['lag'])).toEqual(['lag']);
  });
});
