import type { Backend } from '$lib/backend/backend';
import { toBackendError } from '$lib/backend/errors';
import type { ErrorView, Startup } from '$lib/backend/types';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';

/**
 * The first requests of the window: whether the program works, whether this is the first start, and what was open last.
 */
export class StartupState {
  #info = $state.raw<Startup | null>(null);
  #error = $state.raw<ErrorView | null>(null);
  #firstRun = $state(false);
  #configError = $state('');
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Null until the answer has arrived. */
  get info(): Startup | null {
    return this.#info;
  }

  /** The data could not be opened, or the program does not respond. */
  get fatal(): ErrorView | null {
    return this.#info?.fatal ?? this.#error;
  }

  /** The error of the configuration file as it is now; empty if it has none. */
  get configError(): string {
    return this.#configError;
  }

  /** What is wrong with the file, and what is in effect instead. */
  get configFault(): { error: string; path: string; defaults: boolean } {
    return { error: this.#configError, path: this.#info?.configPath ?? '', defaults: this.#info?.configDefaults ?? false };
  }

  /** The file was read again while the program runs. */
  adoptConfigError(error: string): void {
    this.#configError = error;
  }

  get firstRun(): boolean {
    return this.#firstRun;
  }

  async load(): Promise<void> {
    try {
      const info = await this.#backend.settings.startup();
      await chooseLanguage(info.language); // before anything is shown
      this.#info = info;
      this.#firstRun = info.firstRun;
      this.#configError = info.configError;
      this.#error = null;
    } catch (thrown) {
      await chooseLanguage('system');
      const error = toBackendError(thrown);
      this.#error = { code: error.code, op: error.op, message: error.message, hint: error.hint };
    }
  }

  /**
   * Completes the first run with the chosen model; empty: the default is unchanged. Rejects if it could not be saved.
   */
  async finishFirstRun(model: string): Promise<void> {
    await this.#backend.settings.finishFirstRun(model);
    this.#firstRun = false;
  }
}
