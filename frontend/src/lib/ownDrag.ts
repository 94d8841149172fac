/**
 * What is on its way from this window. A drag that carries a file hides everything else it carries from the page
 * (WebKit tells of "Files" alone, WebKitGTK of addresses alone), so the page remembers what it gave.
 */
let carried: ReadonlyMap<string, string> | null = null;

/** A drag of ours begins: its data by type, which only this window understands. */
export function carry(event: DragEvent, type: string, data: string): void {
  event.dataTransfer?.setData(type, data);
  carried = new Map([[type, data]]);
}

/** Whether what hovers is of that type and ours. */
export function holds(event: DragEvent, type: string): boolean {
  return event.dataTransfer?.types.includes(type) === true || (hides(event) && carried?.has(type) === true);
}

/** Whether a drag carries files, and may hide what else it carries. */
function hides(event: DragEvent): boolean {
  const types = event.dataTransfer?.types ?? [];
  return types.includes('Files') || types.includes('text/uri-list');
}

export function dataOf(event: DragEvent, type: string): string {
  return event.dataTransfer?.getData(type) || (hides(event) ? (carried?.get(type) ?? '') : '');
}

/** Whether what is dragged began in this window. */
export const isOwn = (): boolean => carried !== null;

/** Tells when a drag is over. Returns what ends it. */
export function watchOwnDrags(): () => void {
  const over = () => (carried = null);
  // A line that was scrolled away while it was dragged hears no dragend: a pointer that moves freely drags nothing.
  const free = (event: PointerEvent) => event.buttons === 0 && over();
  addEventListener('dragend', over);
  addEventListener('pointermove', free);
  return () => {
    removeEventListener('dragend', over);
    removeEventListener('pointermove', free);
    over();
  };
}
