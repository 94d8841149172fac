/** The text selected in the conversation; empty if nothing is, or if the selection reaches beyond its turns. */
export function selectedText(): string {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !inTurn(selection.anchorNode) || !inTurn(selection.focusNode)) return '';
  return selection.toString().trim();
}

/** The rectangle of the selection's last line. */
export function lastLine(): DOMRect | undefined {
  const selection = getSelection();
  return selection && selection.rangeCount > 0 ? [...selection.getRangeAt(0).getClientRects()].at(-1) : undefined;
}

function inTurn(node: Node | null): boolean {
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest('[data-turn]') != null;
}
