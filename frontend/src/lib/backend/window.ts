/**
 * What the page tells the window of itself, outside any service: whether it has the keyboard, so that no notification
 * comes for what is being looked at; and whether a drop was of files for it, so that the program believes the paths that
 * the system gave (backend/desktop/drops.go says why it must ask).
 */

const EVENT_FOCUS = 'ci:focus';
const EVENT_DROP = 'ci:drop';

const EVENT_CLOSE = 'ci:close';
const EVENT_PAGE = 'ci:page';

interface Runtime {
  EventsEmit(name: string, ...data: unknown[]): void;
  CanResolveFilePaths?(): boolean;
  OnFileDrop?(listener: () => void, onTargetsOnly: boolean): void;
}

/** Whether the window is to close, as the program asked. */
export function answerClose(close: boolean): void {
  (window as unknown as { runtime?: Runtime }).runtime?.EventsEmit(EVENT_CLOSE, close);
}

/** Begins to tell. Outside the program there is nobody to tell, and nothing happens. Returns what ends it. */
export function tellWindow(): () => void {
  const { runtime } = window as unknown as { runtime?: Runtime };
  if (!runtime) return () => undefined;
  const ends = new AbortController();
  const id = `${performance.timeOrigin} ${Math.random()}`;
  runtime.EventsEmit(EVENT_PAGE, id, true);
  addEventListener('pagehide', () => runtime.EventsEmit(EVENT_PAGE, id, false), { signal: ends.signal });
  const listen = { signal: ends.signal, capture: true };
  const focus = () => runtime.EventsEmit(EVENT_FOCUS, document.hasFocus());
  addEventListener('focus', focus, { signal: ends.signal });
  addEventListener('blur', focus, { signal: ends.signal });
  focus();

  // What left this page and comes back to it is not given to it.
  let own = false;
  const over = () => (own = false);
  addEventListener('dragstart', () => (own = true), listen);
  addEventListener('dragend', over, listen);
  addEventListener('pointermove', (event) => event.buttons === 0 && over(), listen);
  addEventListener('drop', (event) => {
    // WebKitGTK tells of a file manager's files as addresses, without "Files".
    const types = event.dataTransfer?.types ?? [];
    const files = !own && (types.includes('Files') || types.includes('text/uri-list'));
    runtime.EventsEmit(EVENT_DROP, files, Math.round(event.clientX), Math.round(event.clientY));
  }, listen);

  // WebView2 gives paths only to whom asks for them.
  if (runtime.CanResolveFilePaths?.()) runtime.OnFileDrop?.(() => undefined, false);
  return () => ends.abort();
}
