import type { Backend } from '$lib/backend/backend';
import { BackendError } from '$lib/backend/errors';
import type { QueuedMessage, QueueView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { merge, type DraftState } from './draft.svelte';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

const none: QueueView = { messages: [], held: '', error: null };

/** The messages of the open branch that wait to be sent. The program keeps them and sends them. */
export class QueueState {
  #branchId = '';
  #view = $state.raw<QueueView>(none);
  /** Numbers the requests: only the reply to the newest one is used. */
  #serial = 0;
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get messages(): readonly QueuedMessage[] {
    return this.#view.messages;
  }

  /** Why the messages are not sent automatically; empty if they are. */
  get holdReason(): QueueView['held'] {
    return this.#view.held;
  }

  /** Why the next message could not be sent; null without an error. */
  get error(): BackendError | null {
    return this.#view.error && new BackendError(this.#view.error);
  }

  /** Shows the queue of a branch that was opened. */
  load(branchId: string, view: QueueView): void {
    this.#serial++;
    this.#branchId = branchId;
    this.#view = view;
  }

  /** Reads the queue of a branch again after a change, if that branch is open. */
  async reload(branchId: string): Promise<void> {
    if (branchId !== this.#branchId) return;
    const serial = ++this.#serial;
    const view = await this.#backend.chat.queue(branchId).catch(() => null); // the next change of the queue reads it again
    if (view && serial === this.#serial) this.#view = view;
  }

  /** Sends the messages: the first now, or when the running answer is complete. */
  async send(): Promise<void> {
    const branchId = this.#branchId;
    try {
      await this.#backend.chat.sendQueue(branchId);
    } finally {
      await this.reload(branchId);
    }
  }

  async move(id: string, to: number): Promise<void> {
    const branchId = this.#branchId;
    if (to < 0 || to >= this.messages.length) return;
    try {
      await this.#backend.chat.moveQueued(id, to);
    } finally {
      await this.reload(branchId);
    }
  }

  /** Moves a message back into the message field, above the text that is already there. */
  async edit(id: string, draft: DraftState): Promise<void> {
    const branchId = this.#branchId;
    await draft.flush();
    try {
      const message = await draft.handOver(() => this.#backend.chat.editQueued(id));
      if (draft.branchId === branchId) draft.content = merge(message, draft.content);
    } finally {
      await this.reload(branchId);
    }
  }

  async remove(id: string, undo: UndoState, toasts: ToastsState): Promise<void> {
    const branchId = this.#branchId;
    const at = this.messages.findIndex((message) => message.id === id);
    try {
      const message = await this.#backend.chat.removeQueued(id);
      undo.record({ text: t('state.queuedDeleted'), undo: () => this.#backend.chat.restoreQueued(branchId, message, at), undone: t('state.queuedRestored'), holdsText: true });
    } catch (error) {
      toasts.error(error);
    }
    await this.reload(branchId);
  }
}
