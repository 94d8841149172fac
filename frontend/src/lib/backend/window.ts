/**
 * What the page reports to the program outside of any service: whether it has the focus, so that there are no
 * notifications about what is on screen; and whether a drop contained files for it, so that the program trusts the
 * paths from the system (backend/desktop/drops.go explains why it must ask).
 */

const EVENT_FOCUS = 'ci:focus';
const EVENT_DROP = 'ci:drop';

const EVENT_CLOSE = 'ci:close';
const EVENT_PAGE = 'ci:page';
const EVENT_HEARD = 'ci:heard';

/**
 * How often the page announces itself until the program confirms it, and how long it waits before it starts without a
 * confirmation.
 */
const announceMs = 100;
const maxWaitMs = 10_000;

interface Runtime {
  EventsEmit(name: string, ...data: unknown[]): void;
  EventsOn(name: string, listener: (data: unknown) => void): () => void;
  Quit?(): void;
  CanResolveFilePaths?(): boolean;
  OnFileDrop?(listener: () => void, onTargetsOnly: boolean): void;
}

/** Replies to the program's question whether to close the window. */
export function answerClose(close: boolean): void {
  (window as unknown as { runtime?: Runtime }).runtime?.EventsEmit(EVENT_CLOSE, close);
}

/** Wails' own Quit asks the window first, as its close button does (backend/desktop/lifecycle.go). */
export function leaveWindow(): void {
  (window as unknown as { runtime?: Runtime }).runtime?.Quit?.();
}

/**
 * Announces the page until the program confirms that it sends events to it. Changes to data read earlier may be missed.
 * Does nothing outside the program.
 */
export async function announcePage(): Promise<void> {
  const { runtime } = window as unknown as { runtime?: Runtime };
  if (!runtime) return;
  const id = `${performance.timeOrigin} ${Math.random()}`;
  const announce = (listens: boolean) => {
    try {
      runtime.EventsEmit(EVENT_PAGE, id, listens);
    } catch {
      // In a browser, the bridge closes while the page that is reloaded still exists.
    }
  };
  addEventListener('pagehide', () => announce(false));
  const timer = setInterval(announce, announceMs, true);
  await new Promise<void>((resolve) => {
    runtime.EventsOn(EVENT_HEARD, (heard) => {
      if (heard !== id) return;
      clearInterval(timer);
      resolve();
    });
    setTimeout(resolve, maxWaitMs); // a window that shows stored data is better than none
    announce(true);
  });
}

/** Starts reporting, and returns a function that stops it. Does nothing outside the program. */
export function reportToProgram(): () => void {
  const { runtime } = window as unknown as { runtime?: Runtime };
  if (!runtime) return () => undefined;
  const ends = new AbortController();
  const listen = { signal: ends.signal, capture: true };
  const focus = () => runtime.EventsEmit(EVENT_FOCUS, document.hasFocus());
  addEventListener('focus', focus, { signal: ends.signal });
  addEventListener('blur', focus, { signal: ends.signal });
  focus();

  // A drag that started on this page and ends on it contains no files for it.
  let own = false;
  const over = () => (own = false);
  addEventListener('dragstart', () => (own = true), listen);
  addEventListener('dragend', over, listen);
  addEventListener('pointermove', (event) => event.buttons === 0 && over(), listen);
  addEventListener('drop', (event) => {
    // WebKitGTK reports files of a file manager as URIs, without "Files".
    const types = event.dataTransfer?.types ?? [];
    const files = !own && (types.includes('Files') || types.includes('text/uri-list'));
    runtime.EventsEmit(EVENT_DROP, files, Math.round(event.clientX), Math.round(event.clientY));
  }, listen);

  // WebView2 reports paths only if the page asks for them.
  if (runtime.CanResolveFilePaths?.()) runtime.OnFileDrop?.(() => undefined, false);
  return () => ends.abort();
}
