import { describe, expect, it } from 'vitest';
import { GrowingMarkdown, render } from './render';
import { sanitise } from './sanitise';
import { rangeOfTail, tailChars } from './buffered';
import { heavy, hostile } from './testing/hostile';
import { parts, pieces } from './bound';

const page = (text: string): HTMLElement => {
  const root = document.createElement('div');
  root.innerHTML = render(text).map((block) => block.html).join('');
  return root;
};


describe('the tail that is not durable', () => {
  it('is counted in the text of the model, not in the bar of a code block', () => {
    const root = page('Before it.\n\n```sql\nSELECT 1\n```\n\nAfter.');
    const bar = root.querySelector('.code__bar')?.textContent ?? '';
    expect(bar).toContain('Copy');
    const range = rangeOfTail(root, (root.textContent ?? '').length - bar.length - 'Before '.length);
    expect(range?.toString()).toMatch(/^it\./);
    expect(range?.startContainer.parentElement?.tagName).toBe('P');
  });
});

/** The actions of the renderer's own buttons on code; each needs a click. */
const ownActs = new Set(['beside', 'copy', 'wrap', 'save', 'preview', 'csv', 'markdown']);
/** Whether a button belongs to a footnote. */
const isNoteButton = (button: HTMLElement) => button.dataset['act'] === 'back' || (button.dataset['act'] === 'note' && button.parentElement?.className === 'note-ref');

