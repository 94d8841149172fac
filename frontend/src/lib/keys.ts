/** Keys as this machine names them: lists write Ctrl, Alt and Shift, a Mac shows its own signs. */

const macSigns: Record<string, string> = { Ctrl: '⌘', Alt: '⌥', Shift: '⇧', Delete: '⌫', Enter: '↩', Esc: '⎋' };
const arrows: Record<string, string> = { Up: '↑', Down: '↓', Left: '←', Right: '→' };

export const onMac = (): boolean => /^Mac|iPhone|iPad/.test(navigator.platform);

/** A label that ends with its keys, "Settings (Ctrl+,)", as this machine writes it. */
export function withKeys(label: string, mac = onMac()): string {
  return mac ? label.replace(/\(((?:Ctrl|Alt|Shift)\+.+|Esc)\)$/, (_, keys: string) => `(${capsOf(keys, true).join('')})`) : label;
}

/** "Ctrl+N" as its key caps. A plus sign may itself be the last key. */
export function capsOf(keys: string, mac = onMac()): string[] {
  const caps = keys === '+' ? ['+'] : keys.replace(/\+\+$/, '+Plus').split('+').map((cap) => (cap === 'Plus' ? '+' : cap));
  return caps.map((cap) => arrows[cap] ?? (mac ? (macSigns[cap] ?? cap) : cap));
}
