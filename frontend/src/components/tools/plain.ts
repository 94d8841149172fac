/** Text from others, made safe to judge by eye: hidden characters are shown, and nothing reverses the direction. */
import { t } from '$lib/i18n/i18n.svelte';

// Control characters except tab and line feed; zero widths, directional overrides and isolates, tags, fillers, and
// variation selectors except those of emoji.
// eslint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\uffff]|[\u{e0000}-\u{e0fff}]/gu;

/** The text with every invisible character written out: "⟨U+202E⟩". All line endings become the same. */
export function showInvisible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(hidden, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

export interface Argument {
  name: string;
  value: string;
}

/** A text that is replaced by another, and the argument names of both. */
export interface Replacement {
  old: string;
  now: string;
  before: string;
  after: string;
}

export interface ArgumentsView {
  /** Null if what the model wrote is not an object; it is then shown unchanged. */
  values: Argument[] | null;
  replacements: Replacement[];
  /** Why the arguments are shown unchanged; empty if there is no reason to give. */
  note: string;
}

const beforeKey = /^(?:old|before|original)(?:_?(?:text|str|string|content))?$/i;
const afterKey = /^(?:new|after|replacement)(?:_?(?:text|str|string|content))?$/i;

/**
 * Arguments in a readable form: name by name, with a replaced text and its replacement as a pair. Only the two members
 * of the pair leave the list: everything else stays in it, because the user permits that too.
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

/** The arguments in one line, for a folded card. */
export function argumentLine(json: string): string {
  const parsed = parsedObject(json);
  const values = parsed && inexact(json) === '' ? Object.values(parsed).map(valueText) : [json];
  return showInvisible(values.join('  ').slice(0, 400)).replace(/\s+/g, ' ').trim();
}

/** The one pair of texts in an object. Two texts that look the same are not a pair: their diff would show nothing. */
function pairOf(object: Record<string, unknown>): Replacement | null {
  const matching = (key: RegExp) => Object.entries(object).filter((member): member is [string, string] => key.test(member[0]) && typeof member[1] === 'string');
  const [before, after] = [matching(beforeKey), matching(afterKey)];
  if (before.length !== 1 || after.length !== 1) return null;
  const [[[old, beforeText]], [[now, afterText]]] = [before, after] as [[[string, string]], [[string, string]]];
  return showInvisible(beforeText) === showInvisible(afterText) ? null : { old, now, before: beforeText, after: afterText };
}

/** A list of pairs, if every entry is a pair and has no other member. */
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

/** Why valid JSON could mean something different from the values shown here, in a sentence; empty if it cannot. */
function inexact(json: string): string {
  const open: (Set<string> | null)[] = []; // the names so far of each enclosing object; null for a list
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

/** The position just after the string that begins at `start`. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** A number in one notation: 1.50 and 15e-1 are the same. Anything that is not a number is kept unchanged. */
function decimal(text: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!parts) return text;
  const [, sign, whole = '', part = '', exponent = '0'] = parts;
  const digits = (whole + part).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  return short === '' ? `${sign}0` : `${sign}${short}e${Number(exponent) - part.length + digits.length - short.length}`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, isObject(value) || Array.isArray(value) ? 2 : 0);
}
