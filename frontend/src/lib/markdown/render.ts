/** Markdown to safe HTML, block by block, so that a block that did not change is never drawn again. */
import { language, t } from '$lib/i18n/i18n.svelte';
import { Marked, type Token, type Tokens, type TokensList } from 'marked';
import { pieces, plainRuns, type Piece } from './bound';
import { escapeHtml } from './escape';
import { fileNameOf, languageName } from './languages';
import { mathExtension } from './math';
import { drawWith, isNote, mayRefer, noteExtension } from './notes';
import { isPreviewable } from './previewable';
import { imagePattern, linkPattern, sanitise } from './sanitise';
import { tame } from './tame';

export interface Block {
  html: string;
}

/** HTML of the model that is kept, without attributes; all other HTML is shown as text. */
const harmless = /^<(\/?)(br|sub|sup|kbd|u|mark|small|del|ins|b|i|em|strong|details|summary)\s*(\/?)>$/i;

/** A number with its sign, unit or currency: never broken over two lines. */
const isQuantity = (text: string): boolean => text.length <= 24 && /^[^\p{L}]*\d[^\p{L}]*\p{L}{0,6}[^\p{L}]*$/u.test(text);

/** A cell that keeps to one line, and one that gets more width: widths in letters, where wide letters count twice. */
const shortCell = 24;
const longCell = 60;

function cellClass(tag: 'th' | 'td', text: string): string {
  if (tag === 'td' && isQuantity(text)) return ' class="number"';
  const width = text.length > longCell ? text.length : text.replace(/[\u1100-\u115f\u2e80-\uffdc]/g, 'xx').length;
  return width <= shortCell ? ' class="short"' : width > longCell ? ' class="long"' : '';
}

const marked = new Marked(mathExtension, noteExtension, {
  gfm: true,
  renderer: {
    codespan: ({ text }) => `<code dir="ltr">${escapeHtml(text)}</code>`,
    html: ({ text }) => keepHarmless(text),
    link({ href, title, tokens }) {
      const label = this.parser.parseInline(tokens).replace(directionMarks, '');
      if (!linkPattern.test(href)) return label;
      const kind = href.startsWith('contextinfinity:') ? ' class="ref"' : '';
      return `<a href="${escapeHtml(href)}" title="${escapeHtml(title || (kind ? t('markdown.jumpTo') : href))}"${kind}>${label}${kind ? '' : hostOf(href, tokens)}</a>`;
    },
    image({ href, text }) {
      if (imagePattern.test(href)) return `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`;
      const label = escapeHtml(text || href);
      if (!linkPattern.test(href)) return label;
      return `<a href="${escapeHtml(href)}" class="remote" title="${escapeHtml(t('markdown.remotePicture', { address: href }))}">${label}</a>`;
    },
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    table(token) {
      const cell = (tag: 'th' | 'td', { tokens, text }: Tokens.TableCell, column: number) => {
        const align = token.align[column] === 'right' ? ' data-align="end"' : token.align[column] === 'center' ? ' data-align="center"' : '';
        return `<${tag}${align}${cellClass(tag, text)}>${this.parser.parseInline(tokens)}</${tag}>`;
      };
      const head = token.header.map((header, column) => cell('th', header, column)).join('');
      const rows = token.rows.map((row) => `<tr>${row.map((data, column) => cell('td', data, column)).join('')}</tr>`).join('');
      const copies = act('markdown', 'Markdown', t('markdown.copyTable', { form: 'Markdown' })) + act('csv', 'CSV', t('markdown.copyTable', { form: 'CSV' }));
      return `<div class="table"><div class="data-scroll"><table class="data"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div><div class="table__acts">${copies}</div></div>`;
    },
    checkbox: ({ checked }) => `<span class="task" aria-label="${escapeHtml(checked ? t('markdown.done') : t('markdown.toDo'))}">${checked ? '☑' : '☐'}</span> `,
  },
});

