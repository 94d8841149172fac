import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'sessions'>;

/** The setting that says how far memory reaches. */
const key = 'retrieval.scope';

/** How far memory may reach, as it is asked. */
export type AskedScope = 'lineage' | 'project' | 'all';

/**
 * The question how far memory may reach: in a new conversation that has others beside it, before its first message, until
 * somebody has chosen. The choice is the setting itself.
 */
export class MemoryScope {
  /** undefined: it was not asked for yet. */
  #chosen = $state<boolean | undefined>(undefined);
  #asked = false;
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['settings'], () => (this.#asked = false, this.#chosen = undefined));
  }

  /** Memory of other conversations would matter for the next message. */
  get matters(): boolean {
    const { conversation, sessions } = this.#parts;
    return conversation.header?.infinity === true && conversation.session?.turns === 0 && sessions.list.some((row) => row.turns > 0 && row.id !== conversation.sessionId);
  }

  get asking(): boolean {
    return this.matters && this.#chosen === false;
  }

  /** Looks whether somebody has chosen, once and after the settings changed. */
  async look(): Promise<void> {
    if (this.#asked || !this.matters) return;
    this.#asked = true;
    try {
      const { settings } = await this.#parts.backend.settings.settings();
      const setting = settings.find((candidate) => candidate.key === key);
      this.#chosen = setting === undefined || setting.origin !== 'default';
    } catch {
      this.#asked = false; // the next conversation looks again
    }
  }

  /** In a project its chats share memory unless one keeps to itself. */
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
