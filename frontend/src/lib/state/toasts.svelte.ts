import { toBackendError } from '$lib/backend/errors';
import { getContext, setContext } from 'svelte';

export interface Toast {
  id: number;
  tone: 'info' | 'ok' | 'warn' | 'danger';
  text: string;
  /** The suggested action, as text. */
  hint: string;
  action: { label: string; run: () => void } | null;
}

/** How long a toast stays: long enough to read it, longer if it has an action. */
const stayMs = 6_000;
const stayWithActionMs = 10_000;

const contextKey = Symbol('toasts');

export function setToasts(toasts: ToastsState): void {
  setContext(contextKey, toasts);
}

/** Undefined outside the window, for example on a page that only draws components. */
export function getToasts(): ToastsState | undefined {
  return getContext<ToastsState | undefined>(contextKey);
}

/** Short notices. Anything important is also shown in its proper place. */
export class ToastsState {
  #list = $state.raw<Toast[]>([]);
  /** The open modal dialogs, the topmost last, each with the id of the first notice created after it opened. */
  #modals = $state.raw<readonly { id: string; first: number }[]>([]);
  #next = 1;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();

  get list(): readonly Toast[] {
    return this.#list;
  }

  /** The topmost modal dialog, which shows the notices: everything outside it is inert. Empty if there is none. */
  get modal(): string {
    return this.#modals.at(-1)?.id ?? '';
  }

  /** The notice to show. A dialog shows only notices created since it opened: earlier ones are about the view below. */
  get shown(): Toast | undefined {
    const newest = this.#list.at(-1);
    return newest && newest.id >= (this.#modals.at(-1)?.first ?? 0) ? newest : undefined;
  }

  /** A modal dialog opened. */
  enter(modal: string): void {
    this.#modals = [...this.#modals, { id: modal, first: this.#next }];
  }

  /** It closed; a notice under the pointer is now drawn elsewhere. */
  leave(modal: string): void {
    this.#modals = this.#modals.filter(({ id }) => id !== modal);
    for (const toast of this.#list) this.resume(toast.id);
  }

  show(text: string, options: Partial<Pick<Toast, 'tone' | 'hint' | 'action'>> = {}): number {
    const toast: Toast = { id: this.#next++, tone: options.tone ?? 'info', text, hint: options.hint ?? '', action: options.action ?? null };
    this.#list = [...this.#list.slice(-3), toast];
    this.resume(toast.id);
    return toast.id;
  }

  /** A failed action: what happened, and what to do. */
  error(thrown: unknown): number {
    const error = toBackendError(thrown);
    return this.show(error.message, { tone: 'danger', hint: error.hint });
  }

  act(id: number): void {
    const action = this.#list.find((toast) => toast.id === id)?.action;
    this.dismiss(id);
    action?.run();
  }

  dismiss(id: number): void {
    this.pause(id);
    this.#list = this.#list.filter((toast) => toast.id !== id);
  }

  /** A toast stays while the pointer or the focus is on it. */
  pause(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  resume(id: number): void {
    const toast = this.#list.find((candidate) => candidate.id === id);
    if (!toast) return;
    this.pause(id);
    this.#timers.set(id, setTimeout(() => this.dismiss(id), toast.action ? stayWithActionMs : stayMs));
  }
}
