/** The Markdown of a summary without headings that have no text below them. */
export function withoutEmptySections(summary: string): string {
  const kept: string[] = [];
  let next: number | undefined; // the level of the kept line below: 0 is text, undefined the end
  for (const { line, level } of leveled(summary).reverse()) {
    if (level > 0 && (next === undefined || (next > 0 && next <= level))) continue;
    kept.push(line);
    if (line.trim() !== '') next = level;
  }
  return kept.reverse().join('\n').replace(/\n{3,}/g, '\n\n').trim();
}

/** Each line with its heading level; 0: not a heading, for example a line of a code block. */
function leveled(text: string): { line: string; level: number }[] {
  let code = false;
  return text.split('\n').map((line) => {
    if (/^ {0,3}(?:```|~~~)/.test(line)) code = !code;
    return { line, level: code ? 0 : (/^ {0,3}(#{1,6})(?:\s|$)/.exec(line)?.[1]?.length ?? 0) };
  });
}
