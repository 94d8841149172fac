import type { LucideIcon } from '@lucide/svelte';

/** An item of a menu. */
export interface MenuItem {
  id: string;
  label: string;
  /** A second, less prominent line: what it does, or why it is not available. */
  detail?: string | undefined;
  /** A number at the right edge. */
  hint?: string | undefined;
  /** The shortcut at the right edge, "Ctrl+N", drawn with the key names of this system. */
  keys?: string | undefined;
  icon?: LucideIcon | undefined;
  /** Set for one of several options; the item is then a radio item. */
  checked?: boolean | undefined;
  /** Shown and focusable, so that its detail can explain why it cannot be selected. */
  disabled?: boolean | undefined;
  danger?: boolean | undefined;
  /** The heading shown above the first item of each group. */
  group?: string | undefined;
}

/** The item that a key moves to, or -1 if the key does not move. */
export function menuTarget(key: string, at: number, count: number): number {
  if (count === 0) return -1;
  switch (key) {
    case 'ArrowDown':
      return (at + 1) % count;
    case 'ArrowUp':
      return (at + count - 1 + (at < 0 ? 1 : 0)) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return -1;
  }
}

/**
 * The item that matches the typed letters, searching from the one after `at`. Repeating one letter goes through all
 * items that begin with it.
 */
export function typeAhead(labels: string[], typed: string, at: number): number {
  const same = [...typed].every((letter) => letter === typed[0]);
  const prefix = (same ? (typed[0] ?? '') : typed).toLocaleLowerCase();
  const from = same ? at + 1 : Math.max(at, 0);
  for (let i = 0; i < labels.length; i++) {
    const index = (from + i) % labels.length;
    if (labels[index]?.toLocaleLowerCase().startsWith(prefix)) return index;
  }
  return -1;
}

/** The position of a menu of the given size so that it stays inside the window. */
export function placeMenu(
  anchor: { left: number; right: number; top: number; bottom: number },
  size: { width: number; height: number },
  view: { width: number; height: number },
  align: 'start' | 'end',
): { left: number; top: number; maxHeight: number } {
  const gap = 4;
  const edge = 8;
  const preferred = align === 'end' ? anchor.right - size.width : anchor.left;
  const left = Math.max(edge, Math.min(preferred, view.width - size.width - edge));
  const below = view.height - anchor.bottom - gap - edge;
  const above = anchor.top - gap - edge;
  if (size.height <= below || below >= above) {
    return { left, top: anchor.bottom + gap, maxHeight: below };
  }
  const height = Math.min(size.height, above);
  return { left, top: anchor.top - gap - height, maxHeight: above };
}
