import { describe, expect, it, vi } from 'vitest';
import { bareDiagram, close, firstSentence, htmlPage, isOpen, open, readSvg, reopen, shownWidth, sizeOf } from './preview';
import { previewKind, maxPreviewChars } from './previewable';
import { render } from './render';
import { hostile } from './testing/hostile';

const parseDocument = (html: string) => new DOMParser().parseFromString(html, 'text/html');
const code = (text: string): HTMLElement => {
  const root = document.createElement('div');
  root.innerHTML = render(text)[0]!.html;
  document.body.append(root);
  return root.querySelector<HTMLElement>('.code')!;
};

const pages: readonly [string, string][] = [
  ...hostile,
  ['a page that refreshes', '<html><head><meta http-equiv="refresh" content="0;url=https://example.com"><base href="https://example.com/"></head><body onload="alert(1)">x</body></html>'],
  ['a link out of the frame', '<a href="https://example.com" target="_top">x</a><a href="javascript:alert(1)">y</a>'],
  ['a frame in the frame', '<iframe srcdoc="<script>alert(1)</script>"></iframe><object data="https://example.com"></object>'],
  ['svg that acts', '<svg onload=alert(1)><script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>x</text></a><use href="https://example.com/a.svg#b"/></svg>'],
];

describe('the preview of a page', () => {
  it.each(pages)('contains nothing active and no external links: %s', (_, text) => {
    const preview = parseDocument(htmlPage(text));
    expect(preview.querySelector('script, iframe, frame, object, embed, base, link, noscript, meta[http-equiv="refresh" i]')).toBeNull();
    expect([...preview.querySelectorAll('meta[http-equiv]')]).toHaveLength(1);
    for (const element of preview.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        expect(name).not.toMatch(/^on|^(?:srcset|ping|action|formaction|target|srcdoc)$/);
        if (/^(?:href|xlink:href)$/.test(name)) expect(value).toMatch(/^#/);
        if (/^(?:src|data|poster|background)$/.test(name)) expect(value).toMatch(/^data:image\//);
      }
    }
  });

  it('keeps its style and text', () => {
    const preview = parseDocument(htmlPage('<html><head><style>p { color: red }</style></head><body class="dark"><p style="margin: 0">Hello</p><input value="a"></body></html>'));
    expect([...preview.querySelectorAll('style')].at(-1)?.textContent).toContain('color: red');
    expect(preview.body.className).toBe('dark');
    expect(preview.querySelector('p')?.getAttribute('style')).toBe('margin: 0');
    expect(preview.querySelector('meta[http-equiv]')?.getAttribute('content')).toMatch(/^default-src 'none';/);
  });
});

describe('previews', () => {
  it.each([['mermaid', 'graph TD', 'mermaid'], ['svg', '<svg/>', 'svg'], ['html', 'x', 'html'], ['xml', '<a/>', null], ['js', 'x', null], ['html', ' ', null], ['html', 'x'.repeat(maxPreviewChars + 1), null]])('%s %#', (lang, text, kind) => {
    expect(previewKind(lang, text)).toBe(kind);
  });

  it('show an SVG at its own size, even if it is not valid XML', () => {
    expect(sizeOf(readSvg('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"/>'))).toEqual({ width: 40, height: 20 });
    const loose = readSvg('<p><svg width=30 height=10px><path d="M0 0"><text>&nbsp;</svg>');
    expect(sizeOf(loose)).toEqual({ width: 30, height: 10 });
    expect(loose.getAttribute('viewBox')).toBe('0 0 30 10');
    expect(sizeOf(readSvg('<svg viewBox="0 0 1 9000"></svg>'))).toBeNull();
    expect(() => readSvg('no picture')).toThrow('no SVG');
  });

  it('enlarge only pictures that are small in both directions', () => {
    expect(shownWidth({ width: 100, height: 280 })).toBe(100);
    expect(shownWidth({ width: 20, height: 40 })).toBe(100);
    expect(shownWidth({ width: 16, height: 16 })).toBe(200);
    expect(shownWidth({ width: 900, height: 40 })).toBe(900);
  });

  it('show a diagram without its own configuration', () => {
    expect(bareDiagram('---\nconfig:\n  securityLevel: loose\n---\n%%{init: {"securityLevel": "loose"}}%%\ngraph TD\n%%{ wrap\n').trim()).toBe('graph TD');
  });
});

describe('opening and closing', () => {
  it('uses a frame without permissions', async () => {
    const block = code('```svg\n<svg viewBox="0 0 4 2"><script>alert(1)</script></svg>\n```');
    await open(block);
    const frame = block.querySelector('iframe')!;
    expect([frame.getAttribute('sandbox'), frame.hasAttribute('src'), isOpen(block)]).toEqual(['', false, true]);
    expect(parseDocument(frame.srcdoc).body.innerHTML).toMatch(/^<img alt="" src="data:image\/svg\+xml;base64,/);
    expect(block.querySelector('[data-act="preview"]')?.textContent).toBe('Code');
    close(block);
    expect([block.querySelector('iframe'), isOpen(block)]).toEqual([null, false]);
  });

  it('draws a diagram again in the colours of another theme, and nothing else', async () => {
    const draw = vi.fn(() => Promise.resolve({ svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"/>' }));
    vi.doMock('mermaid', () => ({ default: { initialize: () => undefined, render: draw } }));
    const diagram = code('```mermaid\ngraph TD\n```');
    await open(diagram);
    const shown = () => diagram.querySelector<HTMLElement>('iframe')!.dataset['picture'];
    expect(shown()).toBe('light');
    await reopen(diagram);
    expect(draw).toHaveBeenCalledOnce();
    document.documentElement.style.colorScheme = 'dark';
    await reopen(diagram);
    expect([shown(), draw.mock.calls.length]).toEqual(['dark', 2]);
    // Another one changes to light while it is drawn, and to dark again: the drawing that was requested last is shown.
    const waits: ((drawing: { svg: string }) => void)[] = [];
    draw.mockImplementation(() => new Promise((resolve) => waits.push(resolve)));
    const other = code('```mermaid\ngraph LR\n```');
    const drawings = [open(other)];
    await vi.waitFor(() => expect(waits).toHaveLength(1));
    for (const scheme of ['', 'dark']) {
      document.documentElement.style.colorScheme = scheme;
      drawings.push(reopen(other));
      await vi.waitFor(() => expect(waits).toHaveLength(drawings.length));
    }
    for (const done of waits.reverse()) done({ svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"/>' });
    await Promise.all(drawings);
    expect(other.querySelector<HTMLElement>('iframe')!.dataset['picture']).toBe('dark');
    // What was drawn is not drawn again, for example when it is scrolled back to.
    close(diagram);
    await open(diagram);
    expect([shown(), draw.mock.calls.length]).toEqual(['dark', 5]);
    document.documentElement.style.colorScheme = '';
    close(diagram);
    await reopen(diagram);
    expect(isOpen(diagram)).toBe(false);
  });

  it('draws a complete diagram by itself, unless it was closed; one that is not valid stays text', async () => {
    const draw = vi.fn((_id: string, text: string) => (text.includes('A-->') ? Promise.reject(new Error('Parse error')) : Promise.resolve({ svg: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"/>' })));
    vi.doMock('mermaid', () => ({ default: { initialize: () => undefined, render: draw } }));
    vi.resetModules();
    const fresh = await import('./preview');
    const [valid, broken, picture] = [code('```mermaid\ngraph BT\n```'), code('```mermaid\ngraph BT\nA-->\n```'), code('```svg\n<svg viewBox="0 0 4 2"/>\n```')];
    const drawing = fresh.drawDiagram(valid);
    expect(valid.querySelector('.preview')).toBeNull(); // its code is shown until the drawing is ready
    await drawing;
    await fresh.drawDiagram(broken);
    await fresh.drawDiagram(picture);
    expect([valid, broken, picture].map((block) => block.querySelector('iframe') !== null)).toEqual([true, false, false]);
    expect(broken.querySelector('.preview')).toBeNull();
    fresh.close(valid);
    await Promise.all([fresh.drawDiagram(valid), fresh.drawDiagram(broken)]);
    expect([fresh.isOpen(valid), draw.mock.calls.length]).toEqual([false, 2]);
  });

  it('is not remembered for the conversation if it was opened beside it', async () => {
    const source = '```svg\n<svg viewBox="0 0 9 9"></svg>\n```';
    const [beside, inText] = [code(source), code(source)];
    const panel = document.createElement('div');
    panel.className = 'artifact';
    document.body.append(panel);
    panel.append(beside);
    await open(beside);
    await reopen(inText);
    expect([isOpen(beside), isOpen(inText)]).toEqual([true, false]);
    await open(inText);
    close(beside);
    const drawnAgain = code(source);
    await reopen(drawnAgain);
    expect(isOpen(drawnAgain)).toBe(true);
  });

  it('shows an error if drawing fails', async () => {
    const block = code('```svg\nnothing\n```');
    await open(block);
    expect(block.querySelector('.preview')?.textContent).toBe('This cannot be rendered: there is no SVG in it.');
  });
});

it.each([['Parse error on line 2:\n...A-->\n-----^', 'Parse error on line 2'], ['No diagram type', 'No diagram type']])('shows the first line of an error, complete: %j', (error, shown) => {
  expect(firstSentence(error)).toBe(shown);
});
