import type { Backend } from '$lib/backend/backend';
import type { SessionRow } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';

/** The session list: what it is filtered by, and what one does to a session. */
export class SessionsState {
  #list = $state.raw<SessionRow[]>([]);
  #filter = $state('');
  #archived = $state(false);
  #loaded = $state(false);
  readonly #backend: Backend;
  readonly #toasts: ToastsState;
  readonly #refresh = new Refresh(() => this.#load());
  readonly #search = new Refresh(() => this.#load(), 120);
  readonly #off: () => void;

  constructor(backend: Backend, changes: Changes, toasts: ToastsState) {
    this.#backend = backend;
    this.#toasts = toasts;
    this.#off = changes.on(['sessions', 'session', 'turn', 'head'], () => this.#refresh.soon());
  }

  get list(): readonly SessionRow[] {
    return this.#list;
  }

  get filter(): string {
    return this.#filter;
  }

  set filter(title: string) {
    this.#filter = title;
    this.#search.soon();
  }

  /** Shows the archive in place of the list. */
  get archived(): boolean {
    return this.#archived;
  }

  set archived(archived: boolean) {
    this.#archived = archived;
    void this.#refresh.now();
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  find(id: string): SessionRow | undefined {
    return this.#list.find((row) => row.id === id);
  }

  async load(): Promise<void> {
    await this.#refresh.now();
  }

  async rename(id: string, title: string): Promise<void> {
    const name = title.trim();
    if (name !== '' && name !== this.find(id)?.title) await this.#do(() => this.#backend.sessions.rename(id, name));
  }

  async pin(id: string, pinned: boolean): Promise<void> {
    await this.#do(() => this.#backend.sessions.pin(id, pinned));
  }

  /** Puts a session away, or takes it out again. Nothing is deleted, and it can be undone from the toast. */
  async archive(row: SessionRow, archived: boolean): Promise<boolean> {
    const done = await this.#do(() => this.#backend.sessions.archive(row.id, archived));
    if (!done) return false;
    const undo = { label: 'Undo', run: () => void this.#do(() => this.#backend.sessions.archive(row.id, !archived)) };
    this.#toasts.show(archived ? `Archived “${row.title || 'New conversation'}”` : `“${row.title || 'New conversation'}” is back in the list`, { action: undo });
    return true;
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
    this.#search.cancel();
  }

  async #load(): Promise<void> {
    try {
      this.#list = await this.#backend.sessions.list(this.#archived, this.#filter.trim());
      this.#loaded = true;
    } catch (error) {
      this.#toasts.error(error);
    }
  }

  async #do(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
    } catch (error) {
      this.#toasts.error(error);
      return false;
    }
    await this.#refresh.now();
    return true;
  }
}
