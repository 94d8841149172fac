/** Finds a text in a text: ignores case, unless a case-sensitive search is requested. */
import type { Span } from '$lib/backend/types';

/** Lower case with the same length, so that positions in it are positions in the text ("İ" would grow). */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : Array.from({ length: text.length }, (_, at) => sameLength(text.charAt(at))).join('');
}

function sameLength(char: string): string {
  const lower = char.toLowerCase();
  return lower.length === 1 ? lower : char;
}

/** The positions of any of the terms, in order and without overlaps; at most `limit` positions. */
export function occurrences(text: string, terms: readonly string[], matchCase: boolean, limit = Infinity): Span[] {
  const needles = terms.filter((term) => term.trim() !== '').map((term) => (matchCase ? term : folded(term)));
  const body = matchCase ? text : folded(text);
  // The next position of each term, searched again only after it was passed.
  const next = needles.map((term) => body.indexOf(term));
  const found: Span[] = [];
  for (let at = 0; found.length < limit; ) {
    let best = -1;
    for (let i = 0; i < needles.length; i++) {
      if (next[i]! >= 0 && next[i]! < at) next[i] = body.indexOf(needles[i]!, at);
      const [here, there] = [next[i]!, best < 0 ? Infinity : next[best]!];
      if (here >= 0 && (here < there || (here === there && needles[i]!.length > needles[best]!.length))) best = i;
    }
    if (best < 0) return found;
    found.push({ from: next[best]!, to: next[best]! + needles[best]!.length });
    at = found.at(-1)!.to;
  }
  return found;
}
