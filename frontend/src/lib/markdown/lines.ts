/** Coloured code with each line in its own element, so that it can be numbered even if it wraps. */

/**
 * The HTML contains only spans and escaped text (colouring.ts): a span over several lines is closed and opened again.
 */
export function inLines(html: string): string {
  const open: string[] = [];
  const begin = '<span class="code__line">';
  let out = begin;
  for (const [piece] of html.matchAll(/<span[^>]*>|<\/span>|\n|[^<\n]+/g)) {
    if (piece === '\n') {
      out += `\n${'</span>'.repeat(open.length)}</span>${begin}${open.join('')}`;
      continue;
    }
    out += piece;
    if (piece === '</span>') open.pop();
    else if (piece.startsWith('<span')) open.push(piece);
  }
  return `${out}</span>`;
}
