import { describe, expect, it } from 'vitest';
import { GrowingMarkdown, render } from './render';
import { sanitise } from './sanitise';
import { tailChars } from './buffered';

const page = (text: string): HTMLElement => {
  const root = document.createElement('div');
  root.innerHTML = render(text).map((block) => block.html).join('');
  return root;
};

const hostile: [string, string][] = [
  ['script', '<script>alert(1)</script>'],
  ['event handler', '<img src=x onerror=alert(1)>'],
  ['event handler on a kept tag', '<b onclick="alert(1)">x</b>'],
  ['javascript link', '[x](javascript:alert(1))'],
  ['javascript link in disguise', '[x](&#106;avascript:alert(1))'],
  ['javascript link with a line break', '<a href="java\nscript:alert(1)">x</a>'],
  ['data link', '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)'],
  ['vbscript', '[x](vbscript:msgbox)'],
  ['file link', '[x](file:///etc/passwd)'],
  ['iframe', '<iframe src="https://example.com"></iframe>'],
  ['object', '<object data="x"></object><embed src="x">'],
  ['style', '<style>body{display:none}</style><p style="position:fixed">x</p>'],
  ['svg', '<svg><script>alert(1)</script><animate onbegin=alert(1)></svg>'],
  ['svg picture in text', '![x](data:image/svg+xml;base64,PHN2Zy8+)'],
  ['form', '<form action="https://example.com"><input name=q><button>Go</button></form>'],
  ['remote image', '![x](https://example.com/x.png)'],
  ['remote image as HTML', '<img src="https://example.com/x.png">'],
  ['protocol relative image', '![x](//example.com/x.png)'],
  ['meta refresh', '<meta http-equiv=refresh content="0;url=https://example.com">'],
  ['base', '<base href="https://example.com/">'],
  ['code fence language', '```"><img/src/onerror=alert(1)>\nx\n```'],
  ['link title', '[x](https://example.com "\\"><img src=x onerror=alert(1)>")'],
  ['math', '$\\href{javascript:alert(1)}{x}$ $"><img src=x onerror=alert(1)>$'],
  ['mutation', '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>'],
  ['the program’s own button', '<button data-copy="code" class="button" data-kind="primary">Allow</button>'],
];

describe('Markdown of a model', () => {
  it.each(hostile)('draws nothing that acts: %s', (_, text) => {
    for (const root of [page(text), page(`para ${text} more\n\n- ${text}\n\n> ${text}\n\n| a |\n|---|\n| ${text.replace(/\n/g, ' ')} |`)]) {
      expect(root.querySelector('script,iframe,object,embed,style,svg,form,input,meta,base,link')).toBeNull();
      expect([...root.querySelectorAll('img')]).toEqual([]);
      expect([...root.querySelectorAll('button')].filter((button) => !button.classList.contains('code__copy'))).toEqual([]);
      for (const element of root.querySelectorAll('*')) {
        for (const { name, value } of element.attributes) {
          expect(name).not.toMatch(/^on|^style$|^srcset$|^action$/);
          if (name === 'href' || name === 'src') expect(value).toMatch(/^https?:\/\//);
        }
      }
    }
  });

  it('is cleaned a second time, whatever the renderer lets through', () => {
    const html = sanitise('<p onclick="x()" class="button prose" style="x">a<script>1</script><a href="javascript:x">b</a><img src="https://e.com/a.png"><button>c</button></p>');
    expect(html).toBe('<p class="">a<a>b</a></p>');
  });

  it('keeps pictures that travel inside the text', () => {
    expect(page('![dot](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')?.getAttribute('alt')).toBe('dot');
  });

  it('shows HTML it does not draw as the text it is', () => {
    expect(page('Use <div id="x"> here').textContent).toContain('<div id="x">');
    expect(page('H<sub>2</sub>O').querySelector('sub')?.textContent).toBe('2');
  });

  it('draws tables, code with its language and file, tasks and links to turns', () => {
    const root = page('| a | b |\n|---|--:|\n| 1 | 2 |\n\n```go throttle.go\nx := 1\n```\n\n- [x] done\n\n[#35](contextinfinity://turn/t0035)');
    expect(root.querySelector('td[data-align="end"]')?.textContent).toBe('2');
    expect(root.querySelector('.code__bar')?.textContent).toBe('Go throttle.goCopy');
    expect(root.querySelector('pre code')?.textContent).toBe('x := 1');
    expect(root.querySelector('.task')?.getAttribute('aria-label')).toBe('Done');
    expect(root.querySelector('a.ref')?.getAttribute('href')).toBe('contextinfinity://turn/t0035');
  });

  it.each([
    ['$a+b$', 'a+b'], ['\\(a\\)', 'a'], ['$$\na\\\\b\n$$', 'a\\\\b'], ['\\[x^2\\]', 'x^2'],
  ])('finds mathematics in %s', (text, tex) => {
    expect(page(text).querySelector('.math')?.getAttribute('data-tex')).toBe(tex);
  });

  it.each(['It costs $5 and $6.', '`$a$`', 'a $ b $ c', 'US$100 or US$200'])('leaves money alone: %s', (text) => {
    expect(page(text).querySelector('.math')).toBeNull();
  });
});

describe('growing Markdown', () => {
  const text = '# Title\n\nOne *two* three.\n\n- a\n- b\n\n  more of b\n\n```go\nfunc f() {\n\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nEnd with `code`.';

  it('ends as the whole text would be drawn, however it was cut', () => {
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

  it('starts again when the text is another', () => {
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
