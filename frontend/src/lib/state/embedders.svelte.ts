import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { EmbedderEstimate, EmbeddersView, EmbedderView } from '$lib/backend/types';
import type { ToastsState } from './toasts.svelte';

interface Parts {
  readonly backend: Backend;
  readonly toasts: ToastsState;
}

/**
 * The embedder that indexes the history. An available model embedder is offered once; the user reviews its cost and
 * time before switching.
 */
export class EmbeddersState {
  #view = $state.raw<EmbeddersView>();
  #error = $state.raw<BackendError>();
  #loading = $state(false);
  #reviewing = $state.raw<EmbedderView>();
  #estimate = $state.raw<EmbedderEstimate>();
  #reviewError = $state.raw<BackendError>();
  #switching = $state(false);
  #requested = false;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get view(): EmbeddersView | undefined {
    return this.#view;
  }

  get error(): BackendError | undefined {
    return this.#error;
  }

  get loading(): boolean {
    return this.#loading;
  }

  /** The option to offer; undefined if there is none or the user has already responded. */
  get offer(): EmbedderView | undefined {
    return this.#view?.options.find((option) => option.id === this.#view?.offer);
  }

  /** The option whose cost and time are shown. */
  get reviewing(): EmbedderView | undefined {
    return this.#reviewing;
  }

  /** Undefined while it is being measured, or if that failed. */
  get estimate(): EmbedderEstimate | undefined {
    return this.#estimate;
  }

  get reviewError(): BackendError | undefined {
    return this.#reviewError;
  }

  get switching(): boolean {
    return this.#switching;
  }

  /** Searches for embedders once per run of the program, for the offer. If that fails, nothing is offered. */
  async loadOnce(): Promise<void> {
    if (this.#requested) return;
    await this.load();
  }

  async load(): Promise<void> {
    if (this.#loading) return;
    this.#requested = true;
    this.#loading = true;
    try {
      this.#view = await this.#parts.backend.embedders.embedders();
      this.#error = undefined;
    } catch (error) {
      this.#error = toBackendError(error);
    } finally {
      this.#loading = false;
    }
  }

  /** Shows an option's cost and time. Only sample texts are sent to measure them. */
  async review(option: EmbedderView): Promise<void> {
    this.#reviewing = option;
    this.#estimate = undefined;
    this.#reviewError = undefined;
    try {
      const estimate = await this.#parts.backend.embedders.estimate(option.id);
      if (this.#reviewing === option) this.#estimate = estimate;
    } catch (error) {
      if (this.#reviewing === option) this.#reviewError = toBackendError(error);
    }
  }

  cancelReview(): void {
    if (!this.#switching) this.#reviewing = undefined;
  }

  /** Switches to the reviewed option. */
  async use(): Promise<void> {
    const option = this.#reviewing;
    if (!option) return;
    await this.#switch(() => this.#parts.backend.embedders.use(option.id));
  }

  async useBuiltIn(): Promise<void> {
    await this.#switch(() => this.#parts.backend.embedders.useBuiltIn());
  }

  async #switch(act: () => Promise<EmbeddersView>): Promise<void> {
    if (this.#switching) return;
    this.#switching = true;
    try {
      this.#view = await act();
      this.#reviewing = undefined;
    } catch (error) {
      if (this.#reviewing) this.#reviewError = toBackendError(error);
      else this.#parts.toasts.error(error);
    } finally {
      this.#switching = false;
    }
  }

  async dismiss(): Promise<void> {
    if (!this.#view) return;
    this.#view = { ...this.#view, offer: '' };
    try {
      await this.#parts.backend.embedders.dismissOffer();
    } catch (error) {
      this.#parts.toasts.error(error);
    }
  }
}
