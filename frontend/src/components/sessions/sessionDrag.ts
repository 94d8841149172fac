/** Sessions on their way to a folder. Which ones is told only when they are dropped, as browsers have it. */
import { carry, dataOf, holds } from '$lib/ownDrag';

const type = 'application/x-contextinfinity-sessions';

/** A drag begins. Elsewhere the sessions represent their titles. */
export function putSessions(event: DragEvent, ids: readonly string[], titles: string): void {
  if (!event.dataTransfer) return;
  carry(event, type, JSON.stringify(ids));
  event.dataTransfer.setData('text/plain', titles);
  event.dataTransfer.effectAllowed = 'copyMove'; // into a folder it moves, out of the window it is copied
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
