import { flushSync } from 'svelte';
import type { App } from '$lib/state/app.svelte';
import { focusMessage, isOverChat, pastes, takesNoPaste, takesNoText, typesCharacter } from './focus';

/** Window-wide shortcuts. Those of one part (Enter in the composer, F2 on a session) are handled there. */
export function onWindowKey(app: App, event: KeyboardEvent): void {
  if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) return escape(app, event);
  const id = app.keymap.commandOf(event) ?? (renames(event) ? 'renameSession' : undefined);
  if (!id && isForMessage(event) && (isOverChat(app) || uncoversChat(app))) return void focusMessage();
  if (!id || !app.startup.info || app.startup.fatal) return;
  if (!anywhere(id) && !ownsShortcut(app, id)) return event.preventDefault();
  if (app.startup.firstRun && !anywhere(id)) return;
  event.preventDefault();
  if (app.commands.disabledReason(id) === '') void app.commands.try(id);
}

/** F2 where nothing else is renamed, such as in the message field, which has the focus after a click on a session. */
const renames = (event: KeyboardEvent): boolean => event.key === 'F2' && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;

const isForMessage = (event: KeyboardEvent): boolean => (typesCharacter(event) && takesNoText(event.target)) || (pastes(event) && takesNoPaste(event.target));

/**
 * Closes a comparison, which covers the message and takes no text itself; the answers side by side have the message
 * below them. Returns whether the message can now take what is typed. The tree stays open: it has keys of its own.
 */
function uncoversChat(app: App): boolean {
  const kind = app.branches.fullView?.kind ?? 'tree';
  if (kind === 'tree' || !app.layout.chatInFront || document.querySelector('dialog[open]') !== null) return false;
  if (kind === 'answers') return true;
  app.branches.closeFullView();
  flushSync(); // until then the message is inert, and the view returns the focus as it closes
  return isOverChat(app);
}

/** Commands that work whatever is in front: text size, and closing. */
const anywhere = (id: string): boolean => id.startsWith('zoom') || id === 'closeView' || id === 'quit';

/** Ctrl was released, or the window lost the focus: switching through sessions ends. */
export function onWindowKeyUp(app: App, event: KeyboardEvent): void {
  if (event.key === 'Control' || event.key === 'Meta') app.recent.released();
}

/** Whether a shortcut applies to what is in front: an open dialog blocks actions on what it covers. */
function ownsShortcut(app: App, id: string): boolean {
  return app.palette.open !== '' || id === 'help' || document.querySelector('dialog[open]') === null;
}

/**
 * Esc goes back one step: it closes a drawer or a view over the conversation, leaves a field beside it, or cancels an
 * edit; otherwise it stops the streaming answer.
 */
function escape(app: App, event: KeyboardEvent): void {
  if (app.layout.view !== 'chat' || document.querySelector('dialog[open]')) return;
  if (app.closeOver()) event.preventDefault();
  else if (leavesField(app, event.target)) event.preventDefault();
  else if (app.temporary.active) void (app.temporary.running && app.temporary.stop());
  else if (app.composer.editing) app.composer.cancelEdit();
  else if (app.conversation.running && app.conversation.newest) void app.turnActions.stop(app.conversation.newest);
  else if (app.startup.info?.quick) void app.draft.flush().then(() => app.backend.leaveWindow());
}

/** In a text field beside the conversation, Esc only leaves the field. */
function leavesField(app: App, target: EventTarget | null): boolean {
  const field = target instanceof HTMLElement && target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select') ? target : null;
  if (!field || field.closest('main')) return false;
  field.blur();
  if (!app.temporary.active) app.composer.focus();
  return true;
}
