/** Footnotes in Markdown: [^label] in the text, "[^label]: text" below it. */
import { t } from '$lib/i18n/i18n.svelte';
import type { MarkedExtension, Token, Tokens } from 'marked';
import { escapeHtml } from './escape';

export interface NoteToken extends Tokens.Generic {
  label: string;
  paragraphs: Token[][];
}

const labelPattern = '[^\\]\\[\\s\\\\^]{1,40}';
const definition = new RegExp(`^ {0,3}\\[\\^(${labelPattern})\\]:[ \\t]*`);
const reference = new RegExp(`^\\[\\^(${labelPattern})\\](?![(\\[:])`);
/** The start of a line that begins another block, and so does not continue a footnote unless it is indented. */
const blockStart = /^ {0,3}(?:\[\^|#{1,6}\s|`{3}|~{3}|>|[-*+]\s|\d{1,9}[.)]\s|\||<|\$\$|\\\[)/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
/** The limit for one text. References to further footnotes stay plain text. */
const maxLabels = 500;

/** The labels of the existing footnotes: only these are drawn as references. Set while a text is drawn. */
let definedLabels: ReadonlySet<string> = new Set();

/** Runs `draw`, in which the footnotes with these labels exist. */
export function drawWith<T>(labels: ReadonlySet<string>, draw: () => T): T {
  definedLabels = labels;
  try {
    return draw();
  } finally {
    definedLabels = new Set();
  }
}

export const mayRefer = (raw: string): boolean => raw.includes('[^');

export function isNote(token: Token): token is NoteToken {
  return token.type === 'note';
}

/** The labels defined anywhere in a text that is drawn in parts. */
export function noteLabels(text: string): ReadonlySet<string> {
  const labels = new Set<string>();
  if (!mayRefer(text)) return labels;
  let openFence = '';
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (mark) openFence = openFence === '' ? mark : mark.startsWith(openFence) && line.trim() === mark ? '' : openFence;
    const label = openFence === '' && labels.size < maxLabels ? definition.exec(line)?.[1] : undefined;
    if (label) labels.add(label);
  }
  return labels;
}

/** The text up to the first blank line. The parser calls `start` for every block, so searching the rest would be slow. */
function untilBlankLine(src: string): string {
  const end = src.indexOf('\n\n');
  return end < 0 ? src : src.slice(0, end);
}

export const noteExtension: MarkedExtension = {
  extensions: [
    {
      name: 'note',
      level: 'block',
      start: (src) => untilBlankLine(src).match(/\n {0,3}\[\^/)?.index,
      tokenizer(src) {
        const match = definition.exec(src);
        if (!match) return undefined;
        const { raw, texts } = readNote(src, match[0].length);
        const paragraphs = texts.map((text) => {
          const tokens: Token[] = [];
          this.lexer.inline(text, tokens);
          return tokens;
        });
        return { type: 'note', raw, label: match[1]!, paragraphs };
      },
      renderer(token) {
        const { label, paragraphs } = token as NoteToken;
        const safe = escapeHtml(label);
        const html = paragraphs.map((tokens) => `<p>${this.parser.parseInline(tokens)}</p>`).join('');
        return `<div class="note" data-note="${safe}"><span class="note__mark">${safe}</span><div class="note__text">${html}</div>`
          + `<button type="button" class="note__back" data-act="back" data-note="${safe}" aria-label="${t('markdown.backToNote', { note: safe })}">↩</button></div>`;
      },
    },
    {
      name: 'noteRef',
      level: 'inline',
      start: (src) => src.indexOf('[^'),
      tokenizer(src) {
        const match = reference.exec(src);
        return match ? { type: 'noteRef', raw: match[0], label: match[1]! } : undefined;
      },
      renderer: ({ raw, label }) => {
        if (!definedLabels.has(label as string)) return escapeHtml(raw);
        const safe = escapeHtml(label as string);
        return `<sup class="note-ref"><button type="button" data-act="note" data-note="${safe}" aria-label="${t('markdown.footnote', { note: safe })}">${safe}</button></sup>`;
      },
    },
  ],
};

/**
 * Reads the footnote at the beginning of `src`, whose text begins at `textStart`, as paragraphs. A footnote continues
 * until a line that begins another block; after a blank line, only indented lines continue it.
 */
function readNote(src: string, textStart: number): { raw: string; texts: string[] } {
  const texts = [''];
  let at = 0;
  let blank = false;
  let end = 0;
  while (at < src.length) {
    const to = src.indexOf('\n', at);
    const next = to < 0 ? src.length : to + 1;
    const line = src.slice(at === 0 ? textStart : at, to < 0 ? src.length : to);
    if (line.trim() === '' && at > 0) {
      blank = true;
    } else {
      const indented = /^(?: {2}|\t)/.test(line);
      if (at > 0 && (blank ? !indented : !indented && blockStart.test(line))) break;
      if (blank) texts.push('');
      blank = false;
      const last = texts.length - 1;
      texts[last] = texts[last] === '' ? line.trim() : `${texts[last]}\n${line.trim()}`;
      end = next;
    }
    at = next;
  }
  return { raw: src.slice(0, end), texts };
}
