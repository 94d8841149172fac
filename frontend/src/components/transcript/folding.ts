const mostChars = 3_000;
const mostLines = 40;

/** The beginning of a text that is too long to be shown completely; null if it is short enough. */
export function fold(text: string): string | null {
  if (text.length <= mostChars && lineBreaks(text, mostLines) <= mostLines) return null;
  const head = text.slice(0, mostChars).split('\n').slice(0, mostLines).join('\n');
  return `${head.replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Counts line breaks, but stops as soon as the answer is known. */
function lineBreaks(text: string, enough: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && count <= enough; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
