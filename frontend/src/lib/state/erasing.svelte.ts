import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { DeletePreview, ReceiptView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** Receipts are few and change rarely. */
const receiptsMs = 1_000;

export type EraseKind = 'session' | 'turn' | 'project';

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
  #count = $state(0);
  #newest: string | undefined;
  #busy = $state(false);
  #error = $state.raw<BackendError | null>(null);
  typed = $state('');
  #serial = 0;
  readonly #backend: Backend;
  readonly #before: () => Promise<void>;
  readonly #after: (target: EraseTarget) => Promise<void>;
  readonly #forget: () => void;
  readonly #refresh = new Refresh(() => this.#loadReceipts(), receiptsMs);
  readonly #off: () => void;

  /** before: what is unsaved is saved, so that nothing is written to what is gone. after: the window follows. forget: lists that hold it go, at once. */
  constructor(backend: Backend, changes: Changes, before: () => Promise<void>, after: (target: EraseTarget) => Promise<void>, forget: () => void) {
    this.#forget = forget;
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

  /** The word that is asked for was typed, and nothing prevents the deletion. */
  get ready(): boolean {
    return this.#preview !== null && this.#preview.reason === '' && this.typed.trim().toLowerCase() === this.#preview.confirm;
  }

  /** Moves with each deletion, here or by the command line: lists that were read before may hold what is gone. */
  get count(): number {
    return this.#count;
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
      this.#take([this.#receipt], true);
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    } finally {
      this.#busy = false;
    }
    // Also where it was refused: it may be gone anyway, and what is shown must be what is there.
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
      this.#take(await this.#backend.storage.receipts());
    } catch {
      // The next change asks again.
    }
  }

  /** The newest first. One that was not known tells of a deletion since. */
  #take(receipts: readonly ReceiptView[], now = false): void {
    const before = this.#newest;
    this.#newest = receipts[0]?.id ?? '';
    if (!now && (before === undefined || before === this.#newest || this.#newest === '')) return;
    this.#count++;
    this.#forget();
  }
}
