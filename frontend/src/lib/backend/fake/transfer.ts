/** Import and export in the fake program. There are no real files: the name determines the type. */
import type { DraggedFile, DroppedFile, ExportPlan, ExportRequest, FileView, ImageUpload, ImportReport, TransferService } from '../types';
import { BackendError } from '../errors';
import { block, errorView } from './shapes';
import type { FakeTasks, TaskScript } from './work';
import type { FakeStore } from './store';

export interface FakeFiles {
  /** The next results of the system's dialogs; if empty, the dialog is cancelled. */
  picked: string[];
  target: string;
  /** Files that already exist. */
  written: Set<string>;
  /** Paths that were shown in the file manager. */
  revealed: string[];
  /** Folders that exist. */
  folders: Set<string>;
  /** An image that the page's paste event does not contain, as in WebKitGTK. */
  clipboard: ImageUpload;
  /** Paths of copied files, which the page's paste event does not contain either. */
  copied: string[];
  /** How many requests of a session quoted other sessions. */
  quoting: number;
}

export const fakeFiles = (): FakeFiles => ({ picked: [], target: '', written: new Set(), revealed: [], folders: new Set(['/home/ada/.local/share/contextinfinity']), clipboard: { mediaType: '', data: '', name: '' }, copied: [], quoting: 0 });

let dragged = 0;

/** The file of a drag; nothing is written. */
export function draggedFile(request: ExportRequest): DraggedFile {
  const name = `${request.scope}.${endings[request.format]}`;
  const path = `/home/ada/.local/share/contextinfinity/drags/${++dragged}/${name}`;
  return { path, uri: `file://${encodeURI(path)}`, name, size: 48_000 };
}

const home = '/home/ada/Documents';
const megabyte = 1_000_000;
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** By ending of the name; the first match applies. */
const kinds: readonly [RegExp, Partial<DroppedFile>][] = [
  [/huge/, { kind: 'transcript', format: 'chatgpt', size: 9_400 * megabyte, reason: 'It has 9 400 MB, more than the 4 096 MB that are read. Export the history in parts.' }],
  [/missing/, { kind: 'unknown', reason: 'There is no such file.' }],
  [/\.age$/, { kind: 'bundle', sealed: true, size: 1.9 * megabyte }],
  [/\.cinf$/, { kind: 'bundle', size: 1.9 * megabyte }],
  [/claude.*\.jsonl$/, { kind: 'transcript', format: 'claude-code', size: 0.8 * megabyte }],
  [/rollout.*\.jsonl$/, { kind: 'transcript', format: 'codex', size: 0.6 * megabyte }],
  [/\.jsonl$/, { kind: 'transcript', format: 'jsonl', size: 44_000 }],
  [/webui.*\.json$/, { kind: 'transcript', format: 'open-webui', size: 3.1 * megabyte }],
  [/librechat.*\.json$/, { kind: 'transcript', format: 'librechat', size: 0.4 * megabyte }],
  [/claude.*\.(json|zip)$/, { kind: 'transcript', format: 'claude', size: 8.2 * megabyte }],
  [/\.(json|zip)$/, { kind: 'transcript', format: 'chatgpt', size: 25.4 * megabyte }],
  [/\.db$/, { kind: 'backup', size: 61 * megabyte }],
  [/\.(png|jpe?g|gif|webp)$/i, { kind: 'image', size: 0.3 * megabyte }],
  [/\.(txt|md|pdf|go|csv)$/, { kind: 'document', size: 18_000 }],
  [/^[^.]+$/, { kind: 'folder' }],
];

function inspected(path: string): DroppedFile {
  const name = nameOf(path);
  const found = kinds.find(([pattern]) => pattern.test(name))?.[1] ?? { kind: 'unknown', size: 4_096, reason: 'It is neither a transcript of a program known here nor text.' };
  return { path, name, size: 0, kind: 'unknown', format: '', sealed: false, reason: '', ...found };
}

const endings: Record<string, string> = { bundle: 'cinf', md: 'md', json: 'json', html: 'html' };
const unfinished = ['accepted', 'preparing', 'responding', 'incomplete', 'unsent', 'failed'];

export function transferService(store: FakeStore, tasks: FakeTasks, files: FakeFiles): TransferService {
  const plan = (request: ExportRequest) => planned(store, files, request);
  return {
    inspect: async (paths) => paths.map(inspected),
    pickFiles: async () => files.picked.splice(0),
    pickTarget: async () => files.target,
    importFiles: async (paths, _, passphrase) => {
      const shut = paths.map(inspected).find((file) => file.sealed && passphrase !== 'correct horse');
      if (shut) throw new BackendError(errorView(`The passphrase does not open ${shut.name}; nothing was imported from it.`, '', 'sealed'));
      return paths.map((path) => tasks.start(importing(store, inspected(path))));
    },
    plan: async (request) => plan(request),
    export: async (request) => {
      const { path, exists, sessions } = plan(request);
      if (path.startsWith('/root/')) throw new BackendError(errorView('The folder /root cannot be written to', 'Choose another one. Nothing was written.', 'invalid'));
      if (exists && !request.replace) throw new BackendError(errorView(`${path} is there already`, 'Choose another name, or replace it.', 'conflict'));
      return tasks.start({
        kind: 'export', title: `Export ${nameOf(path)}`, unit: 'sessions', total: sessions, details: Array.from({ length: Math.min(12, Math.max(2, sessions)) }, () => 'Writing'),
        ends: (cancelled) => (cancelled ? {} : (files.written.add(path), { path })),
      });
    },
    pastedFiles: async () => files.copied.map(inspected),
    pastedPicture: async () => files.clipboard,
    saveText: async (name) => {
      const path = files.target && `${files.target}/${name}`;
      if (path) files.written.add(path);
      return path;
    },
    printable: async (request) => `<!doctype html><title>${request.scope}</title><p>${plan(request).turns} turns</p>`,
    reveal: async (path) => {
      if (!files.written.has(path) && !files.folders.has(path)) throw new BackendError(errorView(`${path} no longer exists`, '', 'not_found'));
      files.revealed.push(path);
    },
    attach: async (branchId, path) => {
      const input = inspected(path);
      if (input.reason !== '' || !['document', 'image', 'transcript'].includes(input.kind)) throw new BackendError(errorView(`${input.name} was not attached. ${input.reason}`, 'text, Markdown, source code and PDF can be attached'));
      if (input.kind === 'image') return { upload: '', file: null, image: { mediaType: 'image/png', data: 'iVBORw==', name: input.name } };
      store.branch(branchId);
      const file: FileView = { id: store.id('file'), name: input.name, mediaType: 'text/plain', tokens: Math.ceil(input.size / 4) };
      return { upload: '', file, image: null };
    },
  };
}

