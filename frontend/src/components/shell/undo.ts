/**
 * Undo and redo in text fields. WebKitGTK's view gives no keys to its own editing history, so the page does, in the same
 * way for every engine.
 */

import { onMac } from '$lib/keys';
import { chordOf, type Chord } from '$lib/shortcuts';

const steps: Partial<Record<Chord, 'undo' | 'redo'>> = { 'Ctrl+Z': 'undo', 'Ctrl+Shift+Z': 'redo', 'Ctrl+Y': 'redo' };

/** The step for a key press, on any layout. On a Mac the menu has the keys, and Ctrl+Y pastes there. */
const stepOf = (event: KeyboardEvent) => (onMac() || event.metaKey ? undefined : steps[chordOf(event) ?? '']);

function isEditable(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return !target.readOnly && !target.disabled;
  if (target instanceof HTMLInputElement) return !target.readOnly && !target.disabled && target.selectionStart !== null;
  return target instanceof HTMLElement && target.isContentEditable;
}

/** Handles the keys until the returned function is called. */
export function undoInFields(): () => void {
  const press = (event: KeyboardEvent) => {
    const step = stepOf(event);
    if (!step || event.defaultPrevented || event.isComposing || !isEditable(event.target)) return;
    event.preventDefault();
    document.execCommand(step);
  };
  // After the page's own keys: a command that was bound to one of these, and the undoing of an action, come first.
  addEventListener('keydown', press);
  return () => removeEventListener('keydown', press);
}
