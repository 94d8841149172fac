/** Sessions chosen together, for one act on all of them. The order of the list is the caller's: it changes by itself. */
export class SelectionState {
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a range begins: what was chosen last by itself. */
  #anchor = '';

  get size(): number {
    return this.#ids.size;
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  toggle(id: string): void {
    const ids = new Set(this.#ids);
    if (!ids.delete(id)) ids.add(id);
    this.#ids = ids;
    this.#anchor = id;
  }

  /** Everything from the anchor to `id`, both in. Without an anchor in the list, from `from`. */
  extend(order: readonly string[], id: string, from = id): void {
    const start = order.indexOf(order.includes(this.#anchor) ? this.#anchor : from);
    const end = order.indexOf(id);
    if (start < 0 || end < 0) return;
    this.#anchor = order[start]!;
    this.#ids = new Set(order.slice(Math.min(start, end), Math.max(start, end) + 1));
  }

  all(order: readonly string[]): void {
    this.#ids = new Set(order);
  }

  clear(): void {
    if (this.#ids.size > 0) this.#ids = new Set();
    this.#anchor = '';
  }

  /** Lets go of what is no longer in the list: an act is never done to something one does not see. */
  keep(order: readonly string[]): void {
    const there = new Set(order);
    if ([...this.#ids].some((id) => !there.has(id))) this.#ids = new Set([...this.#ids].filter((id) => there.has(id)));
  }
}
