/**
 * The data of a drag that starts in this window. A drag with a file hides all its other data from the page (WebKit
 * reports only "Files", WebKitGTK only URIs), so the page remembers the data.
 */
let dragData: ReadonlyMap<string, string> | null = null;

/** Sets the data of a drag that starts in this window, and remembers it in case the browser hides it. */
export function setDragData(event: DragEvent, type: string, data: string): void {
  event.dataTransfer?.setData(type, data);
  dragData = new Map([[type, data]]);
}

/** Whether the current drag has data of this type, even if the browser hides it. */
export function hasDragData(event: DragEvent, type: string): boolean {
  return event.dataTransfer?.types.includes(type) === true || (mayHideData(event) && dragData?.has(type) === true);
}

/** Whether a drag contains files, and may hide other data. */
function mayHideData(event: DragEvent): boolean {
  const types = event.dataTransfer?.types ?? [];
  return types.includes('Files') || types.includes('text/uri-list');
}

/** The data of this type of the current drag; empty if it has none. */
export function getDragData(event: DragEvent, type: string): string {
  return event.dataTransfer?.getData(type) || (mayHideData(event) ? (dragData?.get(type) ?? '') : '');
}

/** Whether the current drag began in this window. */
export const isOwn = (): boolean => dragData !== null;

/** Calls the listener when a drag ends. Returns a function that unsubscribes. */
export function watchOwnDrags(): () => void {
  const over = () => (dragData = null);
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
