/** Dragging sessions to a folder. Browsers reveal which ones only when they are dropped. */
import { carry, dataOf, holds } from '$lib/ownDrag';

const type = 'application/x-contextinfinity-sessions';

/** A drag begins. Outside the list, a drop inserts the titles. */
export function putSessions(event: DragEvent, ids: readonly string[], titles: string): void {
  if (!event.dataTransfer) return;
  carry(event, type, JSON.stringify(ids));
  event.dataTransfer.setData('text/plain', titles);
  event.dataTransfer.effectAllowed = 'copyMove'; // moved into a folder, copied out of the window
}

export const holdsSessions = (event: DragEvent): boolean => holds(event, type);

export function takeSessions(event: DragEvent): string[] {
  try {
    const ids: unknown = JSON.parse(dataOf(event, type));
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
