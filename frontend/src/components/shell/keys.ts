import { windowShortcut, type ShortcutId } from '$lib/shortcuts';
import type { App } from '$lib/state/app.svelte';
import { zoomMax, zoomMin } from '$lib/state/theme.svelte';

const zoomStep = 10;

/** Shortcuts of the whole window. Those of one part (Enter in the composer, F2 on a session) are heard there. */
export function onWindowKey(app: App, event: KeyboardEvent): void {
  if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) return escape(app, event);
  const id = windowShortcut(event);
  if (!id || !app.startup.info || app.startup.fatal) return;
  if (app.startup.firstRun && !id.startsWith('zoom')) return;
  event.preventDefault();
  act(app, id);
}

function act(app: App, id: ShortcutId): void {
  const { layout, theme } = app;
  const actions: Partial<Record<ShortcutId, () => void>> = {
    new: () => void app.newSession(),
    temporary: () => void app.newTemporary(),
    search: () => searchSessions(app),
    searchAll: () => app.search.show(),
    sessions: () => layout.toggle('sessions'),
    inspector: () => layout.toggle('inspector'),
    switch: () => void document.querySelector<HTMLElement>('[data-shortcut="switch"]')?.click(),
    settings: () => (layout.view === 'settings' ? layout.closeSettings() : layout.openSettings()),
    find: () => app.find.show(),
    findNext: () => void app.find.step(1),
    findPrevious: () => void app.find.step(-1),
    goTo: () => app.temporary.active || app.goTo.show(),
    composer: () => (app.temporary.active ? app.temporary : app.composer).focus(),
    zoomIn: () => void theme.setZoom(Math.min(zoomMax, theme.zoom + zoomStep)),
    zoomOut: () => void theme.setZoom(Math.max(zoomMin, theme.zoom - zoomStep)),
    zoomReset: () => void theme.setZoom(100),
  };
  actions[id]?.();
}

function searchSessions(app: App): void {
  app.layout.reveal('sessions');
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>('[data-shortcut="search"]')?.focus());
}

/** Esc steps back: out of a drawer or a view over the conversation first, then out of an edit, then it stops what streams here. */
function escape(app: App, event: KeyboardEvent): void {
  if (app.layout.view !== 'chat' || document.querySelector('dialog[open]')) return;
  if (app.layout.closeDrawer() || app.branches.closeWide() || (app.layout.isDrawer('inspector') && app.layout.closeSearch())) event.preventDefault();
  else if (app.find.close()) event.preventDefault();
  else if (app.temporary.active) void (app.temporary.running && app.temporary.stop());
  else if (app.composer.editing) app.composer.cancelEdit();
  else if (app.conversation.running && app.conversation.newest) void app.turnActions.stop(app.conversation.newest);
}
