/**
 * Formulas in Markdown: $…$, $$…$$, \(…\) and \[…\], as tokens of marked. They are drawn later, when visible
 * (enhance.ts).
 */
import type { MarkedExtension, Tokens } from 'marked';
import { escapeHtml } from './escape';

interface MathToken extends Tokens.Generic {
  tex: string;
  display: boolean;
}

// A dollar sign opens a formula only if no space follows it and the closing one is not part of a price ("$5 and $6").
const inlineDollar = /^\$(?![\s$])((?:\\[^]|[^\\$\n])+?)(?<![\s\\])\$(?![\d\p{L}])/u;
const inlineParen = /^\\\(((?:\\[^)]|[^\\])+?)\\\)/;
const inlineDisplay = /^(?:\$\$((?:\\[^]|[^\\$])+?)\$\$|\\\[((?:\\[^\]]|[^\\])+?)\\\])/;
const blockDisplay = /^(?:\$\$\s*\n?((?:\\[^]|[^\\$])+?)\n?\s*\$\$|\\\[\s*\n?((?:\\[^\]]|[^\\])+?)\n?\s*\\\])[ \t]*(?:\n+|$)/;

/** The parser calls this for every block, so only the text up to the end of the block is searched. */
function near(src: string): string {
  const end = src.indexOf('\n\n');
  return end < 0 ? src : src.slice(0, end);
}

export const mathExtension: MarkedExtension = {
  extensions: [
    {
      name: 'mathBlock',
      level: 'block',
      start: (src) => near(src).match(/(?:^|\n)(?:\$\$|\\\[)/)?.index,
      tokenizer: (src) => token('mathBlock', blockDisplay.exec(src), true),
      renderer: (found) => `<div class="math math--display" dir="ltr" data-tex="${escapeHtml((found as MathToken).tex)}">${escapeHtml((found as MathToken).tex)}</div>`,
    },
    {
      name: 'mathInline',
      level: 'inline',
      start: (src) => src.match(/\$|\\\(|\\\[/)?.index,
      tokenizer: (src) => token('mathInline', inlineDisplay.exec(src), true) ?? token('mathInline', inlineParen.exec(src) ?? inlineDollar.exec(src), false),
      renderer: (found) => {
        const { tex, display } = found as MathToken;
        return `<span class="math${display ? ' math--display' : ''}" dir="ltr" data-tex="${escapeHtml(tex)}">${escapeHtml(tex)}</span>`;
      },
    },
  ],
};

function token(type: string, found: RegExpExecArray | null, display: boolean): MathToken | undefined {
  const tex = (found?.[1] ?? found?.[2])?.trim();
  return found && tex ? { type, raw: found[0], tex, display } : undefined;
}
