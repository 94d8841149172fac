/** Compares two texts exactly, line by line: in a definition or a file, even a changed space is shown. */
import { sideBySide, type Line, type Piece, type Row } from '../inspector/state/diff';
import { t } from '$lib/i18n/i18n.svelte';

const line = (_: string, change: Line['change'], pieces: Piece[]): Line => ({ change, heading: false, pieces });
const plainLine = (text: string, change: Line['change']): Line => line(text, change, [{ text, changed: false }]);

/** Unchanged lines kept around each change; the rest of a long run is left out. */
const contextLines = 3;

export const lineDiff = (before: string, after: string): Row[] => shortened(sideBySide(split(before), split(after), line));

/** Parses a line diff from the program: each line begins with "+", "-" or a space. */
export function previewRows(text: string): Row[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line): Row => {
    const text = line.slice(1);
    if (line.startsWith('+')) return { old: null, new: plainLine(text, 'add') };
    if (line.startsWith('-')) return { old: plainLine(text, 'del'), new: null };
    return { old: plainLine(line.startsWith(' ') ? text : line, 'same'), new: null };
  });
}

/** An empty text has no lines, rather than one empty line. */
const split = (text: string): string[] => (text === '' ? [] : text.split('\n'));

/** A long run of unchanged lines is summarized in one line. */
function shortened(rows: Row[]): Row[] {
  const changed = rows.map((row) => row.old?.change !== 'same');
  const near = rows.map((_, at) => changed.slice(Math.max(0, at - contextLines), at + contextLines + 1).includes(true));
  const out: Row[] = [];
  for (let at = 0; at < rows.length; ) {
    if (near[at]) {
      out.push(rows[at++]!);
      continue;
    }
    let end = at;
    while (end < rows.length && !near[end]) end++;
    if (end - at <= 2) out.push(...rows.slice(at, end));
    else {
      const omitted = plainLine(t('tools.linesAsBefore', { count: end - at }), 'same');
      out.push({ old: omitted, new: omitted });
    }
    at = end;
  }
  return out;
}
