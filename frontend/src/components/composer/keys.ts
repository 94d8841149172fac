import { parse } from '$lib/commands/commands';

/** What a key press in the message field does. */
export type ComposerKey = 'send' | 'editLast' | 'older' | 'newer' | 'leaveHistory' | null;

export interface FieldState {
  empty: boolean;
  editing: boolean;
  /** It contains an earlier message unchanged. */
  earlier?: boolean;
  /** The key that sends a message; commands always run with Enter. */
  sendKey?: 'Enter' | 'Ctrl+Enter';
}

/**
 * Enter sends, or Ctrl+Enter if so chosen, Shift+Enter inserts a line break, Up in an empty field recalls earlier messages one by one, Ctrl+Up
 * edits the last one. While an input method is composing, it gets every key: engines report that with isComposing or,
 * for the last key, with code 229.
 */
export function composerKey(event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'keyCode'>, field: FieldState): ComposerKey {
  if (event.isComposing || event.keyCode === 229) return null;
  if (event.key === 'Enter' && !event.shiftKey && !event.altKey && (field.sendKey !== 'Ctrl+Enter' || event.ctrlKey || event.metaKey)) return 'send';
  const unmodified = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (field.editing) return null;
  if (event.key === 'ArrowUp' && field.empty && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) return 'editLast';
  if (!unmodified) return null;
  if (event.key === 'ArrowUp' && (field.empty || field.earlier)) return 'older';
  if (event.key === 'ArrowDown' && field.earlier) return 'newer';
  return event.key === 'Escape' && field.earlier ? 'leaveHistory' : null;
}

/** What a key does while the list of commands is open. */
export type ListKey = 'next' | 'previous' | 'run' | 'complete' | 'close' | null;

/**
 * Enter runs the row, Tab only completes it. A complete command that needs no argument is left to Enter's normal
 * handling.
 */
export function listKey(event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'keyCode'>, list: { count: number; typed: string }): ListKey {
  if (list.count === 0 || event.isComposing || event.keyCode === 229) return null;
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case 'ArrowDown': return 'next';
    case 'ArrowUp': return 'previous';
    case 'Tab': return 'complete';
    case 'Escape': return 'close';
    case 'Enter': return isComplete(list.typed) ? null : 'run';
    default: return null;
  }
}

function isComplete(typed: string): boolean {
  return parse(typed).kind === 'command' && !/^\/model\b/i.test(typed);
}
