const maxChars = 3_000;
const maxLines = 40;

/** The beginning of a text that is too long to be shown completely; null if it is short enough. */
export function fold(text: string): string | null {
  if (text.length <= maxChars && lineBreaks(text, maxLines) <= maxLines) return null;
  const head = text.slice(0, maxChars).split('\n').slice(0, maxLines).join('\n');
  return `${head.replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Counts line breaks, but stops as soon as the answer is known. */
function lineBreaks(text: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && count <= limit; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
