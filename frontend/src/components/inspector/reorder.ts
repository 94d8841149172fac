export { moved } from '$lib/moved';

/** The place a pointer at height y is over, given the rows from top to bottom. */
export function placeAt(y: number, rows: readonly { top: number; bottom: number }[]): number {
  const place = rows.findIndex((row) => y < (row.top + row.bottom) / 2);
  return place < 0 ? rows.length - 1 : place;
}
