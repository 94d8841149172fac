import type { Backend } from '$lib/backend/backend';
import type { SessionRow } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { SelectionState } from './selection.svelte';
import type { SessionsState } from './sessions.svelte';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

const collapsedKey = 'contextinfinity.folders.collapsed';

/** The saved names of collapsed folders; empty if the entry is damaged. */
function readCollapsed(storage: Storage): string[] {
  try {
    const names: unknown = JSON.parse(storage.getItem(collapsedKey) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/**
 * The message about moved sessions, from their rows before the move, and the target; no folder: removed from their own.
 */
function movedText(moved: readonly SessionRow[], folder: string): string {
  const [first] = moved;
  if (moved.length !== 1 || !first) return folder === '' ? t('state.tookOutSeveral', { count: moved.length }) : t('state.movedSeveral', { count: moved.length, folder });
  const title = first.title || t('shell.newConversation');
  return folder === '' ? t('state.tookOut', { title, folder: first.folder }) : t('state.moved', { title, folder });
}

/**
 * How sessions are organized: in folders, several at once, as copies. A folder exists as long as a session is in it.
 */
export class ArrangingState {
  readonly selection = new SelectionState();
  #collapsed = $state.raw<ReadonlySet<string>>(new Set());
  /** Sessions for which the dialog asks for a folder; null: it is closed. */
  #asking = $state.raw<readonly string[] | null>(null);
  readonly #backend: Backend;
  readonly #sessions: SessionsState;
  readonly #toasts: ToastsState;
  readonly #undo: UndoState;
  readonly #storage: Storage;

  constructor(backend: Backend, sessions: SessionsState, toasts: ToastsState, undo: UndoState, storage: Storage) {
    this.#backend = backend;
    this.#sessions = sessions;
    this.#toasts = toasts;
    this.#undo = undo;
    this.#storage = storage;
    this.#collapsed = new Set(readCollapsed(storage));
  }

  get collapsed(): ReadonlySet<string> {
    return this.#collapsed;
  }

  get asking(): readonly string[] | null {
    return this.#asking;
  }

  collapse(folder: string, collapsed: boolean): void {
    const names = new Set(this.#collapsed);
    if (collapsed) names.add(folder);
    else names.delete(folder);
    this.#collapsed = names;
    try {
      this.#storage.setItem(collapsedKey, JSON.stringify([...names]));
    } catch {
      // Without storage, the folders are expanded again at the next start.
    }
  }

  /** The sessions that an action on a line applies to: the whole selection if the line is part of it. */
  targets(id: string): readonly string[] {
    return this.selection.has(id) ? this.selection.ids : [id];
  }

  askFolder(ids: readonly string[]): void {
    if (ids.length > 0) this.#asking = [...ids];
  }

  closeFolder(): void {
    this.#asking = null;
  }

  /** Moves sessions into a folder, which is created with its first session; empty removes them from theirs. */
  async move(ids: readonly string[], folder: string): Promise<boolean> {
    const name = folder.trim();
    const moving = ids.map((id) => this.#sessions.find(id)).filter((row): row is SessionRow => row !== undefined && row.folder !== name);
    if (moving.length === 0) return true;
    const set = (rows: readonly SessionRow[], to: string) => this.#backend.sessions.setFolder(rows.map((row) => row.id), to);
    if (!(await this.#do(() => set(moving, name)))) return false;
    this.selection.clear();
    if (name !== '') this.collapse(name, false);
    const revert = async () => {
      for (const previous of new Set(moving.map((row) => row.folder))) await set(moving.filter((row) => row.folder === previous), previous);
    };
    this.#report(movedText(moving, name), revert);
    return true;
  }

  /** Renames a folder, including its archived sessions; the name of an existing folder merges the two. */
  async renameFolder(folder: string, to: string): Promise<boolean> {
    const name = to.trim();
    if (name === '' || name === folder) return true;
    let ids: string[] = [];
    let merged = false;
    const renamed = await this.#do(async () => {
      const rows = (await Promise.all([this.#backend.sessions.list(false, ''), this.#backend.sessions.list(true, '')])).flat();
      ids = rows.filter((row) => row.folder === folder).map((row) => row.id);
      merged = rows.some((row) => row.folder === name);
      await this.#backend.sessions.renameFolder(folder, name);
    });
    // Undoing a merge leaves the sessions that were already there; undoing a plain rename also restores its project.
    const revert = () => (merged ? this.#backend.sessions.setFolder(ids, folder) : this.#backend.sessions.renameFolder(name, folder));
    if (renamed) this.#report(t('state.folderRenamed', { folder, name }), revert);
    return renamed;
  }

  /** Archives or restores several sessions: all of them or none. */
  async archive(ids: readonly string[], archived: boolean): Promise<boolean> {
    const list = [...ids];
    if (!(await this.#do(() => this.#backend.sessions.archiveMany(list, archived)))) return false;
    this.selection.clear();
    this.#report(archived ? t('state.archivedSeveral', { count: list.length }) : t('state.unarchivedSeveral', { count: list.length }), () => this.#backend.sessions.archiveMany(list, !archived));
    return true;
  }

  /** Creates a copy of a session; null if it failed. */
  async duplicate(id: string): Promise<SessionRow | null> {
    let created: SessionRow | null = null;
    await this.#do(async () => {
      created = await this.#backend.sessions.duplicate(id, '');
    });
    const row = created as SessionRow | null;
    if (row) {
      const hint = row.leftOut > 0 ? t('state.openInOriginal', { count: row.leftOut }) : '';
      this.#toasts.show(t('state.isCopy', { title: row.title || t('shell.newConversation') }), { hint });
    }
    return row;
  }

  /**
   * A title from the conversation, or "" if it is empty or the model could not be called. Renaming works without it.
   */
  async suggestTitle(id: string): Promise<string> {
    try {
      return await this.#backend.sessions.suggestTitle(id);
    } catch {
      return '';
    }
  }

  #report(text: string, revert: () => Promise<void>): void {
    this.#undo.record({ text, undo: () => revert().finally(() => this.#sessions.load()) });
  }

  async #do(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
    } catch (error) {
      this.#toasts.error(error);
      return false;
    }
    await this.#sessions.load();
    return true;
  }
}
