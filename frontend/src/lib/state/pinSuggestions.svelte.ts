import type { Backend } from '$lib/backend/backend';
import type { PinSuggestion } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { Changes } from './changes';
import type { ConversationState } from './conversation.svelte';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

interface Parts {
  readonly backend: Backend;
  readonly changes: Changes;
  readonly conversation: ConversationState;
  readonly toasts: ToastsState;
  readonly undo: UndoState;
}

/** A suggestion is offered beside the composer for this many turns only; the State tab lists all. */
const offeredTurns = 3;

/**
 * Standing instructions of the open branch ("always answer in German") that could be pinned. Nothing is pinned
 * automatically.
 */
export class PinSuggestionsState {
  #list = $state.raw<readonly PinSuggestion[]>([]);
  #branchId = $state('');
  #running = $state('');
  readonly #parts: Parts;
  readonly #refresh: Refresh;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#refresh = new Refresh(() => this.#load());
    this.#off = parts.changes.on(['pins'], (change) => {
      if (change.id === this.#branchId) this.#refresh.soon();
    });
  }

  /** Newest first; empty while a branch other than the followed one is open. */
  get list(): readonly PinSuggestion[] {
    return this.#branchId === this.#parts.conversation.branchId ? this.#list : [];
  }

  /** The suggestion to offer beside the composer, if a recent turn contains one. */
  get offer(): PinSuggestion | undefined {
    return this.list.find((suggestion) => suggestion.turnSeq > this.#parts.conversation.lastSeq - offeredTurns);
  }

  /** The suggestion that is being pinned or dismissed. */
  get running(): string {
    return this.#running;
  }

  /** Loads the suggestions of a branch and keeps them up to date. */
  async follow(branchId: string): Promise<void> {
    if (branchId === this.#branchId) return;
    this.#branchId = branchId;
    this.#list = [];
    if (branchId) await this.#refresh.now();
  }

  /** Pins a suggestion verbatim. */
  async accept(suggestion: PinSuggestion): Promise<void> {
    const { backend, undo } = this.#parts;
    const branchId = this.#branchId;
    await this.#act(suggestion, async () => {
      const pin = await backend.inspect.acceptSuggestedPin(suggestion.id, suggestion.text);
      undo.record({ text: t('state.pinnedWhole'), undone: t('state.unpinned'), undo: () => backend.inspect.removePin(branchId, pin.id) });
    });
  }

  /** Dismisses the suggestion; it is never offered again. */
  async dismiss(suggestion: PinSuggestion): Promise<void> {
    await this.#act(suggestion, () => this.#parts.backend.inspect.dismissSuggestedPin(suggestion.id));
  }

  async #act(suggestion: PinSuggestion, work: () => Promise<void>): Promise<void> {
    if (this.#running !== '') return;
    this.#running = suggestion.id;
    try {
      await work();
      this.#list = this.#list.filter((other) => other.id !== suggestion.id);
    } catch (error) {
      this.#parts.toasts.error(error);
      this.#refresh.soon();
    } finally {
      this.#running = '';
    }
  }

  async #load(): Promise<void> {
    const branchId = this.#branchId;
    try {
      const list = await this.#parts.backend.inspect.suggestedPins(branchId);
      if (branchId === this.#branchId) this.#list = list;
    } catch {
      // Suggestions are optional: the next change of the pins loads them again.
    }
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
  }
}
