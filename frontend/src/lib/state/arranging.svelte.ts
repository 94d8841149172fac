import type { Backend } from '$lib/backend/backend';
import type { SessionRow } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { SelectionState } from './selection.svelte';
import type { SessionsState } from './sessions.svelte';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

const collapsedKey = 'contextinfinity.folders.collapsed';

/** Names of folders that were written before. A broken entry means none. */
function readCollapsed(storage: Storage): string[] {
  try {
    const names: unknown = JSON.parse(storage.getItem(collapsedKey) ?? '[]');
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

/** What was moved, before it was, and where to; no folder: out of its own. */
function movedWords(moved: readonly SessionRow[], folder: string): string {
  const [first] = moved;
  if (moved.length !== 1 || !first) return folder === '' ? t('state.tookOutSeveral', { count: moved.length }) : t('state.movedSeveral', { count: moved.length, folder });
  const title = first.title || t('shell.newConversation');
  return folder === '' ? t('state.tookOut', { title, folder: first.folder }) : t('state.moved', { title, folder });
}

/** How sessions are kept: in folders, several at a time, as copies. A folder exists as long as a session is in it. */
export class ArrangingState {
  readonly selection = new SelectionState();
  #collapsed = $state.raw<ReadonlySet<string>>(new Set());
  /** Sessions that are asked for a folder; null: the question is not open. */
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
      // Then folders are open again at the next start.
    }
  }

  /** What an act on a line is done to: everything chosen, if the line is one of it. */
  meant(id: string): readonly string[] {
    return this.selection.has(id) ? this.selection.ids : [id];
  }

  askFolder(ids: readonly string[]): void {
    if (ids.length > 0) this.#asking = [...ids];
  }

  closeFolder(): void {
    this.#asking = null;
  }

  /** Into a folder, which comes into being with its first session; empty takes them out of theirs. */
  async move(ids: readonly string[], folder: string): Promise<boolean> {
    const name = folder.trim();
    const moving = ids.map((id) => this.#sessions.find(id)).filter((row): row is SessionRow => row !== undefined && row.folder !== name);
    if (moving.length === 0) return true;
    const set = (rows: readonly SessionRow[], to: string) => this.#backend.sessions.setFolder(rows.map((row) => row.id), to);
    if (!(await this.#do(() => set(moving, name)))) return false;
    this.selection.clear();
    if (name !== '') this.collapse(name, false);
    const back = async () => {
      for (const was of new Set(moving.map((row) => row.folder))) await set(moving.filter((row) => row.folder === was), was);
    };
    this.#told(movedWords(moving, name), back);
    return true;
  }

  /** Gives a folder another name, for the archived sessions in it too; the name of one that is there joins both. */
  async renameFolder(folder: string, to: string): Promise<boolean> {
    const name = to.trim();
    if (name === '' || name === folder) return true;
    let ids: string[] = [];
    let joined = false;
    const renamed = await this.#do(async () => {
      const rows = (await Promise.all([this.#backend.sessions.list(false, ''), this.#backend.sessions.list(true, '')])).flat();
      ids = rows.filter((row) => row.folder === folder).map((row) => row.id);
      joined = rows.some((row) => row.folder === name);
      await this.#backend.sessions.renameFolder(folder, name);
    });
    // What was there before stays there; a folder that only has another name takes its project back with it.
    const back = () => (joined ? this.#backend.sessions.setFolder(ids, folder) : this.#backend.sessions.renameFolder(name, folder));
    if (renamed) this.#told(t('state.folderRenamed', { folder, name }), back);
    return renamed;
  }

  /** Several away at once, or back: all of them or none. */
  async archive(ids: readonly string[], archived: boolean): Promise<boolean> {
    const list = [...ids];
    if (!(await this.#do(() => this.#backend.sessions.archiveMany(list, archived)))) return false;
    this.selection.clear();
    this.#told(archived ? t('state.archivedSeveral', { count: list.length }) : t('state.unarchivedSeveral', { count: list.length }), () => this.#backend.sessions.archiveMany(list, !archived));
    return true;
  }

  /** A session of its own that begins as this one is now; null when it could not be made. */
  async duplicate(id: string): Promise<SessionRow | null> {
    let made: SessionRow | null = null;
    await this.#do(async () => {
      made = await this.#backend.sessions.duplicate(id, '');
    });
    const row = made as SessionRow | null;
    if (row) {
      const hint = row.leftOut > 0 ? t('state.openInOriginal', { count: row.leftOut }) : '';
      this.#toasts.show(t('state.isCopy', { title: row.title || t('shell.newConversation') }), { hint });
    }
    return row;
  }

  /** A title from what was said, or "": nothing was, or it could not be asked. Renaming works without it. */
  async suggestTitle(id: string): Promise<string> {
    try {
      return await this.#backend.sessions.suggestTitle(id);
    } catch {
      return '';
    }
  }

  #told(text: string, back: () => Promise<void>): void {
    this.#undo.did({ text, undo: () => back().finally(() => this.#sessions.load()) });
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
