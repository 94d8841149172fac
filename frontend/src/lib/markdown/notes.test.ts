import { describe, expect, it } from 'vitest';
import { inLines } from './lines';
import { noteLabels } from './notes';
import { GrowingMarkdown, render } from './render';

const page = (text: string): HTMLElement => {
  const root = document.createElement('div');
  root.innerHTML = render(text).map((block) => block.html).join('');
  return root;
};
const refs = (root: Element) => [...root.querySelectorAll('.note-ref button')].map((ref) => ref.textContent);
const notes = (root: Element) => [...root.querySelectorAll('.note')].map((note) => [note.querySelector('.note__mark')?.textContent, note.querySelector('.note__text')?.textContent]);

describe('footnotes', () => {
  it('are references in the text and texts below it', () => {
    const root = page('One[^1] and two[^src].\n\n[^1]: The *first*,\ngoes on.\n[^src]: See <https://example.com>.\n\n    A second paragraph.\n\nAfter.');
    expect(refs(root)).toEqual(['1', 'src']);
    expect(notes(root)).toEqual([['1', 'The first,\ngoes on.'], ['src', 'See https://example.com.A second paragraph.']]);
    expect(root.querySelector('.note em')?.textContent).toBe('first');
    expect(root.lastElementChild?.textContent).toBe('After.');
  });

  it.each(['Use [^a-z] there.', 'An [^1] without words.', '`[^1]`\n\n[^1]: x', '```\n[^1]: x\n```\n\n[^1]'])('are not found where there are none: %s', (text) => expect(refs(page(text))).toEqual([]));

  it('are not mistaken for link definitions', () => {
    const root = page('Word[^1].\n\n[^1]: https://example.com/a');
    expect(root.querySelector('.note a')?.getAttribute('href')).toBe('https://example.com/a');
  });

  it('contain nothing active in labels or texts', () => {
    const root = page('x[^"><img/src=x/onerror=alert(1)>]\n\n[^"><img/src=x/onerror=alert(1)>]: <script>alert(1)</script> [x](javascript:alert(1)) <button data-act="save">y</button>');
    expect(root.querySelector('img, script, a')).toBeNull();
    expect([...root.querySelectorAll('button')].map((button) => button.dataset['act'])).toEqual(['note', 'back']);
    for (const element of root.querySelectorAll('*')) for (const { name } of element.attributes) expect(name).not.toMatch(/^on/);
  });

  const text = '# Title\n\nOne[^1] here.\n\nTwo[^b] there, one[^1] again.\n\n- a[^b]\n\n[^1]: First\n[^b]: Second\n  more\n\nEnd[^1].';

  it('are drawn as they arrive, and in the end like the whole text', () => {
    for (const size of [1, 3, 7, 50]) {
      const growing = new GrowingMarkdown();
      for (let at = size; at < text.length; at += size) growing.update(text.slice(0, at));
      expect(growing.update(text)).toEqual(render(text));
    }
  });

  it('of one part are known in the others', () => {
    expect([...noteLabels(text)]).toEqual(['1', 'b']);
    expect([...noteLabels('```\n[^x]: y\n```\n[^z]: w')]).toEqual(['z']);
    expect(noteLabels(Array.from({ length: 2_000 }, (_, i) => `[^${i}]: x`).join('\n')).size).toBe(500);
    const root = document.createElement('div');
    root.innerHTML = render('Word[^1].', new Set(['1'])).map((block) => block.html).join('');
    expect(refs(root)).toEqual(['1']);
  });
});

describe('code in lines', () => {
  const lines = (html: string) => {
    const code = document.createElement('code');
    code.innerHTML = inLines(html);
    return { text: code.textContent, lines: [...code.children].map((line) => line.innerHTML) };
  };

  it('keep their text, and their colours across line ends', () => {
    expect(lines('a\n<span class="hljs-comment">b\n<span class="x">c\n</span>d</span>\n\n&lt;e')).toEqual({
      text: 'a\nb\nc\nd\n\n<e',
      lines: ['a\n', '<span class="hljs-comment">b\n</span>', '<span class="hljs-comment"><span class="x">c\n</span></span>', '<span class="hljs-comment"><span class="x"></span>d</span>\n', '\n', '&lt;e'],
    });
    expect(lines('').lines).toEqual(['']);
  });
});
