import type { ProjectRow } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/words/words.svelte';
import type { App } from './app.svelte';
import { Refresh } from './refresh';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'sessions' | 'toasts'>;

/** A part of a project's dialog. */
export type ProjectPart = 'settings' | 'facts' | 'files';

/** How far memory reaches, from near to far. */
export const scopes = ['lineage', 'session', 'project', 'all'] as const;
export type MemoryReach = (typeof scopes)[number];

export const scopeNames: Record<MemoryReach, PlainKey> = {
  lineage: 'projects.scopeLineage', session: 'projects.scopeSession', project: 'projects.scopeProject', all: 'projects.scopeAll',
};

/** A scope in words; one that is not known as it is. */
export const scopeWords = (scope: string): string => (scope in scopeNames ? t(scopeNames[scope as MemoryReach]) : scope);

/** The projects there are, the one whose dialog is open, and how far memory of the open session reaches. */
export class ProjectsState {
  #list = $state.raw<readonly ProjectRow[]>([]);
  #open = $state.raw<{ id: string; part: ProjectPart } | null>(null);
  #naming = $state<string | null>(null);
  readonly #parts: Parts;
  readonly #refresh = new Refresh(() => this.#load());
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['projects', 'sessions'], () => this.#refresh.soon());
  }

  /** By name. */
  get list(): readonly ProjectRow[] {
    return this.#list;
  }

  /** Whose settings are shown, and which of them. */
  get open(): { id: string; part: ProjectPart } | null {
    return this.#open;
  }

  /** The name that is offered for a new project; null: none is asked for. */
  get naming(): string | null {
    return this.#naming;
  }

  /** The project of a folder. */
  in(folder: string): ProjectRow | undefined {
    return folder === '' ? undefined : this.#list.find((project) => project.name === folder);
  }

  load(): Promise<void> {
    return this.#refresh.now();
  }

  show(id: string, part: ProjectPart = 'settings'): void {
    this.#open = { id, part };
  }

  close(): void {
    this.#open = null;
  }

  /** Asks for the name of a new project. */
  ask(name = ''): void {
    this.#naming = name;
  }

  cancel(): void {
    this.#naming = null;
  }

  /** Makes a folder a project and shows its settings. Throws what went wrong. */
  async create(name: string): Promise<void> {
    const made = await this.#parts.backend.projects.create(name);
    this.#naming = null;
    this.show(made.id);
    await this.load();
  }

  /** How far memory of the open session reaches from now on; empty: as usual. */
  async setScope(scope: '' | MemoryReach): Promise<void> {
    const { backend, conversation, toasts } = this.#parts;
    try {
      await backend.projects.setScope(conversation.sessionId, scope);
      conversation.refreshHeader();
    } catch (error) {
      toasts.error(error);
    }
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
  }

  async #load(): Promise<void> {
    try {
      this.#list = (await this.#parts.backend.projects.panel()).projects;
    } catch {
      // What is shown stays; the next change asks again.
    }
  }
}
