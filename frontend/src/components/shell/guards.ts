import type { App } from '$lib/state/app.svelte';

/** Addresses within the history itself: contextinfinity://turn/ID. */
const turnAddress = /^contextinfinity:\/\/turn\/([\w-]+)$/;

/**
 * Keeps the page where it is: a link never navigates, a dropped file never replaces the window, and what is being
 * written is saved before the page goes. Returns what takes the guards away.
 */
export function guardPage(app: App): () => void {
  const click = (event: MouseEvent) => followLink(app, event);
  const drop = (event: DragEvent) => event.preventDefault();
  const leave = () => void app.draft.flush();
  const hidden = () => document.visibilityState === 'hidden' && leave();
  document.addEventListener('click', click);
  document.addEventListener('auxclick', click);
  window.addEventListener('dragover', drop);
  window.addEventListener('drop', drop);
  window.addEventListener('pagehide', leave);
  document.addEventListener('visibilitychange', hidden);
  return () => {
    document.removeEventListener('click', click);
    document.removeEventListener('auxclick', click);
    window.removeEventListener('dragover', drop);
    window.removeEventListener('drop', drop);
    window.removeEventListener('pagehide', leave);
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
  const done = turn ? app.conversation.jumpTo(turn) : app.backend.settings.openExternal(href);
  done.catch((error: unknown) => app.toasts.error(error));
}
