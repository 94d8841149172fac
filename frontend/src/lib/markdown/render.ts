/** Markdown to safe HTML, block by block, so that a block that did not change is never drawn again. */
import { Marked, type Token, type Tokens, type TokensList } from 'marked';
import { pieces, type Piece } from './bound';
import { escapeHtml } from './escape';
import { languageName } from './languages';
import { mathExtension } from './math';
import { imagePattern, linkPattern, sanitise } from './sanitise';
import { tame } from './tame';

export interface Block {
  html: string;
}

/** HTML of the model's that is kept, without attributes; everything else of it is shown as the text it is. */
const harmless = /^<(\/?)(br|sub|sup|kbd|u|mark|small|del|ins|b|i|em|strong|details|summary)\s*(\/?)>$/i;

/** A number with its sign, unit or currency: never broken over two lines. */
const isQuantity = (text: string): boolean => text.length <= 24 && /^[^\p{L}]*\d[^\p{L}]*\p{L}{0,6}[^\p{L}]*$/u.test(text);

const marked = new Marked(mathExtension, {
  gfm: true,
  renderer: {
    html: ({ text }) => keepHarmless(text),
    link({ href, title, tokens }) {
      const words = this.parser.parseInline(tokens).replace(turning, '');
      if (!linkPattern.test(href)) return words;
      const kind = href.startsWith('contextinfinity:') ? ' class="ref"' : '';
      return `<a href="${escapeHtml(href)}" title="${escapeHtml(title || (kind ? 'Jump to this turn' : href))}"${kind}>${words}${kind ? '' : hostOf(href, tokens)}</a>`;
    },
    image({ href, text }) {
      if (imagePattern.test(href)) return `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`;
      const words = escapeHtml(text || href);
      if (!linkPattern.test(href)) return words;
      return `<a href="${escapeHtml(href)}" class="remote" title="Pictures elsewhere are not loaded. Opens ${escapeHtml(href)} in the browser">${words}</a>`;
    },
    code: ({ text, lang }) => codeBlock(text, lang ?? ''),
    table(token) {
      const cell = (tag: 'th' | 'td', { tokens, text }: Tokens.TableCell, column: number) => {
        const align = token.align[column] === 'right' ? ' data-align="end"' : token.align[column] === 'center' ? ' data-align="center"' : '';
        const number = tag === 'td' && isQuantity(text) ? ' class="number"' : '';
        return `<${tag}${align}${number}>${this.parser.parseInline(tokens)}</${tag}>`;
      };
      const head = token.header.map((header, column) => cell('th', header, column)).join('');
      const rows = token.rows.map((row) => `<tr>${row.map((data, column) => cell('td', data, column)).join('')}</tr>`).join('');
      return `<div class="data-scroll"><table class="data"><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
    },
    checkbox: ({ checked }) => `<span class="task" aria-label="${checked ? 'Done' : 'To do'}">${checked ? '☑' : '☐'}</span> `,
  },
});

/** Characters that turn the direction of the text around them. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g;
/** Words that read as an address. */
const addressWords = /(?:^|[\s/@])((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?=$|[\s/:?#])/u;

/** Where a link leads, in letters that cannot be mistaken, if its words or its address could be. */
function hostOf(href: string, tokens: readonly Token[]): string {
  const url = URL.canParse(href) ? new URL(href) : null;
  if (!url) return '';
  const words = tokens.map((token) => token.raw).join('');
  const said = addressWords.exec(words.toLowerCase())?.[1];
  const bare = (host: string) => host.replace(/^www\./, '');
  const doubtful = url.username !== '' || url.hostname.includes('xn--') || words.search(turning) >= 0 || (said !== undefined && bare(said) !== bare(url.hostname));
  return doubtful ? ` <span class="host" dir="ltr">${escapeHtml(url.hostname)}</span>` : '';
}

function keepHarmless(html: string): string {
  return html.replace(/<!--[^]*?-->|<[^<>]*>|[<>]|[^<>]+/g, (piece) => {
    if (piece.startsWith('<!--')) return '';
    const kept = harmless.exec(piece);
    return kept ? `<${kept[1]}${kept[2]!.toLowerCase()}>` : escapeHtml(piece).replace(/&amp;(#?\w+;)/g, '&$1');
  });
}

/** The word after the language names the file: "go throttle.go". */
function codeBlock(text: string, info: string): string {
  const [lang = '', ...rest] = info.trim().split(/\s+/);
  const file = rest.join(' ');
  const label = escapeHtml(lang === '' ? 'Text' : languageName(lang)) + (file === '' ? '' : ` <span class="code__lang">${escapeHtml(file)}</span>`);
  return `<div class="code" dir="ltr"><div class="code__bar"><span>${label}</span><button type="button" class="code__copy" data-copy="code" aria-label="Copy code">Copy</button></div>`
    + `<pre><code data-lang="${escapeHtml(lang)}">${escapeHtml(text)}</code></pre></div>`;
}

/** Blocks recently drawn: scrolling a virtual list draws the same ones again and again. */
const drawn = new Map<string, string>();
const drawnMost = 800;
const drawnLongest = 20_000;

function draw(token: Token, cacheable: boolean): string {
  const known = cacheable ? drawn.get(token.raw) : undefined;
  if (known !== undefined) return known;
  const html = token.type === 'plain' ? `<p class="plain">${escapeHtml(token.raw.trim())}</p>` : sanitise(marked.parser([token]));
  if (cacheable && token.raw.length <= drawnLongest) {
    if (drawn.size >= drawnMost) drawn.delete(drawn.keys().next().value!);
    drawn.set(token.raw, html);
  }
  return html;
}

const normalised = (text: string) => tame(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
const empty = (token: Token) => token.type === 'space' || token.type === 'def';

/** A text of one part (bound.ts). Links may be defined anywhere in it. */
export function render(text: string): Block[] {
  return pieces(normalised(text)).flatMap((piece) => {
    const tokens = lex(piece);
    const cacheable = Object.keys(tokens.links).length === 0;
    return tokens.filter((token) => !empty(token)).map((token) => ({ html: draw(token, cacheable) }));
  });
}

/** What the parser must not have, or cannot read, is one token of plain words. */
function lex(piece: Piece): TokensList {
  try {
    if (!piece.plain) return marked.lexer(piece.text);
  } catch {
    // Deeper than the stack: the words are shown as they are.
  }
  const raw = piece.text.trim() === '' ? { type: 'space', raw: piece.text } : { type: 'plain', raw: piece.text };
  return Object.assign([raw as Token], { links: {} });
}

/**
 * A text that grows at its end. Blocks before the last are settled: only the last is parsed again, so that a long answer
 * costs no more per frame than a short one.
 */
export class GrowingMarkdown {
  #settledText = '';
  #settled: readonly Block[] = [];

  update(whole: string): readonly Block[] {
    const text = normalised(whole);
    if (!text.startsWith(this.#settledText)) this.#reset();
    const tail = text.slice(this.#settledText.length);
    const tokens = pieces(tail).flatMap((piece, i, all) => {
      // The line break between two pieces belongs to the first.
      const text = i < all.length - 1 ? `${piece.text}\n` : piece.text;
      return [...lex({ ...piece, text })];
    });
    const open = tokens.findLastIndex((token) => !empty(token));
    if (open > 0) this.#settle(tokens.slice(0, open), tail);
    const last = open >= 0 ? [{ html: draw(tokens[open]!, false) }] : [];
    return [...this.#settled, ...last];
  }

  #settle(tokens: readonly Token[], tail: string): void {
    const length = tokens.reduce((sum, token) => sum + token.raw.length, 0);
    const raw = tokens.map((token) => token.raw).join('');
    const blocks = tokens.filter((token) => !empty(token)).map((token) => ({ html: draw(token, true) }));
    this.#settled = [...this.#settled, ...blocks];
    // Should the parser ever rewrite what it reads, positions would drift: then settle by what it was given.
    this.#settledText += tail.startsWith(raw) ? raw : tail.slice(0, length);
  }

  #reset(): void {
    this.#settledText = '';
    this.#settled = [];
  }
}
