/**
 * Which turns stay in the page although they are scrolled out of view: those in a selection, so that it can be copied
 * completely, and the one with the focus.
 */
const maxSelected = 400;

type Turns = readonly { id: string }[];

export class KeptTurns {
  #selected = $state.raw<[string, string] | null>(null);
  #focused = $state('');
  /** The turn that contains the whole selection, and the selected text, for pinning. */
  #selection = $state.raw<{ turnId: string; text: string } | null>(null);
  readonly #root: () => HTMLElement | undefined;
  readonly #turns: () => Turns;

  constructor(root: () => HTMLElement | undefined, turns: () => Turns) {
    this.#root = root;
    this.#turns = turns;
  }

  /** Turns are added and removed at both ends, so kept turns are stored by id and their positions are looked up now. */
  get indexes(): number[] {
    if (this.#focused === '' && !this.#selected) return [];
    const turns = this.#turns();
    const indexOf = (id: string) => turns.findIndex((turn) => turn.id === id);
    const indexes = new Set<number>();
    if (this.#focused !== '') indexes.add(indexOf(this.#focused));
    const [from, to] = (this.#selected ?? []).map(indexOf).sort((a, b) => a - b);
    if (from !== undefined && to !== undefined && from >= 0) for (let index = from; index <= Math.min(to, from + maxSelected); index++) indexes.add(index);
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
