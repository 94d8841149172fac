/**
 * Which turns stay in the page though they are scrolled out of it: those that a selection spans, so that it can be
 * copied whole, and the one that holds the focus.
 */
const most = 400;

type Turns = readonly { id: string }[];

export class KeptTurns {
  #selected = $state.raw<[string, string] | null>(null);
  #focused = $state('');
  /** The turn that holds the whole selection, and its text, for pinning. */
  #selection = $state.raw<{ turnId: string; text: string } | null>(null);
  readonly #root: () => HTMLElement | undefined;
  readonly #turns: () => Turns;

  constructor(root: () => HTMLElement | undefined, turns: () => Turns) {
    this.#root = root;
    this.#turns = turns;
  }

  /** Turns come and go at both ends of what is loaded: who stays is known by name, where, only now. */
  get indexes(): number[] {
    if (this.#focused === '' && !this.#selected) return [];
    const turns = this.#turns();
    const indexOf = (id: string) => turns.findIndex((turn) => turn.id === id);
    const indexes = new Set<number>();
    if (this.#focused !== '') indexes.add(indexOf(this.#focused));
    const [from, to] = (this.#selected ?? []).map(indexOf).sort((a, b) => a - b);
    if (from !== undefined && to !== undefined && from >= 0) for (let index = from; index <= Math.min(to, from + most); index++) indexes.add(index);
    indexes.delete(-1);
    return [...indexes];
  }

  get selection(): { turnId: string; text: string } | null {
    return this.#selection;
  }

  focused(event: FocusEvent): void {
    this.#focused = idOf(event.target as Node | null);
  }

  blurred(): void {
    this.#focused = '';
  }

  selected(): void {
    const selection = getSelection();
    const root = this.#root();
    if (!selection || selection.isCollapsed || !root?.contains(selection.anchorNode) || !root.contains(selection.focusNode)) {
      this.#selected = null;
      this.#selection = null;
      return;
    }
    const from = idOf(selection.anchorNode);
    const to = idOf(selection.focusNode);
    this.#selected = from === '' || to === '' ? null : [from, to];
    const turnId = from === to ? from : '';
    const text = turnId ? selection.toString().trim() : '';
    this.#selection = text ? { turnId, text } : null;
  }
}

function turnOf(node: Node | null): HTMLElement | null {
  const element = node instanceof Element ? node : node?.parentElement;
  return element?.closest<HTMLElement>('[data-turn]') ?? null;
}

function idOf(node: Node | null): string {
  return turnOf(node)?.dataset['turn'] ?? '';
}
