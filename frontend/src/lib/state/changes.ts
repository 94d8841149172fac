import type { Backend } from '$lib/backend/backend';
import type { Change, ChangeKind } from '$lib/backend/types';

/** Passes each change to the subscribers of its kind. */
export class Changes {
  readonly #listeners = new Map<ChangeKind, Set<(change: Change) => void>>();
  readonly #off: () => void;

  constructor(backend: Backend) {
    this.#off = backend.onChange((change) => {
      for (const listener of [...(this.#listeners.get(change.kind) ?? [])]) listener(change);
    });
  }

  /** Returns a function that unsubscribes: `$effect(() => changes.on(['jobs'], reload))`. */
  on(kinds: readonly ChangeKind[], listener: (change: Change) => void): () => void {
    for (const kind of kinds) {
      const listeners = this.#listeners.get(kind) ?? new Set();
      this.#listeners.set(kind, listeners.add(listener));
    }
    return () => {
      for (const kind of kinds) this.#listeners.get(kind)?.delete(listener);
    };
  }

  stop(): void {
    this.#off();
    this.#listeners.clear();
  }
}
