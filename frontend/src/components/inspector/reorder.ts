/** The list with one entry moved to another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const result = [...list];
  const [entry] = result.splice(from, 1);
  if (entry !== undefined) result.splice(to, 0, entry);
  return result;
}

/** The place a pointer at height y is over, given the rows from top to bottom. */
export function placeAt(y: number, rows: readonly { top: number; bottom: number }[]): number {
  const place = rows.findIndex((row) => y < (row.top + row.bottom) / 2);
  return place < 0 ? rows.length - 1 : place;
}
