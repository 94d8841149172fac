import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'models' | 'sessions'>;

/** The setting that says how far memory reaches. */
const key = 'retrieval.scope';

/** How far memory may reach, as it is asked. */
export type AskedScope = 'lineage' | 'project' | 'all';

/**
 * The question how far memory may reach: in a new conversation that has others beside it, before its first message, until
 * somebody has chosen. The choice is the setting itself.
 */
export class MemoryScope {
  /** Of the settings: counts their changes. */
  #version = $state(0);
  /** Whether somebody has chosen, as of a version of the settings. */
  #seen = $state.raw<{ version: number; chosen: boolean } | null>(null);
  #looking = -1;
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['settings'], () => void this.#version++);
  }

  /** Recall answers here: it sends nothing to anybody, and outside projects searches all chats until somebody has chosen. */
  get withRecall(): boolean {
    const { conversation, models } = this.#parts;
    return models.find(conversation.header?.model ?? '')?.provider === 'recall';
  }

  /** Memory of other conversations would matter for the next message. */
  get matters(): boolean {
    const { conversation, sessions } = this.#parts;
    return conversation.header?.infinity === true && !this.withRecall && conversation.session?.turns === 0 && sessions.list.some((row) => row.turns > 0 && row.id !== conversation.sessionId);
  }

  get asking(): boolean {
    return this.matters && this.#seen?.chosen === false;
  }

  /** Looks whether somebody has chosen, if that matters: once for each version of the settings. */
  async look(): Promise<void> {
    const version = this.#version;
    if (!this.matters || this.#seen?.version === version || this.#looking === version) return;
    this.#looking = version;
    try {
      const { settings } = await this.#parts.backend.settings.settings();
      const setting = settings.find((candidate) => candidate.key === key);
      if (version === this.#version) this.#seen = { version, chosen: setting === undefined || setting.origin !== 'default' };
    } catch {
      this.#looking = -1; // the next conversation looks again
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
    this.#seen = { version: this.#version, chosen: true };
  }

  stop(): void {
    this.#off();
  }
}
