/** Folders, archiving, duplicating and renaming of sessions in the fake program. */
import type { SessionsService } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeStore } from './store';

type Arranging = Pick<SessionsService, 'setFolder' | 'renameFolder' | 'folders' | 'archiveMany' | 'duplicate' | 'suggestTitle'>;

const folderChars = 60;
const titleChars = 60;
const open = ['accepted', 'preparing', 'responding', 'incomplete', 'unsent'];

function folderName(folder: string): string {
  const name = folder.trim();
  if (/\p{Cc}/u.test(name)) throw new BackendError(errorView('A folder’s name is one line of text; nothing was changed.'));
  if ([...name].length > folderChars) throw new BackendError(errorView(`A folder’s name has at most ${folderChars} characters; nothing was changed.`));
  return name;
}

export function arranging(store: FakeStore): Arranging {
  /** All or none: an unknown id rejects the whole call. */
  const each = (ids: readonly string[], change: (row: { archived: boolean; folder: string }) => void) => {
    const rows = ids.map((id) => store.session(id).row);
    for (const row of rows) change(row);
    for (const id of ids) for (const kind of ['sessions', 'session'] as const) store.changed(kind, id, id);
  };
  return {
    setFolder: async (ids, folder) => {
      const name = folderName(folder);
      each(ids, (row) => (row.folder = name));
    },
    renameFolder: async (from, to) => {
      const name = folderName(to);
      if (store.projects.some(({ view }) => view.name === name)) throw new BackendError(errorView(`There is a project "${name}" already; nothing was changed.`, 'choose another name', 'conflict'));
      each(store.inFolder(from).map(({ row }) => row.id), (row) => (row.folder = name));
      const project = store.projects.find(({ view }) => view.name === from);
      if (!project) return;
      project.view.name = name;
      store.changed('projects', project.view.id, '');
    },
    folders: async () => {
      const count = new Map<string, number>();
      for (const { row } of store.sessions.values()) if (row.folder !== '') count.set(row.folder, (count.get(row.folder) ?? 0) + 1);
      return [...count].map(([name, sessions]) => ({ name, sessions })).sort((a, b) => a.name.localeCompare(b.name));
    },
    archiveMany: async (ids, archived) => each(ids, (row) => (row.archived = archived)),
    duplicate: async (id, branchId) => duplicate(store, id, branchId),
    suggestTitle: async (id) => {
      const first = store.lineage(store.session(id).row.activeBranch)[0]?.user.find((block) => block.kind === 'text')?.text ?? '';
      const sentence = first.trim().split(/[.?!\n]/)[0]!.replace(/\s+/g, ' ');
      return sentence.length <= titleChars ? sentence : sentence.slice(0, sentence.lastIndexOf(' ', titleChars));
    },
  };
}

function duplicate(store: FakeStore, id: string, branchId: string) {
  const { row, model, settings } = store.session(id);
  const from = store.branch(branchId || row.activeBranch);
  if (from.sessionId !== id) throw new BackendError(errorView('That branch belongs to another session', '', 'not_found'));
  const lineage = store.lineage(from.view.id);
  const final = lineage.filter((turn) => !open.includes(turn.state));
  const copy = store.addSession(row.title === '' ? '' : `${row.title} (copy)`, { folder: row.folder }, model);
  copy.settings = { ...settings };
  for (const turn of final) {
    const { id: _, branchId: __, seq: ___, ...rest } = structuredClone(turn);
    store.addTurn(copy.row.activeBranch, rest);
  }
  const created = store.branch(copy.row.activeBranch);
  Object.assign(created, { pins: structuredClone(from.pins), states: structuredClone(from.states), ranges: structuredClone(from.ranges) });
  store.changed('sessions', copy.row.id, copy.row.id);
  return { ...store.row(copy), leftOut: lineage.length - final.length };
}
