import { toBackendError, type BackendError } from '$lib/backend/errors';

/**
 * A value that is loaded from the program, and reloaded when something changed.
 *
 * Guarantees: only one load runs at a time; any number of refreshes during a load cause one more load after it; the
 * result of a load that started before a reset is dropped. The last value stays while an error is shown.
 */
export class Loaded<T> {
  #value = $state.raw<T>();
  #error = $state.raw<BackendError>();
  #loading = $state(false);
  #again = false;
  #generation = 0;
  readonly #ask: () => Promise<T>;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  get value(): T | undefined {
    return this.#value;
  }

  get error(): BackendError | undefined {
    return this.#error;
  }

  get loading(): boolean {
    return this.#loading;
  }

  /** Sets a value that an action has returned, without loading it. */
  put(value: T): void {
    this.#generation++;
    this.#loading = false;
    this.#value = value;
    this.#error = undefined;
  }

  /** Drops the value, because it belongs to something that is no longer shown. */
  reset(): void {
    this.#generation++;
    this.#again = false;
    this.#loading = false;
    this.#value = undefined;
    this.#error = undefined;
  }

  async refresh(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return;
    }
    const generation = this.#generation;
    this.#loading = true;
    await this.#settle(generation);
    if (generation !== this.#generation) return;
    this.#loading = false;
    if (!this.#again) return;
    this.#again = false;
    await this.refresh();
  }

  async #settle(generation: number): Promise<void> {
    try {
      const value = await this.#ask();
      if (generation !== this.#generation) return;
      this.#value = value;
      this.#error = undefined;
    } catch (thrown) {
      if (generation === this.#generation) this.#error = toBackendError(thrown);
    }
  }
}

/**
 * An action of the user that may fail: which one is running, and the error of the last one. The error stays until the
 * next action, beside the button that caused it.
 */
export class Act {
  #running = $state('');
  #failedAction = $state('');
  #error = $state.raw<BackendError>();

  /** The name of the running action, or "". */
  get running(): string {
    return this.#running;
  }

  get error(): BackendError | undefined {
    return this.#error;
  }

  /** The error of the action with that name, if it is the one that failed. */
  errorOf(name: string): BackendError | undefined {
    return this.#failedAction === name ? this.#error : undefined;
  }

  clear(): void {
    this.#failedAction = '';
    this.#error = undefined;
  }

  /** Runs one action at a time; returns whether it succeeded. */
  async run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    if (this.#running) return false;
    this.clear();
    this.#running = name;
    try {
      await work();
      return true;
    } catch (thrown) {
      this.#failedAction = name;
      this.#error = toBackendError(thrown);
      return false;
    } finally {
      this.#running = '';
    }
  }
}
