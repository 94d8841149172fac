import type { App } from '$lib/state/app.svelte';

/** Shortcuts of the whole window. Those of one part (Enter in the composer, F2 on a session) are heard there. */
export function onWindowKey(app: App, event: KeyboardEvent): void {
  if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) return escape(app, event);
  const id = app.keymap.commandOf(event);
  if (!id || !app.startup.info || app.startup.fatal) return;
  if (!anywhere(id) && !ownsShortcut(app, id)) return event.preventDefault();
  if (app.startup.firstRun && !anywhere(id)) return;
  event.preventDefault();
  if (app.commands.why(id) === '') void app.commands.try(id);
}

/** What is done whatever is in front: the size of the text, and leaving. */
const anywhere = (id: string): boolean => id.startsWith('zoom') || id === 'closeView' || id === 'quit';

/** Ctrl is let go, or the window left: walking through the sessions ends. */
export function onWindowKeyUp(app: App, event: KeyboardEvent): void {
  if (event.key === 'Control' || event.key === 'Meta') app.recent.released();
}

/** Whether a shortcut is for what is in front: under an open dialog nothing is done that one does not see. */
function ownsShortcut(app: App, id: string): boolean {
  return app.palette.open !== '' || id === 'help' || document.querySelector('dialog[open]') === null;
}

/** Esc steps back: out of a drawer or a view over the conversation first, then out of a field beside it, then out of an edit; then it stops what streams here. */
function escape(app: App, event: KeyboardEvent): void {
  if (app.layout.view !== 'chat' || document.querySelector('dialog[open]')) return;
  if (app.closeOver()) event.preventDefault();
  else if (leavesField(app, event.target)) event.preventDefault();
  else if (app.temporary.active) void (app.temporary.running && app.temporary.stop());
  else if (app.composer.editing) app.composer.cancelEdit();
  else if (app.conversation.running && app.conversation.newest) void app.turnActions.stop(app.conversation.newest);
}

/** A text field beside the conversation keeps Esc: the key leaves it and does nothing else. */
function leavesField(app: App, target: EventTarget | null): boolean {
  const field = target instanceof HTMLElement && target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select') ? target : null;
  if (!field || field.closest('main')) return false;
  field.blur();
  if (!app.temporary.active) app.composer.focus();
  return true;
}
