/** How well a text matches what was typed: letters in order, better at the start of words and next to each other. */
import type { Span } from '$lib/backend/types';

export interface Fit {
  score: number;
  marks: Span[];
}

const first = 12;
const wordStart = 9;
const beside = 10;
const anywhere = 1;
const gap = 0.15;
/** Per letter on average; letters that are only scattered over a text are not a match. */
const least = 5;

/** null: no match. An empty query matches everything equally. A space in the query matches any characters. */
export function fuzzy(text: string, query: string): Fit | null {
  const wanted = [...query.toLowerCase()].filter((letter) => letter.trim() !== '');
  if (wanted.length === 0) return { score: 0, marks: [] };
  // Letter by letter, so that positions stay correct even if the case changes a letter's length.
  const letters = Array.from(text, (letter) => letter.toLowerCase());
  let scores = new Array<number>(letters.length).fill(-Infinity);
  const came: Int32Array[] = [];
  wanted.forEach((letter, row) => {
    const next = new Array<number>(letters.length).fill(-Infinity);
    const from = new Int32Array(letters.length).fill(-1);
    let best = row === 0 ? 0 : -Infinity;
    let bestAt = -1;
    for (let i = 0; i < letters.length; i++) {
      if (letters[i] === letter) {
        const own = i === 0 ? first : startsWord(letters, i) ? wordStart : anywhere;
        const side = row > 0 && i > 0 ? scores[i - 1]! + Math.max(beside, own) : -Infinity;
        const far = best + own - (row > 0 ? Math.min(3, (i - bestAt - 1) * gap) : 0);
        next[i] = Math.max(side, far);
        from[i] = side >= far ? i - 1 : bestAt;
      }
      if (row > 0 && scores[i]! > best) [best, bestAt] = [scores[i]!, i];
    }
    came.push(from);
    scores = next;
  });
  let at = scores.indexOf(Math.max(...scores));
  const score = scores[at] ?? -Infinity;
  if (score < least * wanted.length) return null;
  const places: number[] = [];
  for (let row = wanted.length - 1; row >= 0; row--) {
    places.unshift(at);
    at = came[row]![at]!;
  }
  // If two matches are equal, the shorter one is preferred.
  return { score: score - Math.min(2, letters.length / 60), marks: spans(text, places) };
}

function startsWord(letters: readonly string[], at: number): boolean {
  return /[\p{L}\p{N}#]/u.test(letters[at]!) && !/[\p{L}\p{N}]/u.test(letters[at - 1]!);
}

/** Positions of letters as spans in UTF-16 units, with neighbours joined. */
function spans(text: string, places: readonly number[]): Span[] {
  const starts: number[] = [];
  let unit = 0;
  for (const letter of text) {
    starts.push(unit);
    unit += letter.length;
  }
  starts.push(unit);
  const marks: Span[] = [];
  for (const place of places) {
    const last = marks.at(-1);
    if (last && last.to === starts[place]) last.to = starts[place + 1]!;
    else marks.push({ from: starts[place]!, to: starts[place + 1]! });
  }
  return marks;
}
