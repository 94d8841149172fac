import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'models' | 'sessions'>;

/** The setting of the memory scope. */
const key = 'retrieval.scope';

/** The scopes that are offered. */
export type AskedScope = 'lineage' | 'project' | 'all';

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
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['settings'], () => void this.#version++);
  }

  /** Recall answers here: it sends nothing, and outside projects it searches all chats until the user has chosen. */
  get withRecall(): boolean {
    const { conversation, models } = this.#parts;
    return models.find(conversation.header?.model ?? '')?.provider === 'recall';
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

  /** The chats of a project share memory unless one has a scope of its own. */
  get inProject(): boolean {
    return (this.#parts.conversation.header?.projectId ?? '') !== '';
  }

  async choose(scope: AskedScope): Promise<void> {
    const { backend, conversation } = this.#parts;
    if (scope === 'lineage' && this.inProject) await backend.projects.setScope(conversation.sessionId, scope);
    await backend.settings.set(key, scope);
    this.#seen = { version: this.#version, chosen: true };
  }

  stop(): void {
    this.#off();
  }
}
