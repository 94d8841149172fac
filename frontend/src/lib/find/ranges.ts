/**
 * Finds a text in the drawn page. A match may cross the borders of bold text and links, but not those of paragraphs.
 */
import { occurrences } from './text';

/** The search in the transcript. */
export interface Marks {
  terms: readonly string[];
  matchCase: boolean;
  /** The turn of the current result, and the number of the result in it, from 0. */
  turnId: string;
  nth: number;
  /** In every drawn turn, not only in the current one. */
  everywhere: boolean;
}

/** More results than these in one turn are not marked. */
export const maxRanges = 2_000;

const messageParts = '.ask, .answer';
/** Labels of the program among the text of the conversation, and text that formulas contain twice. */
const skipped = '.code__bar, .code__more, .note__back, .preview, .more, .katex-mathml, summary, .documents';
const inline = new Set(['A', 'B', 'CODE', 'DEL', 'EM', 'I', 'INS', 'KBD', 'MARK', 'S', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'U']);

export function rangesIn(turn: Element, marks: Pick<Marks, 'terms' | 'matchCase'>): Range[] {
  const ranges: Range[] = [];
  for (const part of turn.querySelectorAll(messageParts)) {
    const { text, nodes, starts } = read(part);
    let node = 0;
    for (const { from, to } of occurrences(text, marks.terms, marks.matchCase, maxRanges - ranges.length)) {
      while (node + 1 < starts.length && starts[node + 1]! <= from) node++;
      let last = node;
      while (last + 1 < starts.length && starts[last + 1]! < to) last++;
      const range = document.createRange();
      range.setStart(nodes[node]!, from - starts[node]!);
      range.setEnd(nodes[last]!, Math.min(to - starts[last]!, nodes[last]!.length));
      ranges.push(range);
    }
  }
  return ranges;
}

/** All words of a part as one text, and the offset of each text node in it. */
function read(part: Element): { text: string; nodes: Text[]; starts: number[] } {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, {
    acceptNode: (node) => (node instanceof Element && node.matches(skipped) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
  });
  const nodes: Text[] = [];
  const starts: number[] = [];
  let text = '';
  let block: Element | null = null;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text)) continue;
    const within = blockOf(node, part);
    if (block && within !== block) text += '\n\n';
    block = within;
    nodes.push(node);
    starts.push(text.length);
    text += node.data;
  }
  return { text, nodes, starts };
}

function blockOf(node: Node, root: Element): Element {
  let element = node.parentElement;
  while (element && element !== root && inline.has(element.tagName)) element = element.parentElement;
  return element ?? root;
}
