import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { DeletePreview, ReceiptView, TurnView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** What messages say in the place of what was erased from them (backend/store). */
const erasedMark = '[erased]';
/** Receipts are few and change rarely. */
const receiptsMs = 1_000;

export type EraseKind = 'session' | 'turn';

export interface EraseTarget {
  kind: EraseKind;
  id: string;
  /** It is a session in the list, which archiving would put away as well. */
  archivable: boolean;
}

/** Deleting for good: what it would remove, the name typed out, and the receipt afterwards. */
export class ErasingState {
  #target = $state.raw<EraseTarget | null>(null);
  #preview = $state.raw<DeletePreview | null>(null);
  #receipt = $state.raw<ReceiptView | null>(null);
  #receipts = $state.raw<readonly ReceiptView[]>([]);
  #busy = $state(false);
  #error = $state.raw<BackendError | null>(null);
  typed = $state('');
  #serial = 0;
  readonly #backend: Backend;
  readonly #before: () => Promise<void>;
  readonly #after: (target: EraseTarget) => Promise<void>;
  readonly #refresh = new Refresh(() => this.#loadReceipts(), receiptsMs);
  readonly #off: () => void;
  /** When the text of a turn was erased, by the turn. */
  readonly #erasures = $derived(new Map(this.#receipts.filter((receipt) => receipt.kind === 'turn').map((receipt) => [receipt.subject, receipt.at])));

  /** before: what is unsaved is saved, so that nothing is written to what is gone. after: the window follows. */
  constructor(backend: Backend, changes: Changes, before: () => Promise<void>, after: (target: EraseTarget) => Promise<void>) {
    this.#backend = backend;
    this.#before = before;
    this.#after = after;
    this.#off = changes.on(['sessions'], () => this.#refresh.soon());
  }

  get target(): EraseTarget | null {
    return this.#target;
  }

  /** Null until it is known. */
  get preview(): DeletePreview | null {
    return this.#preview;
  }

  /** Of what was deleted just now. */
  get receipt(): ReceiptView | null {
    return this.#receipt;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** Exactly what is asked for was typed, and nothing stands against it. */
  get ready(): boolean {
    return this.#preview !== null && this.#preview.reason === '' && this.typed === this.#preview.confirm;
  }

  /** When what a turn said was erased; 0: that is not known; null: it was not. */
  erasedAt(turn: TurnView): number | null {
    const at = this.#erasures.get(turn.id);
    if (at !== undefined) return at;
    const [first, second] = turn.user;
    const marked = this.#erasures.size > 0 && first?.kind === 'text' && first.text === erasedMark && second === undefined;
    return marked ? (this.#erasures.get(turn.retryOf) ?? 0) : null;
  }

  show(target: EraseTarget): void {
    this.#target = target;
    this.#receipt = null;
    this.typed = '';
    void this.look();
  }

  close(): void {
    if (this.#busy) return;
    this.#serial++;
    this.#target = null;
    this.#preview = null;
    this.#receipt = null;
    this.#error = null;
    this.typed = '';
  }

  /** Asks what it would remove. */
  async look(): Promise<void> {
    const target = this.#target;
    if (!target) return;
    const serial = ++this.#serial;
    this.#preview = null;
    this.#error = null;
    try {
      const preview = await this.#backend.storage.deletePreview(target.kind, target.id);
      if (serial === this.#serial) this.#preview = preview;
    } catch (thrown) {
      if (serial === this.#serial) this.#error = toBackendError(thrown);
    }
  }

  async erase(): Promise<void> {
    const target = this.#target;
    if (!target || !this.ready || this.#busy) return;
    this.#busy = true;
    this.#error = null;
    try {
      await this.#before();
      this.#receipt = await this.#backend.storage.erase(target.kind, target.id, this.typed);
      this.#receipts = [this.#receipt, ...this.#receipts];
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    } finally {
      this.#busy = false;
    }
    // Also where it was refused: it may be gone all the same, and what is shown must be what is there.
    await this.#after(target);
  }

  async load(): Promise<void> {
    await this.#refresh.now();
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
  }

  async #loadReceipts(): Promise<void> {
    try {
      this.#receipts = await this.#backend.storage.receipts();
    } catch {
      // The next change asks again; the turns say [erased] meanwhile.
    }
  }
}
