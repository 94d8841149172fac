/** Dragging sessions to a folder. */
import { setDragData, getDragData, hasDragData } from '$lib/ownDrag';

const type = 'application/x-contextinfinity-sessions';

/** Sets the sessions that a drag carries. Where text is dropped, their titles are inserted. */
export function setDraggedSessions(event: DragEvent, ids: readonly string[], titles: string): void {
  if (!event.dataTransfer) return;
  setDragData(event, type, JSON.stringify(ids));
  event.dataTransfer.setData('text/plain', titles);
  event.dataTransfer.effectAllowed = 'copyMove'; // moved into a folder, copied out of the window
}

/** Whether sessions are being dragged; which ones is known only when they are dropped. */
export const hasDraggedSessions = (event: DragEvent): boolean => hasDragData(event, type);

/** The ids of the dropped sessions; none if the drag has no sessions. */
export function getDraggedSessions(event: DragEvent): string[] {
  try {
    const ids: unknown = JSON.parse(getDragData(event, type));
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
