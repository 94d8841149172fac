/**
 * Previews code: a Mermaid diagram, an SVG picture, an HTML page. Each is in its own frame that cannot run scripts, has
 * no origin, and may load nothing. A script in any frame of the window could reach the program itself, so none runs,
 * not even in a sandbox: content that scripts would create is not shown.
 */
import { t } from '$lib/i18n/i18n.svelte';
import DOMPurify from 'dompurify';
import { openPreviews, previewKind, type PreviewKind } from './previewable';

const maxDiagramChars = 20_000;
const maxDiagramEdges = 300;
/** How many opened and closed previews, and drawn diagrams, are remembered for when the list draws them again. */
const maxRemembered = 60;

/** The content of the frame. It repeats the window's policy, in case an engine does not pass it on. */
function page(body: string, style: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`
    + `<meta name="color-scheme" content="light only"><style>${style}</style></head>${body}</html>`;
}

export function isOpen(code: HTMLElement): boolean {
  return code.dataset['shown'] === 'preview';
}

/**
 * Opens the preview again that was open before its turn was drawn again, and draws a diagram in the colours of the
 * current theme.
 */
export async function reopen(code: HTMLElement): Promise<void> {
  const { text, kind } = sourceOf(code);
  if (!kind) return;
  if (!isOpen(code)) return isRemembered(code) && openPreviews.has(text) ? open(code) : undefined;
  name(code, 'code'); // the bar may be new
  const place = code.querySelector<HTMLElement>('.preview');
  if (kind === 'mermaid' && place && place.dataset['ground'] !== background()) await fill(place, text, kind);
}

export function close(code: HTMLElement): void {
  const { text } = sourceOf(code);
  if (isRemembered(code)) {
    openPreviews.delete(text);
    keep(closedDiagrams, text);
  }
  delete code.dataset['shown'];
  code.querySelector(':scope > .preview')?.remove();
  name(code, 'preview');
}

export async function open(code: HTMLElement): Promise<void> {
  const { text, kind } = sourceOf(code);
  if (!kind || isOpen(code)) return;
  if (isRemembered(code)) closedDiagrams.delete(text);
  await fill(placeIn(code, text), text, kind);
}

/**
 * Draws a diagram that the user has not closed, once it can be shown: until then, and if it is not valid, its code stays
 * as it is.
 */
export async function drawDiagram(code: HTMLElement): Promise<void> {
  const { text, kind } = sourceOf(code);
  if (kind !== 'mermaid' || isOpen(code) || closedDiagrams.has(text)) return;
  const ground = background();
  const elements = await drawn(text, kind).catch(() => null);
  if (!elements) return keep(closedDiagrams, text);
  if (!code.isConnected || isOpen(code) || sourceOf(code).text !== text) return;
  const place = placeIn(code, text);
  place.dataset['ground'] = ground;
  place.replaceChildren(...elements);
}

/** The place of the preview in a code block, which then shows it instead of the code. */
function placeIn(code: HTMLElement, text: string): HTMLElement {
  if (isRemembered(code)) keep(openPreviews, text);
  code.dataset['shown'] = 'preview';
  name(code, 'code');
  const place = document.createElement('div');
  place.className = 'preview';
  code.querySelector('pre')!.before(place);
  return place;
}

/** What is opened beside the conversation (ArtifactPanel.svelte) changes nothing in it. */
const isRemembered = (code: HTMLElement): boolean => !code.closest('.artifact');

/** Diagrams that the user closed, or that are not valid. */
const closedDiagrams = new Set<string>();

function keep(texts: Set<string>, text: string): void {
  texts.delete(text);
  if (texts.size >= maxRemembered) texts.delete(texts.values().next().value!);
  texts.add(text);
}

let fills = 0;

/** Draws into a place. If the theme changes meanwhile, the drawing that was asked for last stays. */
async function fill(place: HTMLElement, text: string, kind: PreviewKind): Promise<void> {
  const fillId = String(++fills);
  place.dataset['fill'] = fillId;
  place.dataset['ground'] = background();
  const latest = () => place.dataset['fill'] === fillId;
  try {
    const elements = await drawn(text, kind);
    if (place.isConnected && latest()) place.replaceChildren(...elements);
  } catch (error) {
    if (!latest()) return;
    const note = document.createElement('p');
    note.className = 'preview__note';
    note.setAttribute('role', 'status');
    note.textContent = t('markdown.cannotDraw', { error: firstSentence(String((error as Error | null)?.message ?? error)) });
    place.replaceChildren(note);
  }
}

function sourceOf(code: HTMLElement): { text: string; kind: PreviewKind | null } {
  const source = code.querySelector<HTMLElement>('pre code');
  const text = source?.textContent ?? '';
  return { text, kind: previewKind(source?.dataset['lang'] ?? '', text) };
}

function name(code: HTMLElement, shows: 'code' | 'preview'): void {
  const button = code.querySelector('[data-act="preview"]');
  if (!button) return;
  button.textContent = shows === 'code' ? t('markdown.code') : t('markdown.preview');
  button.setAttribute('aria-label', shows === 'code' ? t('markdown.showCode') : t('markdown.preview'));
}

const background = () => (isDark() ? 'dark' : 'light');
const isDark = (): boolean => getComputedStyle(document.documentElement).colorScheme.startsWith('dark');

async function drawn(text: string, kind: PreviewKind): Promise<HTMLElement[]> {
  if (kind === 'html') return [frame(htmlPage(text), t('markdown.pageFrame')), note(t('markdown.drawnSafe'))];
  const dark = kind === 'mermaid' && isDark();
  const svg = kind === 'svg' ? readSvg(text) : readSvg(await diagram(text, dark));
  const element = frame(pictureOf(svg, dark ? darkBackground : '#fff'), kind === 'svg' ? t('markdown.pictureFrame') : t('markdown.diagramFrame'));
  element.dataset['picture'] = dark ? 'dark' : 'light';
  const size = sizeOf(svg);
  if (size) {
    element.style.aspectRatio = `${size.width} / ${size.height}`;
    element.style.height = 'auto';
    element.style.maxWidth = `${shownWidth(size)}px`;
  }
  return [element];
}

/**
 * The first line of an error. In Mermaid's errors, a drawing of the position follows, which needs a fixed-width font.
 */
export function firstSentence(error: string): string {
  return error.split('\n')[0]!.replace(/:\s*$/, '').slice(0, 300);
}

/** Pictures have their own size; only those that are small in both directions are enlarged. */
export function shownWidth({ width, height }: { width: number; height: number }): number {
  const small = 200;
  return Math.round(width * Math.max(1, Math.min(small / width, small / height)));
}

function frame(html: string, title: string): HTMLIFrameElement {
  const element = document.createElement('iframe');
  element.setAttribute('sandbox', '');
  element.setAttribute('referrerpolicy', 'no-referrer');
  element.title = title;
  element.srcdoc = html;
  return element;
}

function note(text: string): HTMLElement {
  const element = document.createElement('p');
  element.className = 'preview__note';
  element.textContent = text;
  return element;
}

let purifier: ReturnType<typeof DOMPurify> | undefined;

/** The page without active content and links. The sandbox and the policy of the frame would refuse them too. */
export function htmlPage(text: string): string {
  if (!purifier) {
    purifier = DOMPurify(window);
    purifier.addHook('uponSanitizeAttribute', (_, attribute) => {
      if (/^(?:href|xlink:href)$/.test(attribute.attrName)) attribute.keepAttr = attribute.attrValue.startsWith('#');
      if (/^(?:src|poster|background|data)$/.test(attribute.attrName)) attribute.keepAttr = /^data:image\//i.test(attribute.attrValue);
      if (/^(?:srcset|ping|action|formaction|target|autofocus|manifest)$/.test(attribute.attrName)) attribute.keepAttr = false;
    });
  }
  const clean = purifier.sanitize(text, {
    WHOLE_DOCUMENT: true, ADD_TAGS: ['head', 'body', 'style'], FORBID_TAGS: ['script', 'iframe', 'frame', 'frameset', 'object', 'embed', 'link', 'meta', 'base', 'template', 'noscript'],
  });
  const parsed = new DOMParser().parseFromString(clean, 'text/html');
  const style = [...parsed.querySelectorAll('style')].map((element) => element.outerHTML).join('');
  for (const element of parsed.querySelectorAll('style')) element.remove();
  // The frame itself is white: a background here would keep that of the body from covering the frame.
  return page(`${style}${parsed.body.outerHTML}`, 'html { color: #111; font: 15px/1.5 sans-serif; overflow-wrap: anywhere; }');
}

/** Behind diagrams in a dark window, as in prose.css. Pictures of others are drawn for white. */
const darkBackground = '#16181c';

/** As a picture, an SVG runs nothing and loads nothing, whatever it contains. */
function pictureOf(svg: SVGElement, background: string): string {
  const bytes = new TextEncoder().encode(new XMLSerializer().serializeToString(svg));
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return page(`<body><img alt="" src="data:image/svg+xml;base64,${btoa(binary)}"></body>`, `html, body { height: 100%; margin: 0; background: ${background}; } img { display: block; width: 100%; height: 100%; object-fit: contain; }`);
}

/** Parsed as XML, or as HTML if it is not valid XML. Nothing in it runs: neither document is shown. */
export function readSvg(text: string): SVGElement {
  const strict = new DOMParser().parseFromString(text.trim(), 'image/svg+xml');
  const found = strict.documentElement.nodeName === 'svg' && !strict.querySelector('parsererror') ? strict.documentElement : null;
  if (found?.namespaceURI === 'http://www.w3.org/2000/svg') return found as unknown as SVGElement;
  const lenient = new DOMParser().parseFromString(text, 'text/html').querySelector('svg');
  if (!lenient) throw new Error(t('markdown.noSvg'));
  return lenient;
}

/** Its own size, within limits. */
export function sizeOf(svg: SVGElement): { width: number; height: number } | null {
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '').trim().split(/[\s,]+/).map(Number);
  const own = { width: pixels(svg, 'width') || width, height: pixels(svg, 'height') || height };
  if (!(own.width > 0 && own.height > 0) || own.width / own.height > 50 || own.height / own.width > 50) return null;
  if (!svg.hasAttribute('viewBox')) svg.setAttribute('viewBox', `0 0 ${own.width} ${own.height}`); // otherwise it would not be scaled
  return own;
}

function pixels(svg: SVGElement, name: string): number {
  const found = /^\s*(\d+(?:\.\d+)?)(?:px)?\s*$/.exec(svg.getAttribute(name) ?? '');
  return found ? Number(found[1]) : 0;
}

let diagrams = 0;
/** The drawn diagrams by ground and text: a virtual list draws a turn again whenever it is scrolled back to. */
const pictures = new Map<string, string>();

/** A diagram's own configuration is removed: it could change how strictly the others are drawn. */
export function bareDiagram(text: string): string {
  return text.replace(/^\s*---[ \t]*\n[^]*?\n---[ \t]*(?:\n|$)/, '').replace(/%%\{[^]*?(?:\}%%|$)/g, '');
}

async function diagram(text: string, dark: boolean): Promise<string> {
  if (text.length > maxDiagramChars) throw new Error(t('markdown.tooLong'));
  const key = `${dark}\n${text}`;
  const known = pictures.get(key);
  if (known !== undefined) return known;
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize({
    startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'neutral', fontFamily: 'sans-serif', htmlLabels: false, flowchart: { htmlLabels: false }, maxTextSize: maxDiagramChars, maxEdges: maxDiagramEdges, suppressErrorRendering: true,
  });
  const place = document.createElement('div');
  place.setAttribute('aria-hidden', 'true');
  place.className = 'preview__measure';
  document.body.append(place);
  try {
    const { svg } = await mermaid.render(`diagram-${++diagrams}`, bareDiagram(text), place);
    if (pictures.size >= maxRemembered) pictures.delete(pictures.keys().next().value!);
    pictures.set(key, svg);
    return svg;
  } finally {
    place.remove();
  }
}
