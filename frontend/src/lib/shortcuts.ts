/** Every shortcut there is: what the settings list, and what the window listens to. */
export interface Shortcut {
  id: ShortcutId;
  keys: string;
  /** What it does, as the list says it. */
  does: string;
  /** Where it is heard. */
  group: 'Everywhere' | 'Sessions' | 'Writing' | 'Reading';
}

export type ShortcutId =
  | 'new' | 'temporary' | 'search' | 'searchAll' | 'sessions' | 'inspector' | 'switch' | 'settings' | 'composer' | 'zoomIn' | 'zoomOut' | 'zoomReset'
  | 'find' | 'findNext' | 'findPrevious' | 'goTo' | 'rename' | 'archive' | 'send' | 'newline' | 'stop' | 'editLast' | 'scrollEnds' | 'turns';

export const shortcuts: readonly Shortcut[] = [
  { id: 'new', keys: 'Ctrl+N', does: 'New conversation', group: 'Everywhere' },
  { id: 'temporary', keys: 'Ctrl+Shift+N', does: 'Temporary chat: nothing of it is written', group: 'Everywhere' },
  { id: 'search', keys: '/', does: 'Search the sessions by title', group: 'Everywhere' },
  { id: 'searchAll', keys: 'Ctrl+Shift+F', does: 'Search everything that was said', group: 'Everywhere' },
  { id: 'switch', keys: 'Ctrl+J', does: 'Switch branch', group: 'Everywhere' },
  { id: 'sessions', keys: 'Ctrl+B', does: 'Show or hide the sessions', group: 'Everywhere' },
  { id: 'inspector', keys: 'Ctrl+I', does: 'Show or hide the inspector', group: 'Everywhere' },
  { id: 'settings', keys: 'Ctrl+,', does: 'Settings', group: 'Everywhere' },
  { id: 'zoomIn', keys: 'Ctrl++', does: 'Larger text', group: 'Everywhere' },
  { id: 'zoomOut', keys: 'Ctrl+-', does: 'Smaller text', group: 'Everywhere' },
  { id: 'zoomReset', keys: 'Ctrl+0', does: 'Text at 100 %', group: 'Everywhere' },
  { id: 'rename', keys: 'F2', does: 'Rename the session', group: 'Sessions' },
  { id: 'archive', keys: 'Delete', does: 'Archive the session', group: 'Sessions' },
  { id: 'composer', keys: 'Ctrl+L', does: 'To the message', group: 'Writing' },
  { id: 'send', keys: 'Enter', does: 'Send', group: 'Writing' },
  { id: 'newline', keys: 'Shift+Enter', does: 'Line break', group: 'Writing' },
  { id: 'stop', keys: 'Esc', does: 'Stop the answer, or leave an edit', group: 'Writing' },
  { id: 'editLast', keys: 'Up', does: 'Edit the last message, when the field is empty', group: 'Writing' },
  { id: 'find', keys: 'Ctrl+F', does: 'Find in this conversation', group: 'Reading' },
  { id: 'findNext', keys: 'F3', does: 'The next find', group: 'Reading' },
  { id: 'findPrevious', keys: 'Shift+F3', does: 'The find before', group: 'Reading' },
  { id: 'goTo', keys: 'Ctrl+G', does: 'Go to a turn: number, percentage or day', group: 'Reading' },
  { id: 'scrollEnds', keys: 'End', does: 'Jump to the newest turn, and Home to the first', group: 'Reading' },
  { id: 'turns', keys: 'Alt+Up', does: 'The turn before, and Alt+Down the next', group: 'Reading' },
];

/** As the settings list them. */
export const shortcutGroups: readonly { title: string; shortcuts: readonly Shortcut[] }[] = (['Everywhere', 'Sessions', 'Writing', 'Reading'] as const).map(
  (title) => ({ title, shortcuts: shortcuts.filter((shortcut) => shortcut.group === title) }),
);

/** The shortcut of the whole window that a key press is, if it is one. */
export function windowShortcut(event: KeyboardEvent): ShortcutId | null {
  if (event.defaultPrevented || event.isComposing) return null;
  const command = event.ctrlKey || event.metaKey;
  if (!command && event.key === 'F3') return event.shiftKey ? 'findPrevious' : 'findNext';
  if (!command && event.key === '/' && !isTyping(event.target)) return 'search';
  if (!command || event.altKey) return null;
  if (event.shiftKey && event.key.toLowerCase() === 'f') return 'searchAll';
  switch (event.key.toLowerCase()) {
    case 'n': return event.shiftKey ? 'temporary' : 'new';
    case 'j': return 'switch';
    case 'b': return 'sessions';
    case 'i': return event.shiftKey ? null : 'inspector';
    case 'f': return event.shiftKey ? null : 'find';
    case 'g': return event.shiftKey ? null : 'goTo';
    case 'l': return 'composer';
    case ',': return 'settings';
    case '+': case '=': return 'zoomIn';
    case '-': return 'zoomOut';
    case '0': return 'zoomReset';
    default: return null;
  }
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName));
}
