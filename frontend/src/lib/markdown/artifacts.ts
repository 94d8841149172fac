/** Code blocks of answers as things that have versions: a page, a diagram, a file. */

export interface Artifact {
  turnId: string;
  seq: number;
  /** The language, and the name of the file if one is given beside it. */
  info: string;
  text: string;
}

const fence = /^( {0,3})(`{3,}|~{3,})[^\S\n]*([^`\n]*)$/;

/** The fenced code blocks of a text, complete ones only. */
export function codeBlocks(text: string): { info: string; text: string }[] {
  const found: { info: string; text: string }[] = [];
  let open: { mark: string; indent: number; info: string; lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const [, indent = '', mark = '', info = ''] = fence.exec(line.trimEnd()) ?? [];
    if (!open) {
      if (mark) open = { mark, indent: indent.length, info: info.trim(), lines: [] };
    } else if (mark.startsWith(open.mark) && info === '') {
      found.push({ info: open.info, text: open.lines.join('\n') });
      open = null;
    } else open.lines.push(line.slice(Math.min(open.indent, /^ */.exec(line)![0].length)));
  }
  return found;
}

/** A later version has at least this share of the lines of the smaller of the two. */
const sharedLines = 0.4;

/** Whether two are versions of one thing: files of one name, or code in one language with many lines in common. */
export function isVersion(a: Pick<Artifact, 'info' | 'text'>, b: Pick<Artifact, 'info' | 'text'>): boolean {
  const [[langA, ...fileA], [langB, ...fileB]] = [a.info.split(/\s+/), b.info.split(/\s+/)];
  if (fileA.length > 0 && fileB.length > 0) return fileA.join(' ') === fileB.join(' ');
  if (langA !== langB) return false;
  const [first, second] = [linesOf(a.text), linesOf(b.text)];
  const shared = [...first].filter((line) => second.has(line)).length;
  return shared > 0 && shared >= sharedLines * Math.min(first.size, second.size);
}

const linesOf = (text: string): Set<string> => new Set(text.split('\n').map((line) => line.trim()).filter((line) => /[\p{L}\p{N}]/u.test(line)));

/** The versions of one of them, oldest first: each is compared with the one beside it, and repetitions are left out. */
export function versionsOf(all: readonly Artifact[], chosen: Artifact): Artifact[] {
  const at = all.findIndex(({ turnId, text }) => turnId === chosen.turnId && text === chosen.text);
  if (at < 0) return [chosen];
  const versions = [all[at]!];
  for (const other of all.slice(0, at).reverse()) if (other.text !== versions[0]!.text && isVersion(other, versions[0]!)) versions.unshift(other);
  for (const other of all.slice(at + 1)) if (other.text !== versions.at(-1)!.text && isVersion(versions.at(-1)!, other)) versions.push(other);
  return versions;
}
