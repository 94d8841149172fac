export { moved } from '$lib/moved';

/** The position of a pointer at height y among the rows, from top to bottom. */
export function placeAt(y: number, rows: readonly { top: number; bottom: number }[]): number {
  const place = rows.findIndex((row) => y < (row.top + row.bottom) / 2);
  return place < 0 ? rows.length - 1 : place;
}
