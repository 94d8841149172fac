import { toBackendError } from '$lib/backend/errors';
import type { SessionRow } from '$lib/backend/types';
import type { App } from './app.svelte';
import type { DeletionTarget } from './deletion.svelte';

type Parts = Pick<App, 'arranging' | 'backend' | 'composer' | 'conversation' | 'deletion' | 'navigation' | 'projects' | 'sessions'>;

/** Actions on whole sessions. If the open session is archived or deleted, another one is opened. */
export class SessionActions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Archives a session, or restores it from the archive. */
  async archive(sessionId: string, archived: boolean): Promise<void> {
    const { conversation, navigation, sessions } = this.#parts;
    const row = this.#row(sessionId);
    if (!row || !(await sessions.archive(row, archived))) return;
    if (archived && sessionId === conversation.sessionId) await navigation.openLast('');
  }

  /** The same for several: all of them or none. */
  async archiveAll(ids: readonly string[], archived: boolean): Promise<void> {
    if (ids.length === 1) return this.archive(ids[0]!, archived);
    if (!(await this.#parts.arranging.archive(ids, archived))) return;
    if (archived && ids.includes(this.#parts.conversation.sessionId)) await this.#parts.navigation.openLast('');
  }

  /** Copies a session and opens the copy. */
  async duplicate(sessionId: string): Promise<void> {
    const row = await this.#parts.arranging.duplicate(sessionId);
    if (row) await this.#parts.navigation.openSession(row.id);
  }

  /** Opens the dialog to delete a session permanently. */
  askToDelete(sessionId: string): void {
    const row = this.#row(sessionId);
    this.#parts.deletion.show({ kind: 'session', id: sessionId, archivable: row !== null && !row.archived });
  }

  /** Updates the list and the open conversation after a permanent deletion, with the sessions that were deleted as copies. */
  async deleted(target: DeletionTarget, copies: readonly string[]): Promise<void> {
    const { composer, conversation, navigation, projects, sessions } = this.#parts;
    await sessions.load();
    if (target.kind === 'project') {
      await projects.load();
      conversation.refreshHeader();
    } else if (target.kind === 'turn') {
      if (composer.editing?.turnId === target.id) composer.endEdit();
      await conversation.refreshTurn(target.id);
    } else if ([target.id, ...copies].includes(conversation.sessionId) && (await this.#gone(conversation.sessionId))) await navigation.openLast('');
  }

  #row(sessionId: string): SessionRow | null {
    const { conversation, sessions } = this.#parts;
    return sessions.find(sessionId) ?? (sessionId === conversation.sessionId ? conversation.session : null);
  }

  async #gone(sessionId: string): Promise<boolean> {
    try {
      await this.#parts.backend.sessions.open(sessionId, '');
      return false;
    } catch (error) {
      return toBackendError(error).code === 'not_found';
    }
  }
}
