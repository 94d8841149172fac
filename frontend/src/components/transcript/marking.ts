/**
 * Marks search results in the drawn turns. The page can draw turns again at any time: those that changed are searched
 * again once per frame, and their nodes are never changed.
 */
import { painted } from '$lib/find/paint';
import { rangesIn, type Marks } from '$lib/find/ranges';
import { unfold } from './codeFolds';

export class TurnMarks {
  #root: HTMLElement | undefined;
  #marks: Marks | null = null;
  #frame = 0;
  readonly #ranges = new Map<HTMLElement, Range[]>();
  readonly #observer = typeof MutationObserver === 'undefined' ? undefined : new MutationObserver((records) => this.#changed(records));

  attach(root: HTMLElement): () => void {
    this.#root = root;
    this.set(this.#marks);
    return () => {
      this.#root = undefined;
      this.set(null);
    };
  }

  set(marks: Marks | null): void {
    const same = this.#marks && marks && this.#marks.matchCase === marks.matchCase && this.#marks.everywhere === marks.everywhere && this.#marks.terms.join('\n') === marks.terms.join('\n');
    this.#marks = marks;
    if (!same) this.#ranges.clear();
    this.#observer?.disconnect();
    if (marks && this.#root) this.#observer?.observe(this.#root, { childList: true, subtree: true, characterData: true });
    this.#paint();
  }

  /** The current search result, if its turn is drawn and shows it. */
  current(): Range | undefined {
    const turn = this.#marks ? this.#root?.querySelector<HTMLElement>(`[data-turn="${CSS.escape(this.#marks.turnId)}"]`) : null;
    if (!turn || !this.#marks) return undefined;
    const ranges = this.#rangesOf(turn);
    return ranges[Math.min(this.#marks.nth, ranges.length - 1)];
  }

  #rangesOf(turn: HTMLElement): Range[] {
    let ranges = this.#ranges.get(turn);
    if (!ranges) this.#ranges.set(turn, (ranges = rangesIn(turn, this.#marks!)));
    return ranges;
  }

  #changed(records: readonly MutationRecord[]): void {
    for (const { target } of records) {
      const turn = (target instanceof Element ? target : target.parentElement)?.closest<HTMLElement>('[data-turn]');
      if (turn) this.#ranges.delete(turn);
    }
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const [all, here] = [painted('found'), painted('found-here')];
    all?.clear();
    here?.clear();
    if (!this.#marks || !this.#root) return this.#ranges.clear();
    for (const turn of this.#ranges.keys()) if (!turn.isConnected) this.#ranges.delete(turn);
    for (const turn of this.#root.querySelectorAll<HTMLElement>('[data-turn]')) {
      if (!this.#marks.everywhere && turn.dataset['turn'] !== this.#marks.turnId) continue;
      for (const range of this.#rangesOf(turn)) all?.add(range);
    }
    const current = this.current();
    if (!current) return;
    const code = current.startContainer.parentElement?.closest<HTMLElement>('.code');
    if (code && code.dataset['open'] === undefined) unfold(code, true); // it may be among lines that are folded away
    all?.delete(current);
    here?.add(current);
  }
}
