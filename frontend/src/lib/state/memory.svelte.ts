import type { Backend } from '$lib/backend/backend';
import { BackendError } from '$lib/backend/errors';
import type { MemoryFilter } from '$lib/backend/types';
import type { ComposerState } from './composer.svelte';
import type { DraftState } from './draft.svelte';
import type { InspectorState } from './inspector.svelte';
import type { LayoutState } from './layout.svelte';
import type { ToastsState } from './toasts.svelte';

/** How many pieces of memory may go with one message. */
export const mostAttached = 20;

/** What the Memory tab narrows its list by, beside the words. Moments are Unix ms, 0 and "" do not filter. */
export type MemoryNarrowing = Pick<MemoryFilter, 'scope' | 'type' | 'role' | 'since' | 'until'>;
const wide: MemoryNarrowing = { scope: 'lineage', type: '', role: '', since: 0, until: 0 };

interface Parts {
  readonly backend: Backend;
  readonly inspector: InspectorState;
  readonly layout: LayoutState;
  readonly draft: DraftState;
  readonly composer: ComposerState;
  readonly toasts: ToastsState;
}

/** What the Memory tab looks for and which chunk stands open, and attaching a chunk to the message being written. */
export class MemoryState {
  #query = $state('');
  #filter = $state.raw<MemoryNarrowing>(wide);
  #opened = $state('');
  #attaching = $state('');
  #asked = $state(0);
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What is searched for; empty: everything is listed, newest first. */
  get query(): string {
    return this.#query;
  }

  set query(query: string) {
    if (query === this.#query) return;
    this.#query = query;
    this.#opened = '';
  }

  get filter(): MemoryNarrowing {
    return this.#filter;
  }

  narrow(by: Partial<MemoryNarrowing>): void {
    this.#opened = '';
    this.#filter = { ...this.#filter, ...by };
  }

  /** How much is narrowed beside the scope, which always is something. */
  get narrowed(): number {
    const { type, role, since, until } = this.#filter;
    return [type !== '', role !== '', since > 0, until > 0].filter(Boolean).length;
  }

  widen(): void {
    this.#filter = { ...wide, scope: this.#filter.scope };
  }

  /** The chunk that stands open; empty for none. */
  get opened(): string {
    return this.#opened;
  }

  /** Moves each time something outside the tab asks it to search or to open a chunk. */
  get asked(): number {
    return this.#asked;
  }

  /** The chunk that is on its way into the message; empty for none. */
  get attaching(): string {
    return this.#attaching;
  }

  /** Shows the tab with what the search finds. */
  search(query: string): void {
    this.#query = query;
    this.#opened = '';
    this.#asked++;
    this.#parts.inspector.show('memory');
  }

  /** Shows the tab at a chunk. */
  open(chunkId: string): void {
    this.#opened = chunkId;
    this.#asked++;
    this.#parts.inspector.show('memory');
  }

  /** Opens a chunk of the list, or closes the one that stands open. */
  toggle(chunkId: string): void {
    this.#opened = this.#opened === chunkId ? '' : chunkId;
  }

  close(): void {
    this.#opened = '';
  }

  isAttached(chunkId: string): boolean {
    return this.#parts.draft.memories.some((chip) => chip.id === chunkId);
  }

  /** Puts a chunk into the message being written, once. What was being written stays as it is when that fails. */
  async attach(chunkId: string): Promise<void> {
    const { backend, layout, draft, composer, toasts } = this.#parts;
    if (this.isAttached(chunkId)) return composer.focus();
    const { branchId } = draft;
    this.#attaching = chunkId;
    try {
      this.#refuse();
      const chip = await backend.memory.chip(chunkId);
      if (draft.branchId !== branchId || this.isAttached(chunkId)) return;
      this.#refuse();
      draft.memories = [...draft.memories, chip];
      composer.changed();
      layout.closeDrawer(); // which would cover it
      composer.focus();
    } catch (error) {
      toasts.error(error);
    } finally {
      this.#attaching = '';
    }
  }

  #refuse(): void {
    const { draft } = this.#parts;
    if (draft.queued) throw refused('The message is already queued', 'Take it back into the composer, then attach to it.');
    if (draft.memories.length >= mostAttached) throw refused(`A message takes at most ${mostAttached} pieces of memory`, 'Remove one of them first.');
  }
}

function refused(message: string, hint: string): BackendError {
  return new BackendError({ code: 'invalid', op: 'attach memory', message, hint });
}
