/** Texts of others, made safe to be judged by eye: nothing in them is hidden, and nothing turns them around. */
import { t } from '$lib/words/words.svelte';

// Controls but tab and line feed; zero widths, directional overrides and isolates, tags, fillers, variation selectors beyond the ones of emoji.
// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\uffff]|[\u{e0000}-\u{e0fff}]/gu;

/** The text with every character that one would not see written out: "⟨U+202E⟩". Line ends are one kind. */
export function shown(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(hidden, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

export interface Argument {
  name: string;
  value: string;
}

/** A text that is replaced by another, and the names under which the two were given. */
export interface Replacement {
  old: string;
  now: string;
  before: string;
  after: string;
}

export interface ArgumentsView {
  /** Null: what the model wrote is not an object, and is shown as it is. */
  values: Argument[] | null;
  replacements: Replacement[];
  /** Why they are shown as they are; empty where there is nothing to say. */
  note: string;
}

const beforeKey = /^(?:old|before|original)(?:_?(?:text|str|string|content))?$/i;
const afterKey = /^(?:new|after|replacement)(?:_?(?:text|str|string|content))?$/i;

/**
 * Arguments as a person reads them: name by name, and what is replaced by what as a pair. Only the two members that make up
 * a pair leave the list: whatever else there is stays in it, since it is what the person allows.
 */
export function argumentsOf(json: string): ArgumentsView {
  const parsed = parsedObject(json);
  const note = parsed ? inexact(json) : '';
  if (!parsed || note !== '') return { values: null, replacements: [], note };
  const rest = new Map(Object.entries(parsed));
  const own = pairOf(parsed);
  const replacements = own ? [own] : [];
  if (own) for (const name of [own.old, own.now]) rest.delete(name);
  const edits = pairsOf(rest.get('edits'));
  if (edits) {
    replacements.push(...edits);
    rest.delete('edits');
  }
  return { values: [...rest].map(([name, value]) => ({ name, value: valueText(value) })), replacements, note };
}

/** The arguments in a line, for a card that is folded. */
export function argumentLine(json: string): string {
  const parsed = parsedObject(json);
  const values = parsed && inexact(json) === '' ? Object.values(parsed).map(valueText) : [json];
  return shown(values.join('  ').slice(0, 400)).replace(/\s+/g, ' ').trim();
}

/** The one pair of texts in an object. Two that look the same are none: a diff of them would show nothing. */
function pairOf(object: Record<string, unknown>): Replacement | null {
  const of = (key: RegExp) => Object.entries(object).filter((member): member is [string, string] => key.test(member[0]) && typeof member[1] === 'string');
  const [before, after] = [of(beforeKey), of(afterKey)];
  if (before.length !== 1 || after.length !== 1) return null;
  const [[[old, was]], [[now, is]]] = [before, after] as [[[string, string]], [[string, string]]];
  return shown(was) === shown(is) ? null : { old, now, before: was, after: is };
}

/** A list of pairs, if each of its entries is one and has no other member. */
function pairsOf(edits: unknown): Replacement[] | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  const pairs = edits.map((edit: unknown) => (isObject(edit) && Object.keys(edit).length === 2 ? pairOf(edit) : null));
  return pairs.every((pair) => pair !== null) ? pairs.map((pair, i) => ({ ...pair, old: `edits[${i}].${pair.old}`, now: `edits[${i}].${pair.now}` })) : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsedObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Why JSON that can be read says something else than its values here, in a sentence; empty if it does not. */
function inexact(json: string): string {
  const open: (Set<string> | null)[] = []; // the names so far of each object around; null: a list
  const colon = /\s*:/y;
  const token = /["{}[\]]|-?\d[\d.eE+-]*/g;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    const [text] = found;
    if (text === '{') open.push(new Set());
    else if (text === '[') open.push(null);
    else if (text === '}' || text === ']') open.pop();
    else if (text !== '"') {
      if (decimal(text) !== decimal(String(Number(text)))) return t('tools.inexactNumber');
    } else {
      const end = stringEnd(json, found.index);
      token.lastIndex = end;
      const names = open.at(-1);
      colon.lastIndex = end;
      if (!names || !colon.test(json)) continue;
      const name = JSON.parse(json.slice(found.index, end)) as string;
      if (names.has(name)) return t('tools.twiceNamed');
      names.add(name);
    }
  }
  return '';
}

/** Just behind the string that begins at `start`. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** A number in one way of writing: 1.50 and 15e-1 are the same. What is none stays as it is. */
function decimal(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) return text;
  const [, sign, whole = '', part = '', power = '0'] = parts;
  const digits = (whole + part).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? `${sign}0` : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, isObject(value) || Array.isArray(value) ? 2 : 0);
}