/** Characters that change the direction of the text around them. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g;
/** Text that reads like an address. */
const addressLike = /(?:^|[\s/@])((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?=$|[\s/:?#])/u;

/**
 * The site of a link, in unambiguous letters if its text or its address could be misread; nothing if the text contains
 * the site.
 */
function hostOf(href: string, tokens: readonly Token[]): string {
  const url = URL.canParse(href) ? new URL(href) : null;
  if (!url) return '';
  const text = tokens.map((token) => token.raw).join('');
  const namedHost = addressLike.exec(text.toLowerCase())?.[1];
  const withoutWww = (host: string) => host.replace(/^www\./, '');
  const doubtful = url.username !== '' || url.hostname.includes('xn--') || text.search(directionMarks) >= 0 || (namedHost !== undefined && withoutWww(namedHost) !== withoutWww(url.hostname));
  if (!doubtful && (url.hostname === '' || text.toLowerCase().includes(withoutWww(url.hostname)))) return '';
  return ` <span class="host${doubtful ? '' : ' host--plain'}" dir="ltr">${escapeHtml(doubtful ? url.hostname : withoutWww(url.hostname))}</span>`;
}

function keepHarmless(html: string): string {
  return html.replace(/<!--[^]*?-->|<[^<>]*>|[<>]|[^<>]+/g, (piece) => {
    if (piece.startsWith('<!--')) return '';
    const kept = harmless.exec(piece);
    return kept ? `<${kept[1]}${kept[2]!.toLowerCase()}>` : escapeHtml(piece).replace(/&amp;(#?\w+;)/g, '&$1');
  });
}

/** Code with more lines than this is folded; while it arrives, it is folded only on request. */
export const foldedLines = 40;

const act = (name: string, text: string, label: string) => `<button type="button" class="code__act" data-act="${name}" aria-label="${escapeHtml(label)}">${escapeHtml(text)}</button>`;

/** How many lines the long code in a block has. */
export function longLines(html: string): number {
  let sum = 0;
  for (const [, lines] of html.matchAll(/<div class="code" dir="ltr" data-lines="(\d+)"/g)) if (Number(lines) > foldedLines) sum += Number(lines);
  return sum;
}

/** The parts of a block that is code (codeBlock); null for other blocks. */
export function codeParts(html: string): { lines: string; file: string; bar: string; text: string; more: string } | null {
  const parts = /^<div class="code" dir="ltr" data-lines="(\d+)" data-file="([^"]*)">(<div class="code__bar">.*?<\/div>)<pre>(.*)<\/pre>(.*)<\/div>$/s.exec(html);
  return parts && { lines: parts[1]!, file: parts[2]!, bar: parts[3]!, text: parts[4]!, more: parts[5]! };
}

/** The word after the language is the file name: "go throttle.go". */
function codeBlock(text: string, info: string): string {
  const [lang = '', ...rest] = info.trim().split(/\s+/);
  const file = rest.join(' ');
  const label = escapeHtml(lang === '' ? t('markdown.text') : languageName(lang)) + (file === '' ? '' : ` <span class="code__lang">${escapeHtml(file)}</span>`);
  const lines = text.split('\n').length;
  const beside = lines > 12 || isPreviewable(lang, text) ? act('beside', t('markdown.beside'), t('markdown.showBeside')) : '';
  const acts = beside + act('wrap', t('markdown.wrap'), t('markdown.wrapLines')) + act('save', t('shared.save'), t('markdown.saveCode')) + (isPreviewable(lang, text) ? act('preview', t('markdown.preview'), t('markdown.preview')) : '');
  const more = lines > foldedLines ? `<button type="button" class="code__more" data-act="fold">${escapeHtml(t('markdown.showLines', { count: lines }))}</button>` : '';
  return `<div class="code" dir="ltr" data-lines="${lines}" data-file="${escapeHtml(fileNameOf(lang, file))}">`
    + `<div class="code__bar"><span>${label}</span><span class="code__acts">${acts}<button type="button" class="code__act code__copy" data-act="copy" aria-label="${escapeHtml(t('shared.copyCode'))}">${escapeHtml(t('shared.copy'))}</button></span></div>`
    + `<pre><code data-lang="${escapeHtml(lang)}">${escapeHtml(text)}</code></pre>${more}</div>`;
}

/** Recently drawn blocks: scrolling a virtual list draws the same ones again and again. */
const drawn = new Map<string, string>();
const maxCachedBlocks = 800;
const maxCachedChars = 20_000;

/** Each list item has the direction of its text, and its marker on that side. Escaped text contains no such tag. */
const directed = (html: string): string => html.replaceAll('<li>', '<li dir="auto">');

const plainParagraph = (token: Token): string => `<p class="plain">${escapeHtml(token.raw.trim())}</p>`;

function parsed(token: Token): string {
  try {
    return directed(sanitise(marked.parser([token])));
  } catch {
    return plainParagraph(token); // the nesting exceeds the stack
  }
}

function draw(token: Token, cacheable: boolean): string {
  cacheable &&= !mayRefer(token.raw); // the footnote it refers to may still arrive
  const key = `${language()}\n${token.raw}`; // the labels around code are translated
  const known = cacheable ? drawn.get(key) : undefined;
  if (known !== undefined) return known;
  const html = token.type === 'plain' ? plainParagraph(token) : parsed(token);
  if (cacheable && token.raw.length <= maxCachedChars) {
    if (drawn.size >= maxCachedBlocks) drawn.delete(drawn.keys().next().value!);
    drawn.set(key, html);
  }
  return html;
}

const normalized = (text: string) => tame(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
const isEmpty = (token: Token) => token.type === 'space' || token.type === 'def';

/** A text of one part (bound.ts). Links may be defined anywhere in it; footnotes anywhere in the whole text. */
export function render(text: string, labels?: ReadonlySet<string>): Block[] {
  const lexed = pieces(normalized(text)).map(lex);
  const known = labels ?? new Set(lexed.flatMap((tokens) => tokens.filter(isNote).map((note) => note.label)));
  return drawWith(known, () => lexed.flatMap((tokens) => {
    const cacheable = Object.keys(tokens.links).length === 0;
    return tokens.filter((token) => !isEmpty(token)).map((token) => ({ html: draw(token, cacheable) }));
  }));
}

/** Text that the parser must not, or cannot, read is one token of plain text. */
function lex(piece: Piece): TokensList {
  try {
    if (!piece.plain) return marked.lexer(piece.text);
  } catch {
    // The nesting exceeds the stack: the text is shown unchanged.
  }
  const raw = piece.text.trim() === '' ? [{ type: 'space', raw: piece.text }] : plainRuns(piece.text).map((run) => ({ type: 'plain', raw: run }));
  return Object.assign(raw as Token[], { links: {} });
}

/**
 * A text that grows at its end. Blocks before the last one are settled: only the last one is parsed again, so a long
 * answer costs no more per frame than a short one.
 */
export class GrowingMarkdown {
  /** The language of the labels around code and footnotes. */
  #language = language();
  #settledText = '';
  #settled: readonly Block[] = [];
  /** The settled part ends within a paragraph of plain text. */
  #plain = false;
  /** Settled blocks that refer to footnotes, by their position: they are drawn again when a footnote arrives. */
  readonly #referring = new Map<number, Token>();
  readonly #labels = new Set<string>();

  update(fullText: string): readonly Block[] {
    const text = normalized(fullText);
    if (this.#language !== language() || !text.startsWith(this.#settledText)) this.#reset();
    const tail = text.slice(this.#settledText.length);
    const tokens = this.#pieces(tail).flatMap((piece, i, all) => {
      // The line break between two pieces belongs to the first one.
      const text = i < all.length - 1 ? `${piece.text}\n` : piece.text;
      return [...lex({ ...piece, text })];
    });
    this.#learn(tokens);
    return drawWith(this.#labels, () => this.#draw(tokens, tail));
  }

  /** The rest of a paragraph that began as plain text is plain text, however short it is. */
  #pieces(tail: string): Piece[] {
    if (!this.#plain) return pieces(tail);
    const end = /\n[^\S\n]*\n/.exec(tail)?.index ?? tail.length;
    const rest = tail.slice(end + 1);
    return [{ text: tail.slice(0, end), plain: true }, ...(rest === '' ? [] : pieces(rest))];
  }

  /** Footnotes that have arrived: text that refers to them becomes a reference. */
  #learn(tokens: readonly Token[]): void {
    const before = this.#labels.size;
    for (const token of tokens) if (isNote(token)) this.#labels.add(token.label);
    if (this.#labels.size === before || this.#referring.size === 0) return;
    const settled = [...this.#settled];
    drawWith(this.#labels, () => {
      for (const [place, token] of this.#referring) settled[place] = { html: draw(token, false) };
    });
    this.#settled = settled;
  }

  #draw(tokens: readonly Token[], tail: string): readonly Block[] {
    const open = tokens.findLastIndex((token) => !isEmpty(token));
    if (open > 0) this.#settle(tokens.slice(0, open), tail);
    const last = open >= 0 ? [{ html: draw(tokens[open]!, false) }] : [];
    return [...this.#settled, ...last];
  }

  #settle(tokens: readonly Token[], tail: string): void {
    const length = tokens.reduce((sum, token) => sum + token.raw.length, 0);
    const raw = tokens.map((token) => token.raw).join('');
    const full = tokens.filter((token) => !isEmpty(token));
    const blocks = full.map((token) => ({ html: draw(token, true) }));
    for (const [i, token] of full.entries()) if (mayRefer(token.raw)) this.#referring.set(this.#settled.length + i, token);
    this.#settled = [...this.#settled, ...blocks];
    // If the parser ever changes its input, positions would drift: then settle by the input it was given.
    this.#settledText += tail.startsWith(raw) ? raw : tail.slice(0, length);
    this.#plain = tokens.at(-1)?.type === 'plain' && !/\n\s*$/.test(raw);
  }

  #reset(): void {
    this.#language = language();
    this.#settledText = '';
    this.#settled = [];
    this.#plain = false;
    this.#referring.clear();
    this.#labels.clear();
  }
}
