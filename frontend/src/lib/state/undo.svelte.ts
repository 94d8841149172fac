import { language, t } from '$lib/words/words.svelte';
import type { ToastsState } from './toasts.svelte';

/** What was done, and how it is taken back. */
export interface Done {
  /** In the past: "Archived “Rye loaf”". */
  text: string;
  /** Takes it back; throws if it cannot, and it can be tried again then. */
  undo: () => Promise<unknown>;
  /** Said once it was taken back. */
  undone?: string | undefined;
}

/** How many acts can be taken back, the newest first. */
const kept = 20;

/**
 * What can be taken back: by the button of its toast while that is shown, by Ctrl+Z outside a text field at any time
 * after, the newest first. It lives as long as the window.
 */
export class UndoState {
  #stack = $state.raw<readonly (Done & { toast: number })[]>([]);
  #running = false;
  readonly #toasts: ToastsState;

  constructor(toasts: ToastsState) {
    this.#toasts = toasts;
  }

  /** What Ctrl+Z would take back; empty for nothing. */
  get next(): string {
    return this.#stack.at(-1)?.text ?? '';
  }

  /** Tells that something was done, with a way back. */
  did(done: Done): void {
    const entry = { ...done, toast: 0 };
    entry.toast = this.#toasts.show(done.text, { action: { label: t('state.undo'), run: () => void this.#back(entry) } });
    this.#stack = [...this.#stack.slice(1 - kept), entry];
  }

  /** Takes the newest act back. Says whether there was one. */
  async undo(): Promise<boolean> {
    const entry = this.#stack.at(-1);
    if (!entry || this.#running) return false;
    this.#toasts.dismiss(entry.toast);
    await this.#back(entry);
    return true;
  }

  /** One at a time, and each once: of a button pressed twice, or with the key, the second does nothing. */
  async #back(entry: Done & { toast: number }): Promise<void> {
    if (this.#running || !this.#stack.includes(entry)) return;
    this.#running = true;
    try {
      await entry.undo();
      this.#stack = this.#stack.filter((other) => other !== entry);
      this.#toasts.show(entry.undone ?? t('state.undone', { what: lowered(entry.text) }));
    } catch (error) {
      this.#toasts.error(error);
    } finally {
      this.#running = false;
    }
  }
}

/** "archived it": English alone continues in lower case after a colon. */
const lowered = (text: string): string => (language() === 'en' ? text.charAt(0).toLowerCase() + text.slice(1) : text);