function planned(store: FakeStore, files: FakeFiles, request: ExportRequest): ExportPlan {
  const { format } = request;
  const all = [...store.sessions.values()].filter((session) => request.archived || !session.row.archived);
  const session = request.scope === 'all' ? undefined : store.session(request.sessionId);
  const chosen = session ? [session] : all;
  const allBranches = request.allBranches || format === 'bundle';
  const branchIds = chosen.flatMap((entry) => (request.branchId !== '' && request.scope !== 'session' ? [request.branchId] : allBranches ? entry.branchIds : [entry.row.activeBranch]));
  const turns = request.scope === 'turn' ? [store.turn(request.turnId)] : [...new Set(branchIds.flatMap((id) => store.lineage(id)))];
  const open = turns.filter((turn) => unfinished.includes(turn.state) && turn.outcome !== 'discarded').length;
  const title = session ? session.row.title || 'New session' : 'ContextInfinity sessions';
  const part = request.scope === 'turn' ? ` #${turns[0]!.seq}` : request.scope === 'branch' ? ` (${store.branch(request.branchId).view.label})` : '';
  const name = `${title}${part}.${session ? endings[format] : 'zip'}${request.sealed ? '.age' : ''}`;
  const path = request.path || `${home}/${name}`;
  return {
    format,
    name: request.path === '' ? name : path.slice(path.lastIndexOf('/') + 1),
    path,
    exists: files.written.has(path),
    sessions: chosen.length,
    branches: branchIds.length,
    turns: turns.length - open,
    open,
    quoting: session && format === 'bundle' ? files.quoting : 0,
  };
}

const broken = /broken/;
const imported = new WeakMap<FakeStore, Set<string>>();

function importing(store: FakeStore, file: DroppedFile): TaskScript {
  const sessions = file.kind === 'bundle' ? 1 : file.format === 'jsonl' ? 1 : 40;
  const titles = ['Orders to Postgres', 'Tax return, home office rules', 'Piano: left-hand voicings', 'Heat pump or new boiler', 'German B2, daily drills'];
  const known = imported.get(store) ?? new Set<string>();
  imported.set(store, known);
  return {
    kind: 'import', title: `Import ${file.name}`, unit: 'sessions', total: sessions, details: Array.from({ length: 10 }, (_, i) => titles[i % titles.length]!),
    ...(broken.test(file.name) ? { fails: errorView('The file ends in the middle of conversation 31 of 40', 'The 30 before it are in your history. Export it again and import the new file: what is there is not added twice.', 'invalid') } : {}),
    ends: (cancelled) => {
      const report = reportOf(file, cancelled ? Math.floor(sessions / 2) : sessions, known.has(file.path));
      known.add(file.path);
      if (report.sessions > 0) {
        const created = store.addSession(`From ${file.name}`);
        store.addTurn(created.row.activeBranch, { user: [block('text', 'How long may a message be?')], assistant: [block('text', 'As long as you like.')], state: 'head' });
        report.firstSession = created.row.id;
        store.changed('sessions', created.row.id, created.row.id);
      }
      return { import: { ...report, cancelled } };
    },
  };
}

function reportOf(file: DroppedFile, read: number, again: boolean): ImportReport {
  const many = read > 1;
  const skipped = many
    ? [
        { file: file.name, index: 6, id: '67f1c0de-2b1a-8004-9c55-0a7f4e4dd001', title: 'Garden plan', offset: 412_204, reason: 'A message names a parent that is not there.' },
        { file: file.name, index: 19, id: '67f1c0de-2b1a-8004-9c55-0a7f4e4dd002', title: '', offset: 1_904_881, reason: 'It holds no message.' },
        { file: file.name, index: 33, id: '67f1c0de-2b1a-8004-9c55-0a7f4e4dd003', title: 'A conversation whose title goes on for so long that no table could ever show all of it in one line', offset: 9_104_000, reason: 'The time of its first message, “yesterday”, is no time.' },
      ]
    : [];
  const created = Math.max(0, read - skipped.length);
  return {
    file: file.name, format: file.format || 'bundle', sessions: again ? 0 : created - (many ? 2 : 0), grown: again || !many ? 0 : 2, already: again ? created : 0,
    turns: again ? 0 : created * 17, branches: again ? 0 : Math.floor(created / 6), skippedCount: skipped.length, skipped,
    notices: many ? [{ text: 'A picture was in the export by its name alone', count: 12, files: [] }, { text: 'Content of an unknown type is kept as it came', count: 3, files: ['2024/export.json'] }] : [],
    instructed: 0, instructions: [], torn: false, tornFiles: [], cancelled: false, firstSession: '', copied: false,
  };
}
