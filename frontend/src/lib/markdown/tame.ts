/**
 * Limits text that is expensive to draw. Engines lay out a character with its marks, and joined emoji, as one unit, in
 * quadratic time: half a million marks on one letter block the page for seconds. Normal text comes nowhere near these
 * limits.
 */
/** Marks on one character: Tibetan and Hebrew need up to six. */
const maxMarks = 8;
/** Emoji joined into one: a family has four, each with a colour. */
const maxJoined = 8;

const marks = new RegExp(`(\\p{M}{${maxMarks}})\\p{M}+`, 'gu');
const joined = /(?:[^\s\u200d]{1,12}\u200d){9,}/gu;
const tameable = /\p{M}{9}|\u200d/u;

/** The text with at most as many marks per character, and joined emoji, as can be drawn at once. */
export function tame(text: string): string {
  if (!tameable.test(text)) return text;
  return text.replace(marks, '$1').replace(joined, (run) => {
    let n = 0;
    return run.replace(/\u200d/g, (joiner) => (++n % (maxJoined + 1) === 0 ? '' : joiner));
  });
}

/** Characters that take long to draw weigh as much as this many others. */
const heavyWeight = 8;

/** The position after this much weight of text: as many characters, or fewer that take longer to draw. */
export function afterWeight(text: string, from: number, weight: number): number {
  let at = from;
  for (let remaining = weight; at < text.length && remaining > 0; at++) remaining -= isHeavy(text.charCodeAt(at)) ? heavyWeight : 1;
  return at;
}

/** Most of the characters of a text take long to draw: a few emoji do not count. */
export function isMostlyHeavy(text: string, weight: number): boolean {
  return afterWeight(text, 0, weight) < Math.min(weight, text.length) / 2;
}

/** The part of a text that is laid out at once: all of it, unless it takes long to draw. */
export function drawable(text: string): string {
  const tamed = tame(text);
  if (!isMostlyHeavy(tamed, maxWeight)) return tamed;
  return `${tamed.slice(0, afterWeight(tamed, 0, maxWeight)).replace(/[\ud800-\udbff]$/, '')}…`;
}

const maxWeight = 40_000;

/** Halves of emoji and rare characters, marks, joiners and selectors. */
function isHeavy(code: number): boolean {
  return (code >= 0xd800 && code <= 0xdfff) || (code >= 0x300 && code <= 0x36f) || code === 0x200d || (code >= 0x20d0 && code <= 0x20ff) || (code >= 0xfe00 && code <= 0xfe0f);
}
