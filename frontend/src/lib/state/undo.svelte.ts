import { language, t } from '$lib/i18n/i18n.svelte';
import type { ToastsState } from './toasts.svelte';

/** An action that was done, and how to undo it. */
export interface Done {
  /** In the past: "Archived “Rye loaf”". */
  text: string;
  /** Undoes it; throws if that fails, and the user can then try again. */
  undo: () => Promise<unknown>;
  /** Shown after it was undone. */
  undone?: string | undefined;
  /** It would bring back text that may repeat what is deleted permanently later. */
  holdsText?: boolean;
}

/** How many actions can be undone, the newest first. */
const maxUndoable = 20;

/**
 * The actions that can be undone: with the button of the toast while it is shown, and at any time with Ctrl+Z outside a
 * text field, the newest first. Kept until the window closes.
 */
export class UndoState {
  #stack = $state.raw<readonly (Done & { toast: number })[]>([]);
  #running = false;
  readonly #toasts: ToastsState;

  constructor(toasts: ToastsState) {
    this.#toasts = toasts;
  }

  /** The action that Ctrl+Z would undo; empty for none. */
  get next(): string {
    return this.#stack.at(-1)?.text ?? '';
  }

  /** Reports that something was done, and how to undo it. */
  record(done: Done): void {
    const entry = { ...done, toast: 0 };
    entry.toast = this.#toasts.show(done.text, { action: { label: t('shared.undo'), run: () => void this.#undoEntry(entry) } });
    this.#stack = [...this.#stack.slice(1 - maxUndoable), entry];
  }

  /** Undoes the newest action. Returns whether there was one. */
  async undo(): Promise<boolean> {
    const entry = this.#stack.at(-1);
    if (!entry || this.#running) return false;
    this.#toasts.dismiss(entry.toast);
    await this.#undoEntry(entry);
    return true;
  }

  /** Something was permanently deleted: what holds text can no longer be undone, since the text may contain it. */
  forget(): void {
    for (const entry of this.#stack) if (entry.holdsText) this.#toasts.dismiss(entry.toast);
    this.#stack = this.#stack.filter((entry) => !entry.holdsText);
  }

  /** One at a time, and each once: if a button is pressed twice, or with the key, the second has no effect. */
  async #undoEntry(entry: Done & { toast: number }): Promise<void> {
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

/** "archived it": only English continues in lower case after a colon. */
const lowered = (text: string): string => (language() === 'en' ? text.charAt(0).toLowerCase() + text.slice(1) : text);