describe('Markdown of a model', () => {
  it.each(hostile)('draws nothing active: %s', (_, text) => {
    for (const root of [page(text), page(`Word[^n].\n\n[^n]: ${text.replace(/\n/g, ' ')}`), page(`para ${text} more\n\n- ${text}\n\n> ${text}\n\n| a |\n|---|\n| ${text.replace(/\n/g, ' ')} |`)]) {
      expect(root.querySelector('script,iframe,object,embed,style,svg,form,input,meta,base,link')).toBeNull();
      expect([...root.querySelectorAll('img')]).toEqual([]);
      expect([...root.querySelectorAll('button')].filter((button) => !isNoteButton(button) && (!button.classList.contains('code__act') || !ownActs.has(button.dataset['act']!)))).toEqual([]);
      for (const element of root.querySelectorAll('*')) {
        for (const { name, value } of element.attributes) {
          expect(name).not.toMatch(/^on|^style$|^srcset$|^action$/);
          if (name === 'href' || name === 'src') expect(value).toMatch(/^https?:\/\//);
        }
      }
    }
  });

  it('is sanitised again, whatever the renderer lets through', () => {
    const html = sanitise('<p onclick="x()" class="button prose" style="x">a<script>1</script><a href="javascript:x">b</a><img src="https://e.com/a.png"><button>c</button></p>');
    expect(html).toBe('<p class="">a<a>b</a></p>');
  });

  it('keeps pictures that are part of the text', () => {
    expect(page('![dot](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')?.getAttribute('alt')).toBe('dot');
  });

  it('shows unsupported HTML as text', () => {
    expect(page('Use <div id="x"> here').textContent).toContain('<div id="x">');
    expect(page('H<sub>2</sub>O').querySelector('sub')?.textContent).toBe('2');
  });

  it('draws tables, code with its language and file, tasks and links to turns', () => {
    const root = page('| a | b |\n|---|--:|\n| 1 | 2 |\n\n```go throttle.go\nx := 1\n```\n\n- [x] done\n\n[#35](contextinfinity://turn/t0035)');
    expect(root.querySelector('td[data-align="end"]')?.textContent).toBe('2');
    expect(root.querySelector('.code__bar')?.textContent).toBe('Go throttle.goWrapSaveCopy');
    expect(root.querySelector('pre code')?.textContent).toBe('x := 1');
    expect(root.querySelector('.task')?.getAttribute('aria-label')).toBe('Done');
    expect(root.querySelector('a.ref')?.getAttribute('href')).toBe('contextinfinity://turn/t0035');
  });

  it('marks which cells must not wrap and which get more width', () => {
    const root = page(`| a | b | c |\n|---|---|---|\n| Yes, of course | ${'long words '.repeat(8)} | ${'x '.repeat(20)} |\n| ${'漢'.repeat(12)} | ${'漢'.repeat(13)} | 12 |`);
    expect([...root.querySelectorAll('td')].map((cell) => cell.className)).toEqual(['short', 'long', '', 'short', '', 'number']);
  });

  it('shows the target of a link whose text does not', () => {
    const root = page('[1](https://www.example.com/a) and [here](https://b.example/) and [the docs](https://c.example/)');
    expect([...root.querySelectorAll('.host')].map((host) => [host.className, host.textContent])).toEqual([['host host--plain', 'example.com'], ['host host--plain', 'b.example'], ['host host--plain', 'c.example']]);
  });

  it('knows the length of code, its file name, and whether it has a preview', () => {
    const code = (text: string) => page(text).querySelector<HTMLElement>('.code')!;
    expect({ ...code('```ts src/../a b.ts\nx\ny\n```').dataset }).toMatchObject({ lines: '2', file: 'a b.ts' });
    expect(code('```python\nx\n```').dataset['file']).toBe('code.py');
    expect(code('```made-up /etc/.passwd\nx\n```').dataset['file']).toBe('code.txt');
    expect(code(`\`\`\`go\n${'x\n'.repeat(41)}\`\`\``).querySelector('[data-act="fold"]')?.textContent).toBe('Show all 41 lines');
    expect(code(`\`\`\`go\n${'x\n'.repeat(40)}\`\`\``).querySelector('[data-act="fold"]')).toBeNull();
    for (const [lang, hasPreview] of [['mermaid', true], ['svg', true], ['HTML', true], ['xml', false], ['go', false]] as const) expect(code(`\`\`\`${lang}\n<p>x</p>\n\`\`\``).querySelector('[data-act="preview"]') !== null).toBe(hasPreview);
    expect(code('```xml\n<?xml version="1.0"?>\n<svg/>\n```').querySelector('[data-act="preview"]')).not.toBeNull();
  });

  it('gives each list item its own direction', () => {
    const root = page('- one\n  - שתיים\n\n> - `<li>` three');
    expect([...root.querySelectorAll('li')].map((entry) => entry.getAttribute('dir'))).toEqual(['auto', 'auto', 'auto']);
    expect(root.querySelector('code')?.textContent).toBe('<li>');
  });

  it('keeps the direction of code and formulas', () => {
    const root = page('`npm i` הפעל\n\n$x$ הוא');
    expect([...root.querySelectorAll('code, .math')].map((element) => element.getAttribute('dir'))).toEqual(['ltr', 'ltr']);
  });

  it.each([
    ['$a+b$', 'a+b'], ['\\(a\\)', 'a'], ['$$\na\\\\b\n$$', 'a\\\\b'], ['\\[x^2\\]', 'x^2'],
  ])('finds formulas in %s', (text, tex) => {
    expect(page(text).querySelector('.math')?.getAttribute('data-tex')).toBe(tex);
  });

  it.each(['It costs $5 and $6.', '`$a$`', 'a $ b $ c', 'US$100 or US$200'])('leaves prices alone: %s', (text) => {
    expect(page(text).querySelector('.math')).toBeNull();
  });
});

describe('cells of a table', () => {
  it.each(['12 480', '-3.5 %', '1 234.50 EUR', '€ 12', '2024-11-22', '99'])('%s stays on one line', (text) => {
    expect(render(`| a |\n|---|\n| ${text} |`)[0]!.html).toContain('<td class="number">');
  });
  it.each(['Row 12 was copied', 'none', '3 rows of the old system'])('%s is text', (text) => {
    expect(render(`| a |\n|---|\n| ${text} |`)[0]!.html).not.toContain('number');
  });
});

describe('links', () => {
  const host = (text: string) => page(text).querySelector('a .host')?.textContent ?? null;

  it.each([
    ['[the docs](https://example.com/a)', 'example.com'],
    ['[click here](https://example.com/a)', 'example.com'],
    ['[Log in to Bank](https://example.com/a)', 'example.com'],
    ['[the docs on Example.com](https://www.example.com/a)', null],
    ['[example.com](https://example.com/a)', null],
    ['[www.example.com/b](https://example.com/a)', null],
    ['<https://example.com/a>', null],
    ['[node.js](https://nodejs.org/)', 'nodejs.org'],
    ['[paypal.com](https://evil.example/)', 'evil.example'],
    ['[pаypal](https://pаypal.com/)', 'xn--pypal-4ve.com'],
    ['[pay](https://paypal.com@evil.example/)', 'evil.example'],
    ['[‮moc.lapyap‬](https://evil.example/)', 'evil.example'],
  ])('show their target when their text says something else: %s', (text, shown) => {
    expect(host(text)).toBe(shown);
  });

  it('cannot change the direction of the text around them', () => {
    expect(page('[a‮b](https://example.com)').textContent).not.toMatch(/[‪-‮⁦-⁩]/);
  });
});

describe('texts that would take the parser long', () => {
  it.each(heavy)('are drawn in small parts: %s', (_, make) => {
    const text = make();
    const { texts, left } = parts(text, 3);
    expect(texts.length).toBeLessThanOrEqual(3);
    for (const part of texts) {
      expect(part.length).toBeLessThan(33_000);
      const blocks = render(part);
      expect(blocks.length).toBeLessThanOrEqual(601);
      expect(blocks.reduce((sum, block) => sum + block.html.length, 0)).toBeLessThan(part.length * 30 + 1_000);
    }
    expect(texts.reduce((sum, part) => sum + part.length, left)).toBeGreaterThanOrEqual(text.length);
  });

  it.each(['![a](', '[a](', '[a][', '*a', '**a*', '`` ', '~~a', '<a', '<b>', '<details>', '$', 'a*b_', 'x_', '&amp;', '\\\\', '| a '])('have few marks per part, however they are laid out: %s', (mark) => {
    for (const text of [mark.repeat(30_000), `${mark.repeat(300)}\n\n`.repeat(60), `- ${mark.repeat(20)}\n`.repeat(1_500), `> ${mark.repeat(20)}\n`.repeat(1_500), `${'> '.repeat(10)}${'- '.repeat(10)}${mark}\n`.repeat(2_000)]) {
      const { texts, left } = parts(text);
      expect([left, texts.join('') === text]).toEqual([0, true]);
      for (const part of texts) {
        const parsed = pieces(part).filter((piece) => !piece.plain).map((piece) => piece.text).join('\n');
        expect(parsed.match(/[[\]*_`$<>!\\~&|]/g)?.length ?? 0).toBeLessThanOrEqual(2_500);
      }
    }
  });

  it('lose no character, and no fence', () => {
    const code = `Before.\n\n\`\`\`go\n${'x := 1\n'.repeat(9_000)}\`\`\`\n\nAfter **it**.`;
    const { texts, left } = parts(code);
    expect(left).toBe(0);
    const root = document.createElement('div');
    root.innerHTML = texts.flatMap((part) => render(part)).map((block) => block.html).join('');
    expect([...root.querySelectorAll('code[data-lang=go]')].reduce((sum, part) => sum + part.textContent!.split('x := 1').length - 1, 0)).toBe(9_000);
    expect(root.querySelector('strong')?.textContent).toBe('it');
  });

  it('keep ordinary texts whole', () => {
    const text = Array.from({ length: 40 }, (_, i) => `## ${i}\n\nSome *words* and \`code\`, [a link](https://example.com).\n\n- a\n  - b\n    - c\n\n| a | b |\n|---|---|\n| 1 | 2 |`).join('\n\n');
    expect(pieces(text)).toEqual([{ text, plain: false }]);
    expect(parts(text).texts).toEqual([text]);
  });

  it('show the excess as plain text', () => {
    expect([...page('> '.repeat(5_000) + 'deep').querySelectorAll('p.plain')].at(-1)?.textContent).toContain('deep');
    expect(page(`Fine *here*.\n\n${'*a '.repeat(3_000)}\n\nAnd *here*.`).querySelectorAll('em')).toHaveLength(2);
  });
});

describe('growing Markdown', () => {
  const text = '# Title\n\nOne *two* three.\n\n- a\n- b\n\n  more of b\n\n```go\nfunc f() {\n\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nEnd with `code`.';

  it('ends like the whole text, however it was cut', () => {
    for (const size of [1, 3, 7, 50]) {
      const growing = new GrowingMarkdown();
      for (let at = size; at < text.length; at += size) growing.update(text.slice(0, at));
      expect(growing.update(text)).toEqual(render(text));
    }
  });

  it('does not draw settled blocks again', () => {
    const growing = new GrowingMarkdown();
    const before = growing.update('One.\n\nTwo.\n\nThr');
    const after = growing.update('One.\n\nTwo.\n\nThree');
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    const long = Array.from({ length: 300 }, (_, i) => `Paragraph ${i}.`).join('\n\n');
    const settled = growing.update(long);
    expect(growing.update(`${long} More.`).filter((block, i) => block !== settled[i]).length).toBe(1);
  });

  it('starts again if the text was replaced', () => {
    const growing = new GrowingMarkdown();
    growing.update('One.\n\nTwo.\n\nThree.');
    expect(growing.update('Else.')).toEqual(render('Else.'));
  });
});

describe('bytes to characters', () => {
  it.each([['abc', 2, 2], ['aé', 2, 1], ['a漢', 3, 1], ['a😀', 4, 2], ['abc', 99, 3], ['abc', 0, 0]])('%s, %d bytes', (text, bytes, chars) => {
    expect(tailChars(text, bytes)).toBe(chars);
  });
});
