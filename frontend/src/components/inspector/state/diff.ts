/**
 * Compares two texts by lines, and changed lines by words. A longest common subsequence with limits: inputs too large
 * for a fine comparison are compared coarsely instead of slowly.
 */

export interface Piece {
  text: string;
  changed: boolean;
}

export type Change = 'same' | 'add' | 'del';

/** A line of the one-column view. */
export interface Line {
  change: Change;
  heading: boolean;
  pieces: Piece[];
}

/** A row of the two-column view; null for an empty side. */
export interface Row {
  old: Line | null;
  new: Line | null;
}

/** Cells of the table: a million takes some tens of milliseconds. */
const maxCells = 1_000_000;

/** Index pairs of a longest common subsequence, in order; null if the table would be too large. */
export function common<T>(a: readonly T[], b: readonly T[], limit = maxCells): [number, number][] | null {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [rows, columns] = [a.length - start - end, b.length - start - end];
  if ((rows + 1) * (columns + 1) > limit) return null;
  const lengths = lengthTable(a, b, start, rows, columns);
  const pairs: [number, number][] = Array.from({ length: start }, (_, i) => [i, i]);
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (a[start + i] === b[start + j]) pairs.push([start + i++, start + j++]);
    else if (lengths[(i + 1) * (columns + 1) + j]! >= lengths[i * (columns + 1) + j + 1]!) i++;
    else j++;
  }
  for (let i = end; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** For each pair of positions, the length of the common subsequence of the rest. */
function lengthTable<T>(a: readonly T[], b: readonly T[], start: number, rows: number, columns: number): Uint32Array {
  const lengths = new Uint32Array((rows + 1) * (columns + 1));
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const at = i * (columns + 1) + j;
      lengths[at] = a[start + i] === b[start + j] ? lengths[at + columns + 2]! + 1 : Math.max(lengths[at + columns + 1]!, lengths[at + 1]!);
    }
  }
  return lengths;
}

const headingMark = /^#{1,6} +/;

/** The non-empty lines, without list marks; a heading keeps its mark, so that it never equals a line. */
function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/).map((line) => line.trimEnd().replace(/^\s*[-*] +/, '')).filter((line) => line !== '');
}

function toLine(text: string, change: Change, pieces: Piece[]): Line {
  const mark = headingMark.exec(text)?.[0].length ?? 0;
  return { change, heading: mark > 0, pieces: withoutFront(pieces, mark) };
}

function withoutFront(pieces: Piece[], length: number): Piece[] {
  let remaining = length;
  return pieces.flatMap((piece) => {
    const cut = Math.min(remaining, piece.text.length);
    remaining -= cut;
    return cut === piece.text.length ? [] : [{ ...piece, text: piece.text.slice(cut) }];
  });
}

/** Makes a line from its text and its pieces. */
type Draw = (text: string, change: Change, pieces: Piece[]) => Line;

const plainLine = (text: string, change: Change, draw: Draw): Line => draw(text, change, [{ text, changed: false }]);

/** Two summaries side by side. */
export const compare = (old: string, now: string): Row[] => sideBySide(linesOf(old), linesOf(now), toLine);

/** The lines of two texts side by side: equal lines face each other, a removed line faces its replacement. */
export function sideBySide(a: string[], b: string[], draw: Draw): Row[] {
  const rows: Row[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...(common(a, b) ?? []), [a.length, b.length] as const]) {
    rows.push(...paired(a.slice(i, x), b.slice(j, y), draw));
    if (x < a.length && y < b.length) rows.push({ old: plainLine(a[x]!, 'same', draw), new: plainLine(b[y]!, 'same', draw) });
    [i, j] = [x + 1, y + 1];
  }
  return rows;
}

/** The rows in one column: in each run of changes, the removed lines come first. */
export function unified(rows: readonly Row[]): Line[] {
  const lines: Line[] = [];
  let added: Line[] = [];
  for (const row of rows) {
    if (row.old?.change === 'same') {
      lines.push(...added, row.old);
      added = [];
      continue;
    }
    if (row.old) lines.push(row.old);
    if (row.new) added.push(row.new);
  }
  return [...lines, ...added];
}

function paired(removed: string[], added: string[], draw: Draw): Row[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, i) => {
    const [a, b] = [removed[i], added[i]];
    if (a === undefined) return { old: null, new: plainLine(b!, 'add', draw) };
    if (b === undefined) return { old: plainLine(a, 'del', draw), new: null };
    const [old, now] = byWords(a, b);
    return { old: draw(a, 'del', old), new: draw(b, 'add', now) };
  });
}

/** Lines with less than this share in common are shown without marked words. */
const minShared = 0.3;

/** Which words of two lines differ. The joined pieces equal the lines. */
export function byWords(a: string, b: string): [Piece[], Piece[]] {
  const [wordsA, wordsB] = [words(a), words(b)];
  const pairs = common(wordsA, wordsB, 250_000);
  const kept = pairs?.reduce((sum, [i]) => sum + wordsA[i]!.trim().length, 0) ?? 0;
  if (!pairs || kept < minShared * Math.max(a.trim().length, b.trim().length)) return [[{ text: a, changed: false }], [{ text: b, changed: false }]];
  return [marked(wordsA, new Set(pairs.map(([i]) => i))), marked(wordsB, new Set(pairs.map(([, j]) => j)))];
}

const words = (line: string): string[] => line.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

function marked(all: string[], same: ReadonlySet<number>): Piece[] {
  const pieces: Piece[] = [];
  all.forEach((text, i) => {
    const changed = !same.has(i);
    const last = pieces.at(-1);
    if (last && last.changed === changed) last.text += text;
    else pieces.push({ text, changed });
  });
  return pieces;
}
