/**
 * What the page tells the window of itself, outside any service: whether it has the keyboard, so that no notification
 * comes for what is being looked at; and whether a drop was of files for it, so that the program believes the paths that
 * the system gave (backend/desktop/drops.go says why it must ask).
 */

const EVENT_FOCUS = 'ci:focus';
const EVENT_DROP = 'ci:drop';

const EVENT_CLOSE = 'ci:close';
const EVENT_PAGE = 'ci:page';
const EVENT_HEARD = 'ci:heard';

/** How often the page announces itself until the program confirms it, and how long it waits before it starts without. */
const announceMs = 100;
const patienceMs = 10_000;

interface Runtime {
  EventsEmit(name: string, ...data: unknown[]): void;
  EventsOn(name: string, listener: (data: unknown) => void): () => void;
  Quit?(): void;
  CanResolveFilePaths?(): boolean;
  OnFileDrop?(listener: () => void, onTargetsOnly: boolean): void;
}

/** Whether the window is to close, as the program asked. */
export function answerClose(close: boolean): void {
  (window as unknown as { runtime?: Runtime }).runtime?.EventsEmit(EVENT_CLOSE, close);
}

/** Wails' own quitting asks the window first, as its close button does (backend/desktop/life.go). */
export function leaveWindow(): void {
  (window as unknown as { runtime?: Runtime }).runtime?.Quit?.();
}

/**
 * Announces the page until the program confirms that it sends events to it. What the page reads before may change without
 * its being told. Outside the program there is nobody to tell.
 */
export async function announcePage(): Promise<void> {
  const { runtime } = window as unknown as { runtime?: Runtime };
  if (!runtime) return;
  const id = `${performance.timeOrigin} ${Math.random()}`;
  const say = (listens: boolean) => {
    try {
      runtime.EventsEmit(EVENT_PAGE, id, listens);
    } catch {
      // In a browser beside the window the bridge is closed before the page that is reloaded has gone.
    }
  };
  addEventListener('pagehide', () => say(false));
  const again = setInterval(say, announceMs, true);
  await new Promise<void>((resolve) => {
    runtime.EventsOn(EVENT_HEARD, (heard) => {
      if (heard !== id) return;
      clearInterval(again);
      resolve();
    });
    setTimeout(resolve, patienceMs); // a window that shows what is stored is better than none
    say(true);
  });
}

/** Begins to tell. Outside the program there is nobody to tell, and nothing happens. Returns what ends it. */
export function tellWindow(): () => void {
  const { runtime } = window as unknown as { runtime?: Runtime };
  if (!runtime) return () => undefined;
  const ends = new AbortController();
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
