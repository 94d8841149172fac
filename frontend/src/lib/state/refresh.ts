/**
 * Runs a load at most once at a time and at most once per pause, however often it is asked for: a burst of change
 * events costs two loads, and the last state is always seen.
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

  /** Loads at once, unless a load is under way: then once more after it. */
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

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
