import { isOwn, watchOwnDrags } from '$lib/ownDrag';
import { isTyping } from '$lib/shortcuts';
import type { App } from '$lib/state/app.svelte';
import { looksLikeHistory } from '$lib/state/dropping.svelte';
import { answerAct } from '../transcript/answerActs';

/** Addresses of turns in the history: contextinfinity://turn/ID. */
const turnAddress = /^contextinfinity:\/\/turn\/([\w-]+)$/;

/**
 * How long, in ms, after files have left the window the hint is removed: engines report leaving an element like leaving
 * the window.
 */
const leaveMs = 120;

/**
 * Keeps the page in place: a link never navigates, a drop never replaces the window, the draft is saved before the page
 * closes, and a temporary chat asks first. Returns a function that removes the guards.
 */
export function guardPage(app: App): () => void {
  const click = (event: MouseEvent) => followLink(app, event);
  const leave = () => void app.draft.flush();
  const hidden = () => document.visibilityState === 'hidden' && leave();
  const hide = () => {
    leave();
    void app.temporary.end();
  };
  const unload = (event: BeforeUnloadEvent) => app.temporary.hasContent && event.preventDefault();
  document.addEventListener('click', click);
  document.addEventListener('auxclick', click);
  const removeDropGuards = guardDrops(app);
  window.addEventListener('beforeunload', unload);
  window.addEventListener('pagehide', hide);
  document.addEventListener('visibilitychange', hidden);
  return () => {
    document.removeEventListener('click', click);
    document.removeEventListener('auxclick', click);
    removeDropGuards();
    window.removeEventListener('beforeunload', unload);
    window.removeEventListener('pagehide', hide);
    document.removeEventListener('visibilitychange', hidden);
  };
}

/**
 * Files of another program, not a drag within the window. WebKitGTK reports files of a file manager only as URIs, so
 * those count too: a web address has no path, and is then ignored.
 */
function bringsFiles(app: App, event: DragEvent): boolean {
  const types = event.dataTransfer?.types ?? [];
  return !isOwn() && (types.includes('Files') || (app.backend.nativeDrops && types.includes('text/uri-list')));
}

/** Text dragged over a text field: the field's default behaviour applies. */
function isForField(event: DragEvent): boolean {
  const { target } = event;
  const types = event.dataTransfer?.types ?? [];
  if (isOwn() || types.includes('Files') || !types.includes('text/plain')) return false;
  return isTyping(target) && !(target as HTMLInputElement).readOnly && !(target as HTMLInputElement).disabled;
}

/** A drop never navigates: files are accepted, text goes into fields, everything else is rejected. */
function guardDrops(app: App): () => void {
  const { dropping, importing } = app;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  const cancelLeave = () => clearTimeout(leaving);
  const over = (event: DragEvent) => {
    if (isForField(event)) return;
    const files = bringsFiles(app, event);
    if (!event.defaultPrevented && event.dataTransfer) event.dataTransfer.dropEffect = files ? 'copy' : 'none';
    event.preventDefault();
    cancelLeave();
    dropping.hover(files);
  };
  const leave = (event: DragEvent) => {
    if (event.relatedTarget !== null) return;
    cancelLeave();
    leaving = setTimeout(() => dropping.hover(false), leaveMs);
  };
  const drop = (event: DragEvent) => {
    cancelLeave();
    dropping.hover(false);
    if (isForField(event)) return;
    event.preventDefault();
    if (!bringsFiles(app, event) || app.backend.nativeDrops) return; // the program reports them, with their paths
    const names = [...(event.dataTransfer?.files ?? [])].map((file) => file.name).filter(looksLikeHistory);
    if (names.length > 0) importing.showPathless(names);
  };
  const unwatch = watchOwnDrags();
  // WebKit sends no dragover for the step in which the pointer reaches another element. If that step was the last one
  // before the drop and its dragenter was not prevented, the file replaces the page.
  window.addEventListener('dragenter', over);
  window.addEventListener('dragover', over);
  window.addEventListener('dragleave', leave);
  window.addEventListener('drop', drop);
  return () => {
    cancelLeave();
    unwatch();
    window.removeEventListener('dragenter', over);
    window.removeEventListener('dragover', over);
    window.removeEventListener('dragleave', leave);
    window.removeEventListener('drop', drop);
  };
}

function followLink(app: App, event: MouseEvent): void {
  const button = (event.target as Element | null)?.closest?.<HTMLElement>('button[data-act]');
  if (button) {
    if (event.button === 0) answerAct(app, button).catch((error: unknown) => app.toasts.error(error));
    return;
  }
  const href = (event.target as Element | null)?.closest?.('a[href]')?.getAttribute('href');
  if (!href) return;
  event.preventDefault();
  const turn = turnAddress.exec(href)?.[1];
  const done = turn ? app.navigation.visitTurn(turn) : app.backend.settings.openExternal(href);
  done.catch((error: unknown) => app.toasts.error(error));
}
