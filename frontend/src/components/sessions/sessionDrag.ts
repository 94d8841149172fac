/** Sessions on their way to a folder. Which ones is told only when they are dropped, as browsers have it. */
const type = 'application/x-contextinfinity-sessions';

/** A drag begins. Elsewhere the sessions stand for their titles. */
export function putSessions(event: DragEvent, ids: readonly string[], titles: string): void {
  if (!event.dataTransfer) return;
  event.dataTransfer.setData(type, JSON.stringify(ids));
  event.dataTransfer.setData('text/plain', titles);
  event.dataTransfer.effectAllowed = 'move';
}

export const holdsSessions = (event: DragEvent): boolean => event.dataTransfer?.types.includes(type) ?? false;

export function takeSessions(event: DragEvent): string[] {
  try {
    const ids: unknown = JSON.parse(event.dataTransfer?.getData(type) ?? '');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
