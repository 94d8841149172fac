import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { DeletionPreview, ReceiptView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** Receipts are few and change rarely. */
const receiptsMs = 1_000;

export type DeletionKind = 'session' | 'turn' | 'project';

export interface DeletionTarget {
  kind: DeletionKind;
  id: string;
  /** It is a listed session, so it could be archived instead. */
  archivable: boolean;
}

/** Permanent deletion: the preview, the word typed as confirmation, and the receipt. */
export class DeletionState {
  #target = $state.raw<DeletionTarget | null>(null);
  #preview = $state.raw<DeletionPreview | null>(null);
  #receipt = $state.raw<ReceiptView | null>(null);
  #count = $state(0);
  #newest: string | undefined;
  #busy = $state(false);
  #copies = $state.raw<readonly string[]>([]);
  #counting = $state(false);
  #error = $state.raw<BackendError | null>(null);
  typed = $state('');
  #serial = 0;
  readonly #backend: Backend;
  readonly #before: () => Promise<void>;
  readonly #after: (target: DeletionTarget, copies: readonly string[]) => Promise<void>;
  readonly #forget: () => void;
  readonly #refresh = new Refresh(() => this.#loadReceipts(), receiptsMs);
  readonly #off: () => void;

  /**
   * before: saves drafts, so that nothing is written to deleted data. after: updates the window. forget: drops lists
   * that may contain deleted data, at once.
   */
  constructor(backend: Backend, changes: Changes, before: () => Promise<void>, after: (target: DeletionTarget, copies: readonly string[]) => Promise<void>, forget: () => void) {
    this.#forget = forget;
    this.#backend = backend;
    this.#before = before;
    this.#after = after;
    this.#off = changes.on(['sessions'], () => this.#refresh.soon());
  }

  get target(): DeletionTarget | null {
    return this.#target;
  }

  /** Null until loaded. */
  get preview(): DeletionPreview | null {
    return this.#preview;
  }

  /** The receipt of the last deletion. */
  get receipt(): ReceiptView | null {
    return this.#receipt;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** The copies that the preview named are to be deleted too. */
  get includes(): boolean {
    return this.#copies.length > 0;
  }

  /** The confirmation was typed, and nothing prevents the deletion. */
  get ready(): boolean {
    return this.#preview !== null && !this.#counting && this.#preview.reason === '' && this.typed.trim().toLowerCase() === this.#preview.confirm;
  }

  /** Changes with each deletion, here or on the command line: lists that were read before may contain deleted data. */
  get count(): number {
    return this.#count;
  }

  show(target: DeletionTarget): void {
    this.#target = target;
    this.#receipt = null;
    this.#preview = null;
    this.#copies = [];
    this.typed = '';
    void this.loadPreview();
  }

  /**
   * Includes the copies that the preview shows in the deletion, or leaves all out. The confirmation must be typed
   * again.
   */
  async include(copies: boolean): Promise<void> {
    if (!this.#preview || this.#busy) return;
    this.#copies = copies ? this.#preview.copies.map((copy) => copy.sessionId) : [];
    this.typed = '';
    await this.loadPreview();
  }

  close(): void {
    if (this.#busy) return;
    this.#serial++;
    this.#target = null;
    this.#preview = null;
    this.#receipt = null;
    this.#error = null;
    this.#copies = [];
    this.typed = '';
  }

  /** Loads the preview. The earlier one stays until then, but cannot be confirmed. */
  async loadPreview(): Promise<void> {
    const target = this.#target;
    if (!target) return;
    const serial = ++this.#serial;
    this.#counting = true;
    this.#error = null;
    try {
      const preview = await this.#backend.storage.previewDeletion(target.kind, target.id, [...this.#copies]);
      if (serial === this.#serial) this.#preview = preview;
    } catch (thrown) {
      if (serial !== this.#serial) return;
      this.#error = toBackendError(thrown);
      this.#preview = null;
      this.#copies = []; // one of them may no longer be a copy
    } finally {
      if (serial === this.#serial) this.#counting = false;
    }
  }

  async delete(): Promise<void> {
    const target = this.#target;
    if (!target || !this.ready || this.#busy) return;
    const copies = [...this.#copies];
    this.#busy = true;
    this.#error = null;
    try {
      await this.#before();
      this.#receipt = await this.#backend.storage.delete(target.kind, target.id, this.typed, copies);
      this.#take([this.#receipt], true);
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    } finally {
      this.#busy = false;
    }
    // Also after a failure: it may be deleted anyway, and the window must show the current data.
    await this.#after(target, copies);
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
      // The next change reads them again.
    }
  }

  /** Newest first. An unknown receipt means that something was deleted since. */
  #take(receipts: readonly ReceiptView[], now = false): void {
    const before = this.#newest;
    this.#newest = receipts[0]?.id ?? '';
    if (!now && (before === undefined || before === this.#newest || this.#newest === '')) return;
    this.#count++;
    this.#forget();
  }
}
