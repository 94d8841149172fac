/** The list with one entry moved to another position. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const result = [...list];
  const [entry] = result.splice(from, 1);
  if (entry !== undefined) result.splice(to, 0, entry);
  return result;
}
