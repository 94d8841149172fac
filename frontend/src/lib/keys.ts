/**
 * The names of keys on this system: lists write Ctrl, Alt and Shift; a Mac uses its symbols, German keyboards say Strg.
 */
import { language, t, type PlainKey } from './i18n/i18n.svelte';

const macSigns: Record<string, string> = { Ctrl: '⌘', Alt: '⌥', Shift: '⇧', Delete: '⌫', Enter: '↩', Esc: '⎋' };
const arrows: Record<string, string> = { Up: '↑', Down: '↓', Left: '←', Right: '→' };
const names: Record<string, PlainKey> = {
  Ctrl: 'keyNames.ctrl', Alt: 'keyNames.alt', Shift: 'keyNames.shift', Delete: 'keyNames.delete', Enter: 'keyNames.enter', Esc: 'keyNames.esc', Tab: 'keyNames.tab', Space: 'keyNames.space',
  Backspace: 'keyNames.backspace', Insert: 'keyNames.insert', Home: 'keyNames.home', End: 'keyNames.end', PageUp: 'keyNames.pageUp', PageDown: 'keyNames.pageDown',
};

export const onMac = (): boolean => /^Mac|iPhone|iPad/.test(navigator.platform);

const ending = /\(((?:Ctrl|Alt|Shift)\+.+|Esc|Delete)\)$/;

/** A label that ends with its keys, "Settings (Ctrl+,)", with this system's names. */
export function withKeys(label: string, mac = onMac()): string {
  return mac || language() !== 'en' ? label.replace(ending, (_, keys: string) => `(${keysIn(keys, mac)})`) : label;
}

/** Keys within a sentence: "Ctrl+N", "⌘N", "Strg+N". */
export function keysIn(keys: string, mac = onMac()): string {
  return capsOf(keys, mac).join(mac ? '' : '+');
}

/** "Ctrl+N" as separate keys. A plus sign can itself be the last key. */
export function capsOf(keys: string, mac = onMac()): string[] {
  const caps = keys === '+' ? ['+'] : keys.replace(/\+\+$/, '+Plus').split('+').map((cap) => (cap === 'Plus' ? '+' : cap));
  return caps.map((cap) => arrows[cap] ?? (mac ? macSigns[cap] : undefined) ?? (names[cap] ? t(names[cap]) : cap));
}
