/** Lists of texts as the configuration prints them: TOML on one line that is also valid JSON. */

/** The entries; undefined if the value is not such a list. */
export function listOf(value: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** The entries for editing, one per line; the value itself if it cannot be shown that way. */
export function linesOf(value: string): string {
  const list = listOf(value);
  return list?.every((item) => item.trim() === item && item !== '' && !/[\r\n]/.test(item)) ? list.join('\n') : value;
}

/** The list that was typed: one entry per line, or the list itself in brackets. */
export function listFrom(typed: string): string {
  const text = typed.trim();
  if (text.startsWith('[')) return text;
  return JSON.stringify(text.split('\n').map((line) => line.trim()).filter(Boolean));
}
