import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { App } from './app.svelte';

type Parts = Pick<App, 'arranging' | 'backend' | 'deletion' | 'draft' | 'sessionActions' | 'sessions'>;

export interface Doomed {
  id: string;
  title: string;
  /** Why it was not deleted. */
  error?: BackendError;
}

/**
 * Permanent deletion of several sessions after one confirmation: each is deleted like a single one (deletion), with a
 * receipt of its own. One that cannot be deleted does not keep the others.
 */
export class DeletingSeveral {
  /** The sessions that are not deleted yet; null: the dialog is closed. */
  #sessions = $state.raw<readonly Doomed[] | null>(null);
  #count = $state(0);
  #deleted = $state(0);
  #word = $state('');
  #busy = $state(false);
  #stopping = false;
  typed = $state('');
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get sessions(): readonly Doomed[] | null {
    return this.#sessions;
  }

  /** How many were to be deleted at first. */
  get count(): number {
    return this.#count;
  }

  get deleted(): number {
    return this.#deleted;
  }

  /** The word to type; empty until it is known. */
  get word(): string {
    return this.#word;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get ready(): boolean {
    return !this.#busy && this.#word !== '' && this.typed.trim().toLowerCase() === this.#word;
  }

  /** One session has its own dialog, which says more. */
  async ask(ids: readonly string[]): Promise<void> {
    const { backend, sessionActions, sessions } = this.#parts;
    if (ids.length === 1) return sessionActions.askToDelete(ids[0]!);
    this.#sessions = ids.map((id) => ({ id, title: sessions.find(id)?.title ?? '' }));
    this.#count = ids.length;
    this.#deleted = 0;
    this.typed = this.#word = '';
    this.#word = (await backend.storage.previewDeletion('session', ids[0]!, [])).confirm;
  }

  async delete(): Promise<void> {
    const { arranging, backend, deletion, draft, sessionActions } = this.#parts;
    if (!this.ready) return;
    this.#busy = true;
    this.#stopping = false;
    await draft.flush(); // nothing is written to deleted data
    for (const { id, title } of this.#sessions ?? []) {
      if (this.#stopping) break;
      try {
        await backend.storage.delete('session', id, this.typed, []);
        this.#deleted++;
        this.#sessions = this.#sessions!.filter((session) => session.id !== id);
      } catch (error) {
        this.#sessions = this.#sessions!.map((session) => (session.id === id ? { id, title, error: toBackendError(error) } : session));
      }
      await sessionActions.deleted({ kind: 'session', id, archivable: false }, []); // also after a failure: it may be deleted anyway
    }
    this.#busy = false;
    this.typed = '';
    await deletion.load(); // drops what was read earlier
    arranging.selection.clear();
    if (this.#sessions?.length === 0) this.close();
  }

  /** Ends the dialog; while sessions are deleted, ends after the current one. */
  close(): void {
    this.#stopping = true;
    if (!this.#busy) this.#sessions = null;
  }
}
