/**
 * The data of a drag that starts in this window. A drag with a file hides all its other data from the page (WebKit
 * reports only "Files", WebKitGTK only URIs), so the page remembers the data.
 */
let carried: ReadonlyMap<string, string> | null = null;

/** One of our drags begins: its data by type, which only this window understands. */
export function carry(event: DragEvent, type: string, data: string): void {
  event.dataTransfer?.setData(type, data);
  carried = new Map([[type, data]]);
}

/** Whether the current drag is ours and of that type. */
export function holds(event: DragEvent, type: string): boolean {
  return event.dataTransfer?.types.includes(type) === true || (hides(event) && carried?.has(type) === true);
}

/** Whether a drag contains files, and may hide other data. */
function hides(event: DragEvent): boolean {
  const types = event.dataTransfer?.types ?? [];
  return types.includes('Files') || types.includes('text/uri-list');
}

export function dataOf(event: DragEvent, type: string): string {
  return event.dataTransfer?.getData(type) || (hides(event) ? (carried?.get(type) ?? '') : '');
}

/** Whether the current drag began in this window. */
export const isOwn = (): boolean => carried !== null;

/** Calls the listener when a drag ends. Returns a function that unsubscribes. */
export function watchOwnDrags(): () => void {
  const over = () => (carried = null);
  // A dragged row that was scrolled out of the page gets no dragend event, but a pointer that moves without a pressed
  // button means that no drag is in progress.
  const free = (event: PointerEvent) => event.buttons === 0 && over();
  addEventListener('dragend', over);
  addEventListener('pointermove', free);
  return () => {
    removeEventListener('dragend', over);
    removeEventListener('pointermove', free);
    over();
  };
}
