/** Selected sessions. The list's order changes independently, so callers pass it in. */
export class SelectionState {
  #ids = $state.raw<ReadonlySet<string>>(new Set());
  /** The start of a range: the session that was last selected individually. */
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

  /** Selects everything from the anchor to `id`, inclusive. If the anchor is not in the list, from `from`. */
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

  /** Deselects sessions that are no longer in the list: an action must never apply to something that is not visible. */
  keep(order: readonly string[]): void {
    const listed = new Set(order);
    if ([...this.#ids].some((id) => !listed.has(id))) this.#ids = new Set([...this.#ids].filter((id) => listed.has(id)));
  }
}
