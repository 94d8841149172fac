import type { Backend } from '$lib/backend/backend';

/**
 * Asks whether to close the window while answers are arriving; the program requests it if there is no tray to hide in.
 */
export class ClosingState {
  #asked = $state(false);
  readonly #backend: Pick<Backend, 'closeWindow'>;

  constructor(backend: Pick<Backend, 'closeWindow'>) {
    this.#backend = backend;
  }

  get asked(): boolean {
    return this.#asked;
  }

  ask(): void {
    this.#asked = true;
  }

  /** Quits the program, whether or not there is a tray. */
  quit(answering: boolean): void {
    if (answering) this.#asked = true;
    else this.#backend.closeWindow(true);
  }

  answer(close: boolean): void {
    if (!this.#asked) return;
    this.#asked = false;
    this.#backend.closeWindow(close);
  }
}
