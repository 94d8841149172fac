import { carry, dataOf, holds } from './ownDrag';

/** A turn being dragged from the transcript or the tree. */
export interface DraggedTurn {
  turnId: string;
  seq: number;
}

const type = 'application/x-contextinfinity-turn';

/** A drag of a turn begins. For other programs it contains the turn's text. */
export function putTurn(event: DragEvent, turn: DraggedTurn, text: string): void {
  if (!event.dataTransfer) return;
  carry(event, type, JSON.stringify(turn));
  event.dataTransfer.setData('text/plain', text);
  event.dataTransfer.effectAllowed = 'copy';
}

/** Whether a turn is being dragged; which one is known only when it is dropped. */
export const holdsTurn = (event: DragEvent): boolean => holds(event, type);

export function takeTurn(event: DragEvent): DraggedTurn | null {
  try {
    const { turnId, seq } = JSON.parse(dataOf(event, type)) as Partial<DraggedTurn>;
    return typeof turnId === 'string' && turnId !== '' && typeof seq === 'number' ? { turnId, seq } : null;
  } catch {
    return null;
  }
}
