/** Key presses as lists write them, "Ctrl+Shift+F", and which of them can be given to a command. Pure; which keys are set is in state/keymap. */
import { entries, type CommandId, type Entry, type SessionPlace } from './commands/list';
import { keysIn, onMac } from './keys';
import { t } from './words/words.svelte';

/** Modifiers in this order, then the key. A letter is upper case; another character is what it writes, without the Shift that it takes. */
export type Chord = string;

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> & Partial<Pick<KeyboardEvent, 'getModifierState'>>;

const names: Record<string, string> = { ' ': 'Space', Escape: 'Esc' };
/** Keys with no letter that do not represent themselves: modifiers, and what an input method or a dead key begins. */
const noKey = /^(?:|Control|Shift|Alt|Meta|AltGraph|CapsLock|NumLock|ScrollLock|Fn|FnLock|Hyper|Super|Symbol|SymbolLock|OS|Dead|Process|Compose|Unidentified)$/;

/** What was pressed; null for a modifier alone, and for what is not a key yet. */
export function chordOf(event: KeyPress): Chord | null {
  if (noKey.test(event.key)) return null;
  const character = [...event.key].length === 1 && event.key !== ' ';
  const key = character ? letterOf(event) : (names[event.key] ?? event.key.replace(/^Arrow(?=.)/, ''));
  // AltGr writes a character; Windows reports it as Ctrl and Alt.
  const written = character && event.getModifierState?.('AltGraph') === true;
  const shift = event.shiftKey && (!character || /\p{L}/u.test(key));
  return [(event.ctrlKey || event.metaKey) && !written && 'Ctrl', event.altKey && !written && 'Alt', shift && 'Shift', key].filter(Boolean).join('+');
}

/**
 * A key press as keys that a desktop can deliver from other windows (desktop.quick_ask_keys). null: only modifiers are pressed
 * yet; empty: keys that cannot be taken from everyone, as they write a character or move about.
 */
export function globalChordOf(event: KeyPress): string | null {
  if (noKey.test(event.key)) return null;
  const key = event.key === ' ' ? 'Space' : /^[a-z0-9]$/i.test(event.key) ? event.key.toUpperCase() : event.key;
  const modifiers = [event.ctrlKey && 'Ctrl', event.altKey && 'Alt', event.shiftKey && 'Shift', event.metaKey && 'Super'].filter(Boolean);
  const named = /^(?:[A-Z0-9]|Space|Tab|Insert|Home|End|PageUp|PageDown|Pause)$/.test(key);
  if (!/^F(?:[1-9]|1[0-2])$/.test(key) && !(named && modifiers.some((modifier) => modifier !== 'Shift'))) return '';
  return [...modifiers, key].join('+');
}

/** Where another script is written, and where Option changes the letter, the place of the key names it. */
function letterOf(event: KeyPress): string {
  const place = /^Key([A-Z])$/.exec(event.code)?.[1];
  if (place && ((event.altKey && onMac()) || /[^\p{Script=Latin}\p{N}\p{P}\p{S}]/u.test(event.key))) return place;
  return event.key.toUpperCase();
}

/** Keys of one place or of the system's own, with what they do. They cannot be given to a command. */
const taken = new Map<Chord, () => string>([
  ...['Ctrl+A', 'Ctrl+C', 'Ctrl+V', 'Ctrl+X', 'Ctrl+Y', 'Ctrl+Z', 'Ctrl+Shift+Z'].map((keys): [Chord, () => string] => [keys, () => t('keys.editing')]),
  ['Alt+F4', () => t('keys.closing')],
  ['Ctrl+Space', () => t('keys.choosing')],
  ...entries.filter((entry) => !isRebindable(entry)).flatMap((entry) => defaultChords(entry).map((keys): [Chord, () => string] => [keys, () => entry.title])),
]);

/** Whether a command's keys can be changed: those that the whole window hears, wherever the focus is. */
export function isRebindable(entry: Entry): boolean {
  return entry.fixed !== true && (entry.local !== true || entry.everywhere === true);
}

/** The keys a command has while nobody changed them. */
export function defaultChords(entry: Entry): readonly Chord[] {
  if (entry.id === 'session1') return [1, 2, 3, 4, 5, 6, 7, 8, 9].map((place) => `Ctrl+${place}`);
  if (entry.id === 'zoomIn') return ['Ctrl++', 'Ctrl+=']; // the plus without its Shift
  return [entry.keys, entry.also].filter((keys) => keys !== undefined);
}

/** Why a key cannot be given to a command; empty: it can. */
export function refusalOf(id: CommandId, keys: Chord): string {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry && defaultChords(entry).includes(keys)) return '';
  const doing = taken.get(keys);
  if (doing) return t('keys.fixed', { keys: keysIn(keys), doing: doing() });
  const modified = /^(?:Ctrl|Alt)\+./.test(keys);
  const key = keys.replace(/^(?:(?:Ctrl|Alt|Shift)\+)*(?=.)/, '');
  if (/^(?:Enter|Esc|Tab|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Up|Down|Left|Right)$/.test(key)) return t('keys.needed', { keys: keysIn(keys) });
  if (!modified && /^[\p{L}\p{N}]$/u.test(key)) return t('keys.writes', { keys: keysIn(keys) });
  return '';
}

/** What a field that is written in keeps: characters, and its own undo. */
export function isForFields(keys: Chord): boolean {
  return keys === 'Ctrl+Z' || [...keys].length === 1;
}

/** Commands that are heard by keys that are the same for everyone. */
export function fixedCommand(keys: Chord): CommandId | null {
  if (keys === 'Ctrl+Tab') return 'nextSession';
  if (keys === 'Ctrl+Shift+Tab') return 'previousSession';
  const place = /^Ctrl\+([1-9])$/.exec(keys)?.[1];
  return place ? (`session${Number(place)}` as SessionPlace) : null;
}

/** Lines of the configuration, "new=Ctrl+Shift+M"; nothing after the sign: no keys. Lines of commands that there are not are left out. */
export function parseBindings(lines: readonly string[]): Map<CommandId, Chord> {
  const rebindable = new Set<string>(entries.filter(isRebindable).map((entry) => entry.id));
  return new Map(lines.flatMap((line) => {
    const at = line.indexOf('=');
    const id = line.slice(0, at);
    return at > 0 && rebindable.has(id) ? [[id as CommandId, line.slice(at + 1).trim()] as const] : [];
  }));
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName));
}
