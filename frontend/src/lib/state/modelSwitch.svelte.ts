import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { SwitchPreview } from '$lib/backend/types';
import type { ConversationState } from './conversation.svelte';
import type { ToastsState } from './toasts.svelte';

/**
 * Switching the model. A switch that does not affect the history happens at once. One that restores original turns or
 * compresses them shows a preview first and needs a confirmation (SPEC 6).
 */
export class ModelSwitch {
  #preview = $state.raw<SwitchPreview | null>(null);
  #error = $state.raw<BackendError | null>(null);
  #busy = $state(false);
  #serial = 0;
  #session = '';
  readonly #backend: Backend;
  readonly #conversation: ConversationState;
  readonly #toasts: ToastsState;

  constructor(backend: Backend, conversation: ConversationState, toasts: ToastsState) {
    this.#backend = backend;
    this.#conversation = conversation;
    this.#toasts = toasts;
  }

  /** The effects of the requested switch, while it waits for the confirmation. */
  get preview(): SwitchPreview | null {
    return this.#preview;
  }

  /** Why the confirmed switch failed. */
  get error(): BackendError | null {
    return this.#error;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** The later of two calls wins. */
  async ask(model: string): Promise<void> {
    const { branchId, sessionId } = this.#conversation;
    if (model === this.#conversation.model || sessionId === '') return;
    const serial = ++this.#serial;
    try {
      const preview = await this.#backend.inspect.switchPreview(branchId, model);
      if (serial !== this.#serial || sessionId !== this.#conversation.sessionId) return;
      if (changesNothing(preview)) await this.#take(sessionId, model);
      else {
        this.#session = sessionId;
        this.#error = null;
        this.#preview = preview;
      }
    } catch (error) {
      this.#toasts.error(error);
    }
  }

  async confirm(): Promise<void> {
    if (this.#preview === null || this.#busy) return;
    this.#busy = true;
    try {
      await this.#take(this.#session, this.#preview.model);
      this.#preview = null;
    } catch (error) {
      this.#error = toBackendError(error);
    } finally {
      this.#busy = false;
    }
  }

  cancel(): void {
    this.#serial++;
    this.#preview = null;
    this.#error = null;
  }

  async #take(sessionId: string, model: string): Promise<void> {
    await this.#backend.chat.setModel(sessionId, model);
    this.#conversation.refreshHeader();
  }
}

/** No turn is restored, compressed or left out, and everything fits. */
export function changesNothing(preview: SwitchPreview): boolean {
  return preview.error === null && preview.returning === 0 && preview.compressed === 0 && preview.dropped === 0;
}
