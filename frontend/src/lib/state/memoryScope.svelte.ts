import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'composer' | 'conversation' | 'models' | 'sessions'>;

/** The setting of the memory scope. */
const key = 'retrieval.scope';

/** The scopes that are offered. */
export type OfferedScope = 'lineage' | 'project' | 'all';

/**
 * The question about the memory scope: asked in a new conversation before its first message, if there are other
 * conversations, until the user has chosen. The choice is stored as the setting.
 */
export class MemoryScope {
  /** Counts the changes of the settings. */
  #version = $state(0);
  /** Whether the user has chosen, and at which version of the settings that was read. */
  #seen = $state.raw<{ version: number; chosen: boolean } | null>(null);
  #loading = -1;
  /** The scope with the model of the next message only. */
  #once = $state.raw<{ branchId: string; model: string; scope: string } | null>(null);
  #serial = 0;
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['settings'], () => void this.#version++);
  }

  /** Recall answers here: it sends nothing, and outside projects it searches all sessions until the user has chosen. */
  get withRecall(): boolean {
    const { conversation, models } = this.#parts;
    return models.find(conversation.header?.model ?? '')?.provider === 'recall';
  }

  /** The scope of the next message: that of the session, or with the model that is chosen for this message only. */
  get scope(): string {
    const { composer, conversation } = this.#parts;
    const once = this.#once;
    const same = once !== null && once.branchId === conversation.branchId && once.model === (composer.once?.model ?? '');
    return same ? once.scope : (conversation.header?.scope ?? '');
  }

  /** Reads the scope with the model of the next message, if it differs from the session's. */
  async follow(): Promise<void> {
    const { backend, composer, conversation } = this.#parts;
    const { branchId } = conversation;
    const model = composer.once?.model ?? '';
    const serial = ++this.#serial;
    if (model === '' || branchId === '') return void (this.#once = null);
    const header = await backend.sessions.header(branchId, model).catch(() => null); // the session's is shown
    if (serial === this.#serial) this.#once = header && { branchId, model, scope: header.scope };
  }

  /** Memory of other conversations is relevant for the next message. */
  get matters(): boolean {
    const { conversation, sessions } = this.#parts;
    return conversation.header?.infinity === true && !this.withRecall && conversation.session?.turns === 0 && sessions.list.some((row) => row.turns > 0 && row.id !== conversation.sessionId);
  }

  get asking(): boolean {
    return this.matters && this.#seen?.chosen === false;
  }

  /** Reads whether the user has chosen, if that matters: once for each version of the settings. */
  async load(): Promise<void> {
    const version = this.#version;
    if (!this.matters || this.#seen?.version === version || this.#loading === version) return;
    this.#loading = version;
    try {
      const { settings } = await this.#parts.backend.settings.settings();
      const setting = settings.find((candidate) => candidate.key === key);
      if (version === this.#version) this.#seen = { version, chosen: setting === undefined || setting.origin !== 'default' };
    } catch {
      this.#loading = -1; // the next conversation tries again
    }
  }

  /** The sessions of a project share memory unless one has a scope of its own. */
  get inProject(): boolean {
    return (this.#parts.conversation.header?.projectId ?? '') !== '';
  }

  async choose(scope: OfferedScope): Promise<void> {
    const { backend, conversation } = this.#parts;
    if (scope === 'lineage' && this.inProject) await backend.projects.setScope(conversation.sessionId, scope);
    await backend.settings.set(key, scope);
    this.#seen = { version: this.#version, chosen: true };
  }

  stop(): void {
    this.#off();
  }
}
