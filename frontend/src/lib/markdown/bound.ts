/**
 * Limits for the input of the Markdown parser. Text that would take it too long, or overflow its stack, is detected by
 * its lines and shown as plain text: very long lines, very long paragraphs, deeply nested lists and quotes, tables of
 * thousands of cells.
 */
import { afterWeight } from './tame';

export interface Piece {
  text: string;
  plain: boolean;
}

/** Characters that are drawn at once. */
export const partChars = 32_000;
export const partLines = 600;
/**
 * Brackets, asterisks and similar characters at once. Each can open something that is searched for up to the end of its
 * block.
 */
export const partMarks = 2_500;
/** A longer line or paragraph is not searched for emphasis. */
const maxLength = 6_000;
/** Brackets, asterisks and similar characters in one paragraph. */
const maxMarks = 1_200;
const maxDepth = 12;
const maxCells = 2_000;

const fence = /^ {0,3}(`{3,}|~{3,})/;
const item = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const tableRow = /^\s*\|.*\|\s*$/;
const markers = /[[\]*_`$<>!\\~&|]/g;

/**
 * The first parts of a text, drawn one after another, cut at the ends of blocks. A fence that is cut in two is closed
 * and opened again.
 */
export function parts(text: string, limit = Infinity, size = partChars): { texts: string[]; left: number } {
  if (text.length <= size && partEnd(text, 0, size) >= text.length) return { texts: [text], left: 0 };
  const found: string[] = [];
  let opened = '';
  let at = 0;
  while (at < text.length && found.length < limit) {
    const to = partEnd(text, at, size);
    const end = to >= text.length ? text.length : cutAt(text, at, to);
    const raw = text.slice(at, end);
    const open = openFence(opened + raw);
    found.push(opened + raw + (open && end < text.length ? `\n${open.mark}` : ''));
    opened = open ? `${open.line}\n` : '';
    at = end;
  }
  return { texts: found, left: text.length - at };
}

const partEnd = (text: string, from: number, size: number): number =>
  Math.min(afterWeight(text, from, size), afterLines(text, from, partLines), afterMarks(text, from, partMarks));

/** The position after this many marks. Within fences they are text, and do not count. */
function afterMarks(text: string, from: number, limit: number): number {
  let fenced = '';
  for (let [at, left] = [from, limit]; at < text.length && at < from + partChars; ) {
    const end = text.indexOf('\n', at);
    const to = end < 0 ? text.length : end + 1;
    const line = text.slice(at, Math.min(to, at + partChars));
    const mark = fence.exec(line)?.[1];
    if (mark) fenced = fenced === '' ? mark : mark.startsWith(fenced) && line.trim() === mark ? '' : fenced;
    else if (fenced === '' && (left -= line.match(markers)?.length ?? 0) < 0) return at > from ? at : to;
    at = to;
  }
  return text.length;
}

/** The position after this many lines. */
export function afterLines(text: string, from: number, lines: number): number {
  let at = from;
  for (let n = 0; n < lines && at < text.length; n++) {
    const end = text.indexOf('\n', at);
    at = end < 0 ? text.length : end + 1;
  }
  return at;
}

function cutAt(text: string, from: number, to: number): number {
  const middle = from + Math.floor((to - from) / 2);
  const half = text.slice(middle, to);
  for (const border of ['\n\n', '\n', ' ']) {
    const at = half.lastIndexOf(border);
    if (at >= 0) return middle + at + border.length;
  }
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code <= 0xdbff ? to - 1 : to; // never between the halves of a character
}

/** The fence that is open at the end of a text. */
function openFence(text: string): { mark: string; line: string } | null {
  let open: { mark: string; line: string } | null = null;
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (!mark) continue;
    if (!open) open = { mark, line: line.slice(0, 200) };
    else if (mark.startsWith(open.mark) && line.trim() === mark) open = null;
  }
  return open;
}

/** The text in pieces that the parser may read, and pieces that it may not. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  const add = (line: string, plain: boolean) => {
    const last = found.at(-1);
    if (last && last.plain === plain) last.text += `\n${line}`;
    else found.push({ text: line, plain });
  };
  let open = '';
  let cells = 0;
  for (const paragraph of paragraphs(text)) {
    const heavy = open === '' && tooMuch(paragraph);
    for (const line of paragraph) {
      const mark = fence.exec(line)?.[1];
      const within = open !== '';
      if (mark && !heavy) open = !within ? mark : mark.startsWith(open) && line.trim() === mark ? '' : open;
      if (within || mark) {
        add(line, heavy);
        continue;
      }
      if (tableRow.test(line)) cells += count(line, '|') - 1;
      add(line, heavy || line.length > maxLength || depth(line) > maxDepth || cells > maxCells);
    }
  }
  return found;
}

/** Characters of plain text in one block. The layout time of engines grows faster than the length of a line. */
const plainChars = 1_000;

/**
 * Plain text in runs that are each drawn as a block: cut at a line break or a space if there is one, and never within a
 * character.
 */
export function plainRuns(text: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (text.length - at > plainChars) {
    let end = cutAt(text, at, at + plainChars);
    if (end === at + plainChars) while (end > at + plainChars / 2 && within.test(text.slice(end - 1, end + 2))) end--;
    found.push(text.slice(at, end));
    at = end;
  }
  return [...found, text.slice(at)];
}

/** A position between a character and what belongs to it: its marks, a joiner, the half of a pair. */
const within = /^(?:[\s\S][\p{M}\p{Emoji_Modifier}\u200d\ufe00-\ufe0f\udc00-\udfff]|\u200d)/u;

/** Lines, grouped by the blank lines after each group. */
function paragraphs(text: string): string[][] {
  const groups: string[][] = [[]];
  for (const line of text.split('\n')) {
    groups.at(-1)!.push(line);
    if (line.trim() === '') groups.push([]);
  }
  return groups;
}

/** Lines that belong together, but are too many to parse at once. Each item and row is parsed separately. */
function tooMuch(lines: readonly string[]): boolean {
  let [chars, marks] = [0, 0];
  for (const line of lines) {
    if (item.test(line) || tableRow.test(line)) [chars, marks] = [0, 0];
    if (fence.test(line)) return false;
    chars += line.length;
    if (chars > maxLength) return true;
    marks += line.match(markers)?.length ?? 0;
    if (marks > maxMarks) return true;
  }
  return false;
}

/** How deep in quotes and lists a line begins. */
function depth(line: string): number {
  const start = /^(?:\s*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))+/.exec(line.slice(0, 400))?.[0];
  if (!start) return 0;
  return Math.max((start.match(/>|[-*+]|\d+[.)]/g) ?? []).length, /^\s*/.exec(line)![0].length / 2);
}

const count = (text: string, char: string) => text.split(char).length - 1;
