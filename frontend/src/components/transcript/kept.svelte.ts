/**
 * Which turns stay in the page though they are scrolled out of it: those that a selection spans, so that it can be
 * copied whole, and the one that holds the focus.
 */
const most = 400;

export class KeptTurns {
  #selected = $state.raw<[number, number] | null>(null);
  #focused = $state(-1);
  /** The turn that holds the whole selection, and its text, for pinning. */
  #selection = $state.raw<{ turnId: string; text: string } | null>(null);
  readonly #root: () => HTMLElement | undefined;

  constructor(root: () => HTMLElement | undefined) {
    this.#root = root;
  }

  get indexes(): number[] {
    const indexes = new Set<number>(this.#focused >= 0 ? [this.#focused] : []);
    const [from, to] = this.#selected ?? [0, -1];
    for (let index = from; index <= Math.min(to, from + most); index++) indexes.add(index);
    return [...indexes];
  }

  get selection(): { turnId: string; text: string } | null {
    return this.#selection;
  }

  focused(event: FocusEvent): void {
    this.#focused = indexOf(event.target as Node | null);
  }

  blurred(): void {
    this.#focused = -1;
  }

  selected(): void {
    const selection = getSelection();
    const root = this.#root();
    if (!selection || selection.isCollapsed || !root?.contains(selection.anchorNode) || !root.contains(selection.focusNode)) {
      this.#selected = null;
      this.#selection = null;
      return;
    }
    const from = indexOf(selection.anchorNode);
    const to = indexOf(selection.focusNode);
    this.#selected = from < 0 || to < 0 ? null : [Math.min(from, to), Math.max(from, to)];
    const turnId = from === to ? (turnOf(selection.anchorNode)?.dataset['turn'] ?? '') : '';
    const text = turnId ? selection.toString().trim() : '';
    this.#selection = text ? { turnId, text } : null;
  }
}

function turnOf(node: Node | null): HTMLElement | null {
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest<HTMLElement>('[data-turn]') ?? null;
}

function indexOf(node: Node | null): number {
  return Number(turnOf(node)?.dataset['index'] ?? -1);
}
