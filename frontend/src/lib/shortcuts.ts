/** The keys of the window: the list of them from lib/commands/list, and which one a key press is. */
import { commandGroups, entries, groupTitle, type CommandId, type Entry, type SessionPlace } from './commands/list';

export type Shortcut = Entry & { keys: string };

export const shortcuts: readonly Shortcut[] = entries.filter((entry): entry is Shortcut => entry.keys !== undefined);

/** Keys and slash commands, as the settings and the sheet list them. */
export const shortcutGroups: readonly { readonly title: string; entries: readonly Entry[] }[] = commandGroups.map((group) => ({
  get title() {
    return groupTitle(group);
  },
  entries: entries.filter((entry) => entry.group === group && (entry.keys !== undefined || entry.slash !== undefined)),
}));

/** The shortcut of the whole window that a key press is, if it is one. */
export function windowShortcut(event: KeyboardEvent): CommandId | null {
  if (event.defaultPrevented || event.isComposing) return null;
  const command = event.ctrlKey || event.metaKey;
  if (!command && event.key === 'F3') return event.shiftKey ? 'findPrevious' : 'findNext';
  if (!command && event.key === '/' && !isTyping(event.target)) return 'search';
  if (!command && event.key === '?' && !isTyping(event.target)) return 'help';
  if (!command || event.altKey) return null;
  if (event.shiftKey && event.key.toLowerCase() === 'f') return 'searchAll';
  if (event.key === 'Tab') return event.shiftKey ? 'previousSession' : 'nextSession';
  if (!event.shiftKey && /^[1-9]$/.test(event.key)) return `session${Number(event.key)}` as SessionPlace;
  switch (event.key.toLowerCase()) {
    case 'w': return event.shiftKey ? null : 'closeView';
    case 'q': return event.shiftKey ? null : 'quit';
    case 'a': return event.shiftKey ? 'decide' : null;
    case 'k': return event.shiftKey ? null : 'palette';
    case '/': return 'help';
    case 'z': return event.shiftKey || isTyping(event.target) ? null : 'undo';
    case 'n': return event.shiftKey ? 'temporary' : 'new';
    case 'j': return 'switch';
    case 'b': return 'sessions';
    case 'i': return event.shiftKey ? null : 'inspector';
    case 'f': return event.shiftKey ? null : 'find';
    case 'g': return event.shiftKey ? null : 'goTo';
    case 'l': return 'composer';
    case 'o': return event.shiftKey ? null : 'import';
    case 'e': return event.shiftKey ? null : 'export';
    case 'p': return event.shiftKey ? null : 'print';
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
