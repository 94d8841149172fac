import { BackendError } from '../errors';
import type { ProjectFileView, ProjectScanView, ProjectsService, ProjectView } from '../types';
import { errorView } from './shapes';
import type { FakeStore } from './store';

/** A project with its files, which the view does not contain. */
export interface FakeProject {
  view: ProjectView;
  documents: ProjectFileView[];
  watched: ProjectFileView[];
}

export function scanView(more: Partial<ProjectScanView> = {}): ProjectScanView {
  return { at: 0, found: 0, new: [], changed: [], removed: [], newCount: 0, changedCount: 0, removedCount: 0, skipped: [], skippedFiles: [], error: '', ...more };
}

/** The initial contents of a watched folder. */
const folder = ['notes/plan.md', 'notes/suppliers.md', 'recipes/rye.md'];
const scopes = ['', 'lineage', 'session', 'project', 'all'];

export function projectsService(store: FakeStore): ProjectsService {
  const uploads = new Map<string, string>();
  const find = (id: string): FakeProject => {
    const found = store.projects.find(({ view }) => view.id === id);
    if (!found) throw new BackendError(errorView('There is no such project; it may have been deleted.', '', 'not_found'));
    return found;
  };
  const validName = (name: string, exceptId = ''): string => {
    if (name.trim() === '') throw new BackendError(errorView('A project must have a name; nothing was changed.', '', 'invalid'));
    if (store.projects.some(({ view }) => view.id !== exceptId && view.name === name.trim())) {
      throw new BackendError(errorView(`There is a project "${name.trim()}" already; nothing was changed.`, 'choose another name', 'conflict'));
    }
    return name.trim();
  };
  const shown = ({ view, documents, watched }: FakeProject): ProjectView => ({ ...view, sessions: store.inFolder(view.name).length, files: documents.length + watched.length });
  const changed = (project: FakeProject): ProjectView => {
    store.projects.sort((a, b) => a.view.name.localeCompare(b.view.name));
    store.changed('projects', project.view.id, '');
    return shown(project);
  };
  const file = (path: string, size: number): ProjectFileView => ({ path, id: store.id('f'), mediaType: 'text/markdown', size, tokens: Math.ceil(size / 4), indexed: true });
  return {
    panel: async () => ({ rev: store.rev, projects: store.projects.map(shown).map(({ id, name, sessions, files }) => ({ id, name, sessions, files })) }),
    project: async (id) => shown(find(id)),
    create: async (name) => {
      const view: ProjectView = { id: '', name: validName(name), instructions: '', model: '', toolsMode: '', tools: [], facts: [], watch: '', sessions: 0, files: 0, scan: null };
      const project = { view: { ...view, id: store.id('p') }, documents: [], watched: [] };
      store.projects.push(project);
      return changed(project);
    },
    save: async (input) => {
      const project = find(input.id);
      const name = validName(input.name, input.id);
      for (const session of store.inFolder(project.view.name)) session.row.folder = name;
      const { instructions, model, toolsMode, tools } = input;
      Object.assign(project.view, { name, instructions: instructions.trim(), model, toolsMode, tools: [...tools], facts: [...new Set(input.facts.map((fact) => fact.trim()).filter(Boolean))] });
      store.changed('sessions', '', '');
      return changed(project);
    },
    files: async (id, kind, offset, limit) => {
      const all = kind === 'document' ? find(id).documents : find(id).watched;
      return { total: all.length, files: all.slice(offset, offset + limit) };
    },
    addDocument: async (id, part) => {
      const upload = part.upload || store.id('u');
      uploads.set(upload, (uploads.get(upload) ?? '') + atob(part.data));
      if (!part.last) return { upload, file: null, image: null };
      const project = find(id);
      const text = uploads.get(upload)!;
      uploads.delete(upload);
      if (text.includes('\0')) throw new BackendError(errorView(`${part.name} is neither text nor a PDF; nothing was added.`, '', 'invalid'));
      project.documents = [...project.documents.filter(({ path }) => path !== part.name), file(part.name, text.length)].sort((a, b) => a.path.localeCompare(b.path));
      changed(project);
      return { upload, file: null, image: null };
    },
    cancelDocument: async (upload) => void uploads.delete(upload),
    removeDocuments: async (id, names) => {
      const project = find(id);
      project.documents = project.documents.filter(({ path }) => !names.includes(path));
      changed(project);
    },
    watch: async (id, dir) => {
      const project = find(id);
      if (dir !== '' && !dir.startsWith('/')) throw new BackendError(errorView(`"${dir}" is not a whole path; nothing was changed.`, 'give the path from the root of the file system', 'invalid'));
      project.watched = dir === '' ? [] : folder.map((path, i) => file(path, 900 + 400 * i));
      const scan = scanView({ at: store.now(), found: folder.length, new: folder, newCount: folder.length, skipped: [{ reason: 'may contain secrets', count: 1 }], skippedFiles: [{ path: '.env', reason: 'may contain secrets' }] });
      Object.assign(project.view, { watch: dir, scan: dir === '' ? null : scan });
      return changed(project);
    },
    rescan: async (id) => {
      const project = find(id);
      if (project.view.watch === '') throw new BackendError(errorView(`The project "${project.view.name}" watches no folder.`, '', 'invalid'));
      return scanView({ at: store.now(), found: project.watched.length });
    },
    startSession: async (name) => {
      const session = store.addSession('', { folder: name.trim() });
      const project = store.projects.find(({ view }) => view.name === name.trim());
      if (project?.view.model) session.model = project.view.model;
      store.changed('sessions', session.row.id, session.row.id);
      return session.row;
    },
    setScope: async (sessionId, scope) => {
      if (!scopes.includes(scope)) throw new BackendError(errorView(`"${scope}" is not a scope of memory.`, '', 'invalid'));
      store.session(sessionId).scope = scope;
      store.changed('session', sessionId, sessionId);
    },
  };
}
