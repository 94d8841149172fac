/**
 * How well a text matches what was typed: letters in order, best as a run from the start of a word, then as the first
 * letters of several words, then as a run inside a word. Loose letters match only a short stretch of text.
 */
import type { Span } from '$lib/backend/types';

export interface Fit {
  score: number;
  marks: Span[];
}

const first = 12;
const wordStart = 9;
/** Next to the letter before it, in a run from the start of a word or inside one. */
const adjacent = 10;
const adjacentInside = 8;
const anywhere = 1;
/** Subtracted for each interruption, and for each letter that it skips, up to a limit. */
const interruption = 4;
const gap = 0.15;
const maxGap = 3;
/** What an interrupted match needs per letter: in a short stretch of text, and in a longer one. */
const minNear = 3;
const minFar = 5;
/** The length of a short stretch, in letters of the query. */
const near = 3;

/** null: no match. An empty query matches everything equally. A space in the query matches any characters. */
export function fuzzy(text: string, query: string): Fit | null {
  const queryLetters = [...query.toLowerCase()].filter((letter) => letter.trim() !== '');
  if (queryLetters.length === 0) return { score: 0, marks: [] };
  // Letter by letter, so that positions stay correct even if the case changes a letter's length.
  const letters = Array.from(text, (letter) => letter.toLowerCase());
  let scores = new Array<number>(letters.length).fill(-Infinity);
  // Whether the run that ends at a letter began at the start of a word.
  let fromWordStart = new Uint8Array(letters.length);
  const previous: Int32Array[] = [];
  queryLetters.forEach((letter, row) => {
    const next = new Array<number>(letters.length).fill(-Infinity);
    const nextFromWordStart = new Uint8Array(letters.length);
    const from = new Int32Array(letters.length).fill(-1);
    let best = row === 0 ? 0 : -Infinity;
    let bestAt = -1;
    for (let i = 0; i < letters.length; i++) {
      if (letters[i] === letter) {
        const starts = i === 0 || startsWord(letters, i);
        const own = i === 0 ? first : starts ? wordStart : anywhere;
        const side = row > 0 && i > 0 ? scores[i - 1]! + (fromWordStart[i - 1] || starts ? adjacent : adjacentInside) : -Infinity;
        const far = best + own - (row > 0 ? interruption + Math.min(maxGap, (i - bestAt - 1) * gap) : 0);
        next[i] = Math.max(side, far);
        nextFromWordStart[i] = Number(starts || (side >= far && fromWordStart[i - 1] === 1));
        from[i] = side >= far ? i - 1 : bestAt;
      }
      if (row > 0 && scores[i]! > best) [best, bestAt] = [scores[i]!, i];
    }
    previous.push(from);
    scores = next;
    fromWordStart = nextFromWordStart;
  });
  let at = scores.indexOf(Math.max(...scores));
  const score = scores[at] ?? -Infinity;
  if (score === -Infinity) return null;
  const places: number[] = [];
  for (let row = queryLetters.length - 1; row >= 0; row--) {
    places.unshift(at);
    at = previous[row]![at]!;
  }
  if (!isGood(score, places, letters)) return null;
  // If two matches are equal, the shorter one is preferred.
  return { score: score - Math.min(2, letters.length / 60), marks: spans(text, places) };
}

function isGood(score: number, places: readonly number[], letters: readonly string[]): boolean {
  const long = places.at(-1)! - places[0]! + 1;
  if (long === places.length) return long > 1 || places[0] === 0 || startsWord(letters, places[0]!);
  return score >= (long <= near * places.length ? minNear : minFar) * places.length;
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
