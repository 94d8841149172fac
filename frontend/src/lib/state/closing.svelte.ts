import type { Backend } from '$lib/backend/backend';

/**
 * Asks whether to close the window while answers are arriving; the program requests it if there is no tray to hide in.
 */
export class ClosingState {
  #asked = $state(false);
  /** Whether the question is about the whole program, not only this window. */
  #quitting = false;
  readonly #backend: Pick<Backend, 'closeWindow' | 'work'>;

  constructor(backend: Pick<Backend, 'closeWindow' | 'work'>) {
    this.#backend = backend;
  }

  get asked(): boolean {
    return this.#asked;
  }

  ask(): void {
    this.#asked = true;
  }

  /** Quits the program with all its windows, whether or not there is a tray; asks first if an answer is arriving. */
  quit(answering: boolean): void {
    this.#quitting = true;
    if (answering) this.#asked = true;
    else this.#end(true);
  }

  answer(close: boolean): void {
    if (!this.#asked) return;
    this.#asked = false;
    this.#end(close);
  }

  #end(close: boolean): void {
    const all = close && this.#quitting;
    this.#quitting = false;
    if (!all) this.#backend.closeWindow(close);
    else this.#backend.work.quit().catch(() => this.#backend.closeWindow(true));
  }
}
