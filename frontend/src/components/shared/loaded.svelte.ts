import { toBackendError, type BackendError } from '$lib/backend/errors';

/**
 * A value the program is asked for, and asked for again when something changed.
 *
 * Guarantees: one question is under way at a time; a refresh while one is under way
 * asks once more after it, however many there were; the answer to a question from
 * before a reset is dropped. The last good value stays while an error is shown.
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

  /** Takes a value that an act has just brought back, without asking. */
  put(value: T): void {
    this.#generation++;
    this.#loading = false;
    this.#value = value;
    this.#error = undefined;
  }

  /** Forgets everything: what it stood for is no longer what is looked at. */
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
 * An act of the user that may fail: which one runs, and what the last one ended with.
 * The error stays until the next act, beside the button that caused it.
 */
export class Act {
  #running = $state('');
  #failed = $state('');
  #error = $state.raw<BackendError>();

  /** The name of the act under way, or "". */
  get running(): string {
    return this.#running;
  }

  get error(): BackendError | undefined {
    return this.#error;
  }

  /** The error of the act of that name, if it is the one that failed. */
  errorOf(name: string): BackendError | undefined {
    return this.#failed === name ? this.#error : undefined;
  }

  clear(): void {
    this.#failed = '';
    this.#error = undefined;
  }

  /** Runs one act at a time; says whether it went well. */
  async run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    if (this.#running) return false;
    this.clear();
    this.#running = name;
    try {
      await work();
      return true;
    } catch (thrown) {
      this.#failed = name;
      this.#error = toBackendError(thrown);
      return false;
    } finally {
      this.#running = '';
    }
  }
}
