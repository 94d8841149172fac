/**
 * Key presses in the notation of lists, "Ctrl+Shift+F", and which of them can be assigned to a command. Pure; the
 * assigned keys are in state/keymap.
 */
import { entries, type CommandId, type Entry, type SessionPlace } from './commands/list';
import { keysIn, onMac } from './keys';
import { t } from './i18n/i18n.svelte';

/**
 * Modifiers in this order, then the key. A letter is upper case; any other character is written as typed, without the
 * Shift that it needs.
 */
export type Chord = string;

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'> & Partial<Pick<KeyboardEvent, 'getModifierState'>>;

const names: Record<string, string> = { ' ': 'Space', Escape: 'Esc' };
/** Keys that cannot be a shortcut by themselves: modifiers, and the start of an input method or a dead key. */
const noKey = /^(?:|Control|Shift|Alt|Meta|AltGraph|CapsLock|NumLock|ScrollLock|Fn|FnLock|Hyper|Super|Symbol|SymbolLock|OS|Dead|Process|Compose|Unidentified)$/;

/** The pressed keys; null for a modifier alone, and for anything that is not a complete key. */
export function chordOf(event: KeyPress): Chord | null {
  const dead = event.key === 'Dead' && event.altKey && onMac() && /^Key[A-Z]$/.test(event.code); // Option and a letter
  if (noKey.test(event.key) && !dead) return null;
  const character = dead || ([...event.key].length === 1 && event.key !== ' ');
  const key = character ? letterOf(event) : (names[event.key] ?? event.key.replace(/^Arrow(?=.)/, ''));
  // AltGr types a character; Windows reports it as Ctrl and Alt.
  const written = character && event.getModifierState?.('AltGraph') === true;
  const shift = event.shiftKey && (!character || /\p{L}/u.test(key));
  return [(event.ctrlKey || event.metaKey) && !written && 'Ctrl', event.altKey && !written && 'Alt', shift && 'Shift', key].filter(Boolean).join('+');
}

/**
 * A key press as a shortcut that a desktop can deliver from other windows (desktop.quick_ask_keys). null: only
 * modifiers are pressed so far; empty: keys that a global shortcut cannot take, as they type a character or move the
 * cursor.
 */
export function globalChordOf(event: KeyPress): string | null {
  if (noKey.test(event.key)) return null;
  const key = event.key === ' ' ? 'Space' : /^[a-z0-9]$/i.test(event.key) ? event.key.toUpperCase() : event.key;
  const modifiers = [event.ctrlKey && 'Ctrl', event.altKey && 'Alt', event.shiftKey && 'Shift', event.metaKey && 'Super'].filter(Boolean);
  const named = /^(?:[A-Z0-9]|Space|Tab|Insert|Home|End|PageUp|PageDown|Pause)$/.test(key);
  if (!/^F(?:[1-9]|1[0-2])$/.test(key) && !(named && modifiers.some((modifier) => modifier !== 'Shift'))) return '';
  return [...modifiers, key].join('+');
}

/** On a layout of another script, and where Option changes the letter, the physical key determines it. */
function letterOf(event: KeyPress): string {
  const place = /^Key([A-Z])$/.exec(event.code)?.[1];
  if (place && ((event.altKey && onMac()) || /[^\p{Script=Latin}\p{N}\p{P}\p{S}]/u.test(event.key))) return place;
  return event.key.toUpperCase();
}

/**
 * Keys that belong to one part of the window or to the system, with their purpose. They cannot be assigned to a
 * command.
 */
const taken = new Map<Chord, () => string>([
  ...['Ctrl+A', 'Ctrl+C', 'Ctrl+V', 'Ctrl+X', 'Ctrl+Y', 'Ctrl+Z', 'Ctrl+Shift+Z'].map((keys): [Chord, () => string] => [keys, () => t('keys.editing')]),
  ...['O', 'S', 'A', 'D', 'N', 'T', 'E', 'R', 'G'].map((letter): [Chord, () => string] => [`Alt+${letter}`, () => t('keys.deciding')]), // components/tools
  ['Alt+F4', () => t('keys.closing')],
  ['Ctrl+Space', () => t('keys.choosing')],
  ...entries.filter((entry) => !isRebindable(entry)).flatMap((entry) => defaultChords(entry).map((keys): [Chord, () => string] => [keys, () => entry.title])),
]);

/** Whether a command's keys can be changed: those that work in the whole window, wherever the focus is. */
export function isRebindable(entry: Entry): boolean {
  return entry.fixed !== true && (entry.local !== true || entry.everywhere === true);
}

/** The default keys of a command. */
export function defaultChords(entry: Entry): readonly Chord[] {
  if (entry.id === 'session1') return [1, 2, 3, 4, 5, 6, 7, 8, 9].map((place) => `Ctrl+${place}`);
  if (entry.id === 'zoomIn') return ['Ctrl++', 'Ctrl+=']; // the plus key without Shift
  return [entry.keys, entry.also].filter((keys) => keys !== undefined);
}

/** Why a key cannot be assigned to a command; empty: it can. */
export function refusalOf(id: CommandId, keys: Chord): string {
  const entry = entries.find((candidate) => candidate.id === id);
  if (entry && defaultChords(entry).includes(keys)) return '';
  const modified = /^(?:Ctrl|Alt)\+./.test(keys);
  const key = keys.replace(/^(?:(?:Ctrl|Alt|Shift)\+)*(?=.)/, '');
  if (!modified && /^[\p{L}\p{N}]$/u.test(key)) return t('keys.writes', { keys: keysIn(keys) });
  const doing = taken.get(keys);
  if (doing) return t('keys.fixed', { keys: keysIn(keys), doing: doing() });
  if (/^(?:Enter|Esc|Tab|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Up|Down|Left|Right)$/.test(key)) return t('keys.needed', { keys: keysIn(keys) });
  return '';
}

/** Keys that a text field needs: characters, and its own undo. */
export function isForFields(keys: Chord): boolean {
  return keys === 'Ctrl+Z' || [...keys].length === 1;
}

/** The command of keys that cannot be changed. */
export function fixedCommand(keys: Chord): CommandId | null {
  if (keys === 'Ctrl+Tab') return 'nextSession';
  if (keys === 'Ctrl+Shift+Tab') return 'previousSession';
  const place = /^Ctrl\+([1-9])$/.exec(keys)?.[1];
  return place ? (`session${Number(place)}` as SessionPlace) : null;
}

/** Former names of commands. A person's configuration may still contain them. */
const renamed: Readonly<Record<string, CommandId>> = { eraseSession: 'deleteSession' };

/**
 * Reads the lines of the configuration, "new=Ctrl+Shift+M"; nothing after the "=" means no keys. Unknown commands are
 * ignored.
 */
export function parseBindings(lines: readonly string[]): Map<CommandId, Chord> {
  const rebindable = new Set<string>(entries.filter(isRebindable).map((entry) => entry.id));
  return new Map(lines.flatMap((line) => {
    const at = line.indexOf('=');
    const name = line.slice(0, at);
    const id = renamed[name] ?? name;
    return at > 0 && rebindable.has(id) ? [[id as CommandId, line.slice(at + 1).trim()] as const] : [];
  }));
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName));
}

/** Whether a text field got the focus from the page, and nothing was typed in it since (components/shell/focus.ts). */
export function hasNothingToUndo(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.dataset.untouched !== undefined;
}
