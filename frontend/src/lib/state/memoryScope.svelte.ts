import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'sessions'>;

/** The setting of the memory scope. */
const key = 'retrieval.scope';

/** The scopes that are offered. */
export type AskedScope = 'lineage' | 'project' | 'all';

/**
 * The question about the memory scope: asked in a new conversation before its first message, if there are other
 * conversations, until the user has chosen. The choice is stored as the setting.
 */
export class MemoryScope {
  /** undefined: not read yet. */
  #chosen = $state<boolean | undefined>(undefined);
  #asked = false;
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['settings'], () => (this.#asked = false, this.#chosen = undefined));
  }

  /** Memory of other conversations is relevant for the next message. */
  get matters(): boolean {
    const { conversation, sessions } = this.#parts;
    return conversation.header?.infinity === true && conversation.session?.turns === 0 && sessions.list.some((row) => row.turns > 0 && row.id !== conversation.sessionId);
  }

  get asking(): boolean {
    return this.matters && this.#chosen === false;
  }

  /** Reads whether the user has chosen, once and after the settings changed. */
  async look(): Promise<void> {
    if (this.#asked || !this.matters) return;
    this.#asked = true;
    try {
      const { settings } = await this.#parts.backend.settings.settings();
      const setting = settings.find((candidate) => candidate.key === key);
      this.#chosen = setting === undefined || setting.origin !== 'default';
    } catch {
      this.#asked = false; // the next conversation tries again
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
    this.#chosen = true;
  }

  stop(): void {
    this.#off();
  }
}
