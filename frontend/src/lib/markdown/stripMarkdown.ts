/**
 * Markdown without the characters that only mark: emphasis, headings, quotes, fences, and link targets. Code keeps all
 * its characters, and so does text that is not Markdown: 2*3, snake_case, C#.
 */
const fence = /^[ \t]*(?:```|~~~)[^\n]*\n([\s\S]*?)(?:^[ \t]*(?:```|~~~)[^\n]*\n?|$(?![\s\S]))/gm;
const code = /(`+)([^`\n]+)\1(?!`)/g;
const link = /!?\[([^[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)/g;
const lineMark = /^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|(?:\|(?:[ \t]*:?-+:?[ \t]*\|)+|-{3,})[ \t]*$)/gm;
/** The outer bars of a table row; those between its cells stay as separators. */
const bars = /^[ \t]*\|[ \t]*([^\n]*?)[ \t]*\|[ \t]*$/gm;
const strong = /\*\*(?=\S)([^*\n]*[^*\s])\*\*|~~(?=\S)([^~\n]*[^~\s])~~/g;
const emphasis = /(?<![\p{L}\p{N}_*])\*(?=\S)([^*\n]*[^*\s])\*(?![\p{L}\p{N}_*])/gu;

export function stripMarkdown(text: string): string {
  let out = '';
  let at = 0;
  for (const found of text.matchAll(fence)) {
    out += line(text.slice(at, found.index)) + found[1]!;
    at = found.index + found[0].length;
  }
  return out + line(text.slice(at));
}

/** For text without a fence. */
function line(text: string): string {
  let out = '';
  let at = 0;
  for (const found of text.matchAll(code)) {
    out += words(text.slice(at, found.index)) + found[2]!;
    at = found.index + found[0].length;
  }
  return out + words(text.slice(at));
}

const words = (text: string): string => text.replace(link, '$1').replace(lineMark, '').replace(bars, '$1').replace(strong, '$1$2').replace(emphasis, '$1');
