import type { Backend } from '$lib/backend/backend';
import type { SyncView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** How often the view is read although nothing changed, in ms: trouble that lasts becomes news. */
const everyMs = 60_000;

/** What is known of the vault that several computers share. */
export class SyncState {
  #view = $state.raw<SyncView>();
  readonly #refresh: Refresh;
  readonly #off: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(backend: Backend, changes: Changes) {
    this.#refresh = new Refresh(async () => {
      try {
        this.#view = await backend.sync.view();
      } catch {
        // The page that shows it reads it again.
      }
    }, 150);
    this.#off = changes.on(['vault', 'jobs', 'settings'], () => this.#refresh.soon());
  }

  /** Undefined until loaded. */
  get view(): SyncView | undefined {
    return this.#view;
  }

  /** Something is not as it should be, and does not pass by itself. */
  get attention(): boolean {
    return this.#view?.attention ?? false;
  }

  load(): Promise<void> {
    this.#timer ??= setInterval(() => this.#view?.connected && this.#refresh.soon(), everyMs);
    return this.#refresh.now();
  }

  stop(): void {
    this.#off();
    clearInterval(this.#timer);
    this.#refresh.cancel();
  }
}
