/** Finding a text in a text as people look for it: whatever its case, unless the case is asked for. */
import type { Span } from '$lib/backend/types';

/** Lower case of the same length, so that places in it are places in the text ("İ" would grow). */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : Array.from({ length: text.length }, (_, at) => sameLength(text.charAt(at))).join('');
}

function sameLength(char: string): string {
  const lower = char.toLowerCase();
  return lower.length === 1 ? lower : char;
}

/** Where any of the terms stands, in order, none over another; at most `limit` places. */
export function occurrences(text: string, terms: readonly string[], matchCase: boolean, limit = Infinity): Span[] {
  const wanted = terms.filter((term) => term.trim() !== '').map((term) => (matchCase ? term : folded(term)));
  const body = matchCase ? text : folded(text);
  // The next place of each term, looked for again only once it lies behind.
  const next = wanted.map((term) => body.indexOf(term));
  const found: Span[] = [];
  for (let at = 0; found.length < limit; ) {
    let best = -1;
    for (let i = 0; i < wanted.length; i++) {
      if (next[i]! >= 0 && next[i]! < at) next[i] = body.indexOf(wanted[i]!, at);
      const [here, there] = [next[i]!, best < 0 ? Infinity : next[best]!];
      if (here >= 0 && (here < there || (here === there && wanted[i]!.length > wanted[best]!.length))) best = i;
    }
    if (best < 0) return found;
    found.push({ from: next[best]!, to: next[best]! + wanted[best]!.length });
    at = found.at(-1)!.to;
  }
  return found;
}
