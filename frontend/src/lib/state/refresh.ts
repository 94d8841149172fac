/**
 * Runs a load at most once at a time and at most once per pause, however often it is requested: a burst of change
 * events causes two loads, and the last state is always loaded.
 */
export class Refresh {
  readonly #load: () => Promise<void>;
  readonly #pauseMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running = false;
  #again = false;

  constructor(load: () => Promise<void>, pauseMs = 60) {
    this.#load = load;
    this.#pauseMs = pauseMs;
  }

  soon(): void {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#timer ??= setTimeout(() => void this.now(), this.#pauseMs);
  }

  /** Loads at once. If a load is in progress, loads again after it. */
  async now(): Promise<void> {
    this.cancel();
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    try {
      await this.#load();
    } finally {
      this.#running = false;
      if (this.#again) {
        this.#again = false;
        this.soon();
      }
    }
  }

  /** Drops what was requested. A load in progress ends. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#again = false;
  }
}
