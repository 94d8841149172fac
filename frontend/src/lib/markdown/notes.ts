/** Footnotes in Markdown: [^label] in the text, "[^label]: text" below it. */
import { t } from '$lib/words/words.svelte';
import type { MarkedExtension, Token, Tokens } from 'marked';
import { escapeHtml } from './escape';

export interface NoteToken extends Tokens.Generic {
  label: string;
  paragraphs: Token[][];
}

const label = '[^\\]\\[\\s\\\\^]{1,40}';
const opening = new RegExp(`^ {0,3}\\[\\^(${label})\\]:[ \\t]*`);
const reference = new RegExp(`^\\[\\^(${label})\\](?![(\\[:])`);
/** A line that begins something else, and so does not continue a footnote. */
const blockStart = /^ {0,3}(?:\[\^|#{1,6}\s|`{3}|~{3}|>|[-*+]\s|\d{1,9}[.)]\s|\||<|\$\$|\\\[)/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
/** Per text. Further references stay plain text. */
const maxLabels = 500;

/** The labels with a known text: while a block is drawn, only these are drawn as references. */
let known: ReadonlySet<string> = new Set();

export function drawWith<T>(labels: ReadonlySet<string>, work: () => T): T {
  known = labels;
  try {
    return work();
  } finally {
    known = new Set();
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
  let open = '';
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (mark) open = open === '' ? mark : mark.startsWith(open) && line.trim() === mark ? '' : open;
    const found = open === '' && labels.size < maxLabels ? opening.exec(line)?.[1] : undefined;
    if (found) labels.add(found);
  }
  return labels;
}

/** The parser calls this for every block, so only the text up to the end of the block is searched. */
function near(src: string): string {
  const end = src.indexOf('\n\n');
  return end < 0 ? src : src.slice(0, end);
}

export const noteExtension: MarkedExtension = {
  extensions: [
    {
      name: 'note',
      level: 'block',
      start: (src) => near(src).match(/\n {0,3}\[\^/)?.index,
      tokenizer(src) {
        const found = opening.exec(src);
        if (!found) return undefined;
        const { raw, texts } = read(src, found[0].length);
        const paragraphs = texts.map((text) => {
          const tokens: Token[] = [];
          this.lexer.inline(text, tokens);
          return tokens;
        });
        return { type: 'note', raw, label: found[1]!, paragraphs };
      },
      renderer(token) {
        const { label, paragraphs } = token as NoteToken;
        const safe = escapeHtml(label);
        const words = paragraphs.map((tokens) => `<p>${this.parser.parseInline(tokens)}</p>`).join('');
        return `<div class="note" data-note="${safe}"><span class="note__mark">${safe}</span><div class="note__text">${words}</div>`
          + `<button type="button" class="note__back" data-act="back" data-note="${safe}" aria-label="${t('markdown.backToNote', { note: safe })}">↩</button></div>`;
      },
    },
    {
      name: 'noteRef',
      level: 'inline',
      start: (src) => src.indexOf('[^'),
      tokenizer(src) {
        const found = reference.exec(src);
        return found ? { type: 'noteRef', raw: found[0], label: found[1]! } : undefined;
      },
      renderer: ({ raw, label }) => {
        if (!known.has(label as string)) return escapeHtml(raw);
        const safe = escapeHtml(label as string);
        return `<sup class="note-ref"><button type="button" data-act="note" data-note="${safe}" aria-label="${t('markdown.footnote', { note: safe })}">${safe}</button></sup>`;
      },
    },
  ],
};

/** A footnote continues over lines that begin nothing else; after a blank line, over indented lines. */
function read(src: string, begin: number): { raw: string; texts: string[] } {
  const texts = [''];
  let at = 0;
  let blank = false;
  let end = 0;
  while (at < src.length) {
    const to = src.indexOf('\n', at);
    const next = to < 0 ? src.length : to + 1;
    const line = src.slice(at === 0 ? begin : at, to < 0 ? src.length : to);
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
