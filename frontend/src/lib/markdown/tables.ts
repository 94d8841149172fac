/** A drawn table (render.ts) as text, for other programs. */

const cellsOf = (row: HTMLTableRowElement): HTMLTableCellElement[] => [...row.cells];

/** RFC 4180. Formulas are their source. */
export function tableAsCsv(table: HTMLTableElement): string {
  const field = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [...table.rows].map((row) => `${cellsOf(row).map((cell) => field(plain(cell))).join(',')}\r\n`).join('');
}

export function tableAsMarkdown(table: HTMLTableElement): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = (cell: HTMLTableCellElement) => ({ end: '---:', center: ':---:' })[cell.dataset['align'] ?? ''] ?? '---';
  const [head, ...rows] = [...table.rows].map(cellsOf);
  if (!head) return '';
  const written = [head, ...rows].map((cells) => line(cells.map((cell) => markdown(cell).trim().replaceAll('|', '\\|'))));
  return [written[0], line(head.map(rule)), ...written.slice(1)].join('\n');
}

const plain = (node: Node): string => (node.nodeName === 'BR' ? '\n' : texOf(node) ?? childrenOf(node, plain));

function childrenOf(node: Node, write: (child: Node) => string): string {
  if (node instanceof HTMLElement && node.classList.contains('host')) return ''; // the site, which we wrote beside a link
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue ?? '';
  const text = [...node.childNodes].map(write).join('');
  return node.nodeName === 'A' ? text.trimEnd() : text; // without the space before the site
}

function texOf(node: Node): string | undefined {
  const tex = node instanceof HTMLElement ? node.dataset['tex'] : undefined;
  return tex === undefined ? undefined : `$${tex}$`;
}

/** Inline Markdown of a cell. What has no Markdown is its text. */
function markdown(node: Node): string {
  const text = texOf(node) ?? childrenOf(node, markdown);
  switch (node.nodeName) {
    case 'BR': return '<br>';
    case 'CODE': return `\`${text}\``;
    case 'STRONG': case 'B': return `**${text}**`;
    case 'EM': case 'I': return `*${text}*`;
    case 'DEL': case 'S': return `~~${text}~~`;
    case 'A': return `[${text}](${(node as HTMLAnchorElement).getAttribute('href')})`;
    default: return text;
  }
}
