import type { ProjectRow } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import type { App } from './app.svelte';
import { Refresh } from './refresh';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'sessions' | 'toasts'>;

/** A tab of a project's dialog. */
export type ProjectPart = 'settings' | 'facts' | 'files';

/** The scopes of memory, from the narrowest to the widest. */
export const scopes = ['lineage', 'session', 'project', 'all'] as const;
export type ScopeId = (typeof scopes)[number];

export const scopeNames: Record<ScopeId, PlainKey> = {
  lineage: 'shared.thisBranch', session: 'projects.scopeSession', project: 'shared.thisProject', all: 'projects.scopeAll',
};

/** The name of a scope; an unknown one is returned unchanged. */
export const scopeText = (scope: string): string => (scope in scopeNames ? t(scopeNames[scope as ScopeId]) : scope);

/** The projects, the one whose dialog is open, and the memory scope of the open session. */
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

  /** The project whose dialog is open, and its tab. */
  get open(): { id: string; part: ProjectPart } | null {
    return this.#open;
  }

  /** The suggested name of a new project; null: the dialog is closed. */
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

  /** Opens the dialog for a new project. */
  ask(name = ''): void {
    this.#naming = name;
  }

  cancel(): void {
    this.#naming = null;
  }

  /** Makes a folder a project and shows its settings. Throws on failure. */
  async create(name: string): Promise<void> {
    const created = await this.#parts.backend.projects.create(name);
    this.#naming = null;
    this.show(created.id);
    await this.load();
  }

  /** Sets the memory scope of the open session; empty: the default. */
  async setScope(scope: '' | ScopeId): Promise<void> {
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
      // The current list stays; the next change reads it again.
    }
  }
}
