/** What a key press in the message field does. */
export type ComposerKey = 'send' | 'editLast' | null;

export interface FieldState {
  empty: boolean;
  editing: boolean;
}

/**
 * Enter sends, Shift+Enter breaks the line, Up in an empty field edits the last message. While an input method is
 * composing, every key is its own: engines say so by isComposing or, for the key that ends it, by code 229.
 */
export function composerKey(event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'keyCode'>, field: FieldState): ComposerKey {
  if (event.isComposing || event.keyCode === 229) return null;
  if (event.key === 'Enter' && !event.shiftKey && !event.altKey) return 'send';
  const bare = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === 'ArrowUp' && bare && field.empty && !field.editing) return 'editLast';
  return null;
}
