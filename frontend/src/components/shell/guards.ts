import type { App } from '$lib/state/app.svelte';

/** Addresses within the history itself: contextinfinity://turn/ID. */
const turnAddress = /^contextinfinity:\/\/turn\/([\w-]+)$/;

/**
 * Keeps the page where it is: a link never navigates, a dropped file never replaces the window, what is being
 * written is saved before the page goes, and a chat that would be gone with it asks first. Returns what takes the guards away.
 */
export function guardPage(app: App): () => void {
  const click = (event: MouseEvent) => followLink(app, event);
  const drop = (event: DragEvent) => event.preventDefault();
  const leave = () => void app.draft.flush();
  const hidden = () => document.visibilityState === 'hidden' && leave();
  const hide = () => {
    leave();
    void app.temporary.end();
  };
  const unload = (event: BeforeUnloadEvent) => app.temporary.holdsAnything && event.preventDefault();
  document.addEventListener('click', click);
  document.addEventListener('auxclick', click);
  window.addEventListener('dragover', drop);
  window.addEventListener('drop', drop);
  window.addEventListener('beforeunload', unload);
  window.addEventListener('pagehide', hide);
  document.addEventListener('visibilitychange', hidden);
  return () => {
    document.removeEventListener('click', click);
    document.removeEventListener('auxclick', click);
    window.removeEventListener('dragover', drop);
    window.removeEventListener('drop', drop);
    window.removeEventListener('beforeunload', unload);
    window.removeEventListener('pagehide', hide);
    document.removeEventListener('visibilitychange', hidden);
  };
}

function followLink(app: App, event: MouseEvent): void {
  const copy = (event.target as Element | null)?.closest?.('button[data-copy]');
  if (copy) {
    void app.turnActions.copy(copy.closest('.code')?.querySelector('code')?.textContent ?? '');
    return;
  }
  const href = (event.target as Element | null)?.closest?.('a[href]')?.getAttribute('href');
  if (!href) return;
  event.preventDefault();
  const turn = turnAddress.exec(href)?.[1];
  const done = turn ? app.visitTurn(turn) : app.backend.settings.openExternal(href);
  done.catch((error: unknown) => app.toasts.error(error));
}
