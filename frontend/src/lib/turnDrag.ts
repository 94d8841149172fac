import { setDragData, getDragData, hasDragData } from './ownDrag';

/** A turn being dragged from the transcript or the tree. */
export interface DraggedTurn {
  turnId: string;
  seq: number;
}

const type = 'application/x-contextinfinity-turn';

/** Sets the turn that a drag carries, and the text that other programs receive. */
export function setDraggedTurn(event: DragEvent, turn: DraggedTurn, text: string): void {
  if (!event.dataTransfer) return;
  setDragData(event, type, JSON.stringify(turn));
  event.dataTransfer.setData('text/plain', text);
  event.dataTransfer.effectAllowed = 'copy';
}

/** Whether a turn is being dragged; which one is known only when it is dropped. */
export const hasDraggedTurn = (event: DragEvent): boolean => hasDragData(event, type);

/** The dropped turn, or null if the drag has none. */
export function getDraggedTurn(event: DragEvent): DraggedTurn | null {
  try {
    const { turnId, seq } = JSON.parse(getDragData(event, type)) as Partial<DraggedTurn>;
    return typeof turnId === 'string' && turnId !== '' && typeof seq === 'number' ? { turnId, seq } : null;
  } catch {
    return null;
  }
}
