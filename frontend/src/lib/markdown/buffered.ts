/**
 * Marks shown text that is not durable yet (dotted underline, SPEC 5) without changing the page's nodes: a highlight
 * over the last characters. In engines without the highlight API the bar and the counts give the same information.
 */
import { painted } from '$lib/find/paint';

const name = 'buffered';

/** How many characters the last `bytes` bytes of the text are. */
export function tailChars(text: string, bytes: number): number {
  let chars = 0;
  let remaining = bytes;
  for (let at = text.length - 1; at >= 0 && remaining > 0; at--, chars++) {
    const code = text.charCodeAt(at);
    remaining -= code < 0x80 ? 1 : code < 0x800 ? 2 : code >= 0xd800 && code <= 0xdfff ? 2 : 3;
  }
  return chars;
}

/** Marks the last `chars` characters below `root`; returns a function that removes the mark. */
export function markTail(root: HTMLElement, chars: number): () => void {
  const ranges = painted(name);
  const range = ranges && chars > 0 ? rangeOfTail(root, chars) : null;
  if (!ranges || !range) return () => undefined;
  ranges.add(range);
  return () => ranges.delete(range);
}

/**
 * From the first of the last `chars` characters to the end. The bar of a code block is not the model's text: it
 * does not count, and is not underlined (styles/base.css).
 */
export function rangeOfTail(root: HTMLElement, chars: number): Range | null {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let node: Node | null = root;
  while (node?.lastChild) node = node.lastChild;
  if (!node) return null;
  texts.currentNode = node;
  const range = document.createRange();
  range.selectNodeContents(root);
  let remaining = chars;
  for (let text: Node | null = node.nodeType === Node.TEXT_NODE ? node : texts.previousNode(); text; text = texts.previousNode()) {
    if (text.parentElement?.closest('.code__bar, .code__more, .note__back')) continue;
    const length = text.nodeValue?.length ?? 0;
    if (length >= remaining) {
      range.setStart(text, length - remaining);
      return range;
    }
    remaining -= length;
  }
  return range;
}
