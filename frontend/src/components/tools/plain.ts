/** Texts of others, made safe to be judged by eye: nothing in them is hidden, and nothing turns them around. */

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

/** A text that is replaced by another. */
export interface Replacement {
  before: string;
  after: string;
}

export interface ArgumentsView {
  /** Null: what the model wrote is no object, and is shown as it is. */
  values: Argument[] | null;
  replacements: Replacement[];
}

const beforeKey = /^(?:old|before|original)(?:_?(?:text|str|string|content))?$/i;
const afterKey = /^(?:new|after|replacement)(?:_?(?:text|str|string|content))?$/i;

/** Arguments as a person reads them: name by name, and what is replaced by what as a pair. */
export function argumentsOf(json: string): ArgumentsView {
  const parsed = parsedObject(json);
  if (!parsed) return { values: null, replacements: [] };
  const replacements: Replacement[] = [];
  const rest = takePair(parsed, replacements);
  if (Array.isArray(rest['edits']) && rest['edits'].length > 0) {
    const edits = rest['edits'].map((edit: unknown) => (isObject(edit) ? pairOf(edit) : null));
    if (edits.every((pair) => pair !== null)) {
      replacements.push(...edits);
      delete rest['edits'];
    }
  }
  return { values: Object.entries(rest).map(([name, value]) => ({ name, value: valueText(value) })), replacements };
}

/** The arguments in a line, for a card that is folded. */
export function argumentLine(json: string): string {
  const parsed = parsedObject(json);
  const values = parsed ? Object.values(parsed).map(valueText) : [json];
  return shown(values.join('  ').slice(0, 400)).replace(/\s+/g, ' ').trim();
}

function takePair(object: Record<string, unknown>, into: Replacement[]): Record<string, unknown> {
  const pair = pairOf(object);
  if (!pair) return { ...object };
  into.push(pair);
  return Object.fromEntries(Object.entries(object).filter(([name]) => !beforeKey.test(name) && !afterKey.test(name)));
}

function pairOf(object: Record<string, unknown>): Replacement | null {
  const of = (key: RegExp) => Object.entries(object).filter(([name, value]) => key.test(name) && typeof value === 'string').map(([, value]) => value as string);
  const [before, after] = [of(beforeKey), of(afterKey)];
  return before.length === 1 && after.length === 1 ? { before: before[0]!, after: after[0]! } : null;
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

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, isObject(value) || Array.isArray(value) ? 2 : 0);
}
