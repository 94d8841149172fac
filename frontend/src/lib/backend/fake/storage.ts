/** The data directory of the fake program: its contents, its backups, and permanent deletion. */
import type { BackupKind, BackupView, CopyView, DeletionPreview, DeletedPart, MovePreview, ReceiptView, RestorePreview, SealingService, SealingView, StoragePart, StorageService } from '../types';
import { BackendError } from '../errors';
import { block, errorView } from './shapes';
import type { Program } from './program';
import type { FakeTasks } from './work';
import type { FakeStore } from './store';

const megabyte = 1_000_000;
const day = 86_400_000;
const databaseBytes = 61 * megabyte;

/** The text that replaces a permanently deleted message (backend/store). */
const deletedMark = '[erased]';

/** The state of the disk that tests and scripts may change. */
export class FakeDisk {
  free = 88_000 * megabyte;
  unmovable = '';
  /** What the system's folder dialog returns; empty: cancelled. */
  folder = '/home/ada/Elsewhere';
  /** Folders that are not empty. */
  readonly full = ['/home/ada/Documents'];
  /** Newest first. */
  backups: BackupView[];
  /** Backups in other places, by path. */
  readonly elsewhere = new Map<string, BackupView>();
  /** Problems that a verification would report, by path of the backup. */
  readonly findings = new Map<string, string[]>();
  receipts: ReceiptView[] = [];
  /** Sessions that contain the same messages as any other. */
  copies: CopyView[] = [];
  /** A vault has the sessions. */
  everywhere = false;
  /** Problems that a full check reports. */
  wrong: string[] = [];
  /** The operation that is pending for the next start. */
  pending = '';
  /** What opens sealed data, and what is not sealed. */
  passphrase = 'correct horse';
  sealing: SealingView = { sealed: false, signIn: false, left: [], outside: [] };
  readonly dir: string;

  constructor(dir: string, epoch: number) {
    this.dir = dir;
    this.backups = [this.backup('daily', epoch - day), this.backup('daily', epoch - 2 * day, { checked: false, sessions: 0, turns: 0, problem: 'The file ends in the middle: 31 of 58 MB are there.', bytes: 31 * megabyte }), this.backup('by_hand', epoch - 9 * day, { sessions: 13, turns: 402 }), this.backup('before_restore', epoch - 21 * day, { sessions: 12, turns: 377 }), this.backup('migration', epoch - 30 * day, { sessions: 11, turns: 340 })];
  }

  backup(kind: BackupKind, at: number, more: Partial<BackupView> = {}): BackupView {
    const name = `contextinfinity-${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}-${kind}.db`;
    return { path: `${this.dir}/backups/${name}`, name, kind, at, bytes: 58 * megabyte, sessions: 15, turns: 480, checked: true, problem: '', problems: 0, ...more };
  }

  find(path: string): BackupView {
    const found = this.backups.find((entry) => entry.path === path) ?? this.elsewhere.get(path);
    if (!found) throw new BackendError(errorView(`${path} is not a backup of this program`, 'Nothing was changed. A backup is a file that ends in .db.', 'invalid'));
    return found;
  }

  parts(): StoragePart[] {
    return [
      { name: 'database', label: 'Sessions', bytes: databaseBytes, files: 3, about: 'All sessions, their memory and its index.' },
      { name: 'journals', label: 'Journals', bytes: 6 * megabyte, files: 12, about: 'The text of answers that are still arriving.' },
      { name: 'backups', label: 'Backups', bytes: this.backups.reduce((sum, entry) => sum + entry.bytes, 0), files: this.backups.length, about: 'Copies of everything, made daily, before upgrades and restores, and by hand.' },
      { name: 'aside', label: 'Quarantined', bytes: 0, files: 0, about: 'What a restore replaced and could not copy as data, or a configuration that was not in effect.' },
      { name: 'other', label: 'Other', bytes: 41_200, files: 4, about: 'The lock, logs, and files that were dragged out.' },
    ];
  }

  plan(to: string): MovePreview {
    const bytes = this.parts().reduce((sum, part) => sum + part.bytes, 0);
    const target = to.replace(/^~(?=\/|$)/, '/home/ada').replace(/(.)\/+$/, '$1');
    const preview = { from: this.dir, to: target, bytes, free: this.free, reason: '' };
    if (!target.startsWith('/')) throw new BackendError(errorView('The new place needs a whole path.', 'Begin it at the root, or choose the folder.', 'invalid'));
    if (this.unmovable) preview.reason = this.unmovable;
    else if (target === this.dir) preview.reason = 'The data is already there.';
    else if (target.startsWith(`${this.dir}/`)) preview.reason = 'The new location is inside the current one.';
    else if (this.dir.startsWith(`${target}/`)) preview.reason = 'The current location is inside the new one.';
    else if (this.full.includes(target)) preview.reason = 'That folder is not empty.';
    else if (this.free < bytes) preview.reason = 'There is not enough room there.';
    return preview;
  }
}

export function storageService(store: FakeStore, program: Program, tasks: FakeTasks, disk: FakeDisk): StorageService {
  const turnCount = () => [...store.branches.values()].reduce((sum, branch) => sum + branch.turns.length, 0);
  const newest = () => Math.max(0, ...[...store.branches.values()].flatMap((branch) => branch.turns.map((turn) => turn.createdAt)));
  const requireIdle = () => {
    if (tasks.list.some((task) => task.state === 'running')) throw new BackendError(errorView('Tasks are still running, and a restart would interrupt them; nothing was changed.', 'wait for them, or cancel them', 'conflict'));
  };
  return {
    storage: async () => {
      const parts = disk.parts();
      return { dataDir: disk.dir, config: program.view().path, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), free: disk.free, sessions: store.sessions.size, turns: turnCount(), movable: disk.unmovable === '', unmovable: disk.unmovable, parts };
    },
    backups: async (check) => {
      if (check) disk.backups = disk.backups.map((entry) => ({ ...entry, checked: entry.problem === '', problems: disk.findings.get(entry.path)?.length ?? 0 }));
      return disk.backups;
    },
    backUp: async (path) => {
      if (path !== '' && !path.startsWith('/')) throw new BackendError(errorView('The backup needs a full path.', '', 'invalid'));
      const backup = disk.backup('by_hand', store.now(), { sessions: store.sessions.size, turns: turnCount(), ...(path === '' ? {} : { path }) });
      return tasks.start({
        kind: 'backup', title: path === '' ? 'Back up' : `Back up to ${path.slice(path.lastIndexOf('/') + 1)}`, unit: '', total: 0, details: ['copying, and reading the copy back', 'copying, and reading the copy back'],
        ends: (cancelled) => {
          if (cancelled) return {};
          if (path === '') disk.backups = [backup, ...disk.backups];
          else disk.elsewhere.set(path, backup);
          return { path: backup.path };
        },
      });
    },
    restorePreview: async (path): Promise<RestorePreview> => {
      const backup = disk.find(path);
      if (backup.problem !== '') throw new BackendError(errorView(`This backup is damaged and cannot be restored: ${backup.problem}`, 'Nothing was changed. Choose another backup.', 'corrupt'));
      const findings = disk.findings.get(path) ?? [];
      return {
        backup: { ...backup, checked: true }, sessions: store.sessions.size, turns: turnCount(), newestTurn: newest(), backupNewest: backup.at - 3_600_000,
        problems: findings.length, findings: findings.slice(0, 20), schemaUpgrade: backup.kind === 'migration',
        undone: disk.receipts.filter((receipt) => receipt.at > backup.at),
      };
    },
    restore: async (path) => {
      disk.find(path);
      requireIdle();
      disk.pending = `restore ${path}`;
    },
    pickFolder: async () => disk.folder,
    movePreview: async (to) => disk.plan(to),
    move: async (to) => {
      const plan = disk.plan(to);
      if (plan.reason !== '') throw new BackendError(errorView(`The data cannot be moved there: ${plan.reason}`, 'nothing was moved', 'invalid'));
      requireIdle();
      disk.pending = `move ${plan.to}`;
      return tasks.start({ kind: 'move', title: `Move everything to ${plan.to}`, unit: 'bytes', total: plan.bytes, details: ['', '', ''], ends: () => ({ path: plan.to }) });
    },
    check: async () =>
      tasks.start({
        kind: 'verify', title: 'Check everything', unit: '', total: 3, details: ['the database: records, ledger and index', 'contexts of models, assembled again', 'journals of answers'],
        ends: (cancelled) => (cancelled ? {} : { check: { problems: disk.wrong.length, findings: disk.wrong } }),
      }),
    previewDeletion: async (kind, id, copies) => previewOf(store, disk, kind, id, copies),
    delete: async (kind, id, confirm, copies) => {
      const preview = previewOf(store, disk, kind, id, copies);
      if (confirm.trim().toLowerCase() !== preview.confirm) throw new BackendError(errorView(`What was typed is not “${preview.confirm}”; nothing was deleted.`, '', 'invalid'));
      if (preview.reason !== '') throw new BackendError(errorView(preview.reason, '', 'conflict'));
      const receipt: ReceiptView = { id: store.id('receipt'), kind, subject: id, at: store.now(), parts: preview.parts, backups: preview.backups, copies: preview.copies, included: preview.included.map(() => store.id('receipt')) };
      disk.receipts = [receipt, ...disk.receipts];
      if (kind === 'project') {
        store.projects = store.projects.filter(({ view }) => view.id !== id);
        store.changed('sessions', '', '');
        store.changed('projects', id, '');
      } else if (kind === 'session') {
        for (const branch of store.session(id).branchIds) store.branches.delete(branch);
        store.sessions.delete(id);
        store.changed('sessions', id, id);
        store.changed('session', id, id);
        for (const { sessionId } of preview.included) {
          store.sessions.delete(sessionId);
          store.changed('session', sessionId, sessionId);
        }
      } else store.touch(Object.assign(store.turn(id), { user: [block('text', deletedMark)], assistant: [block('text', deletedMark)], memories: 0, deletedAt: receipt.at }));
      return receipt;
    },
    receipts: async () => disk.receipts,
    startFresh: async () => {
      program.startup = { ...program.startup, lost: false };
      return `${disk.dir}/replaced/20261122-120000`;
    },
    dropLog: async () => {
      program.startup = { ...program.startup, damagedLog: false };
      return `${disk.dir}/replaced/20261122-120000`;
    },
    reopen: async () => {
      disk.pending = 'reopen';
    },
  };
}

/** Opening and converting the data restarts the program. */
export function sealingService(disk: FakeDisk, tasks: FakeTasks): SealingService {
  const refuse = () => new BackendError(errorView('The passphrase does not open the data; nothing was read or changed.', '', 'sealed'));
  const mustOpen = (secret: string) => {
    if (disk.sealing.sealed && !disk.sealing.signIn && secret.trim() !== disk.passphrase) throw refuse();
  };
  return {
    view: async () => disk.sealing,
    unlock: async (secret) => {
      if (secret.trim() !== disk.passphrase) throw refuse();
      disk.pending = 'reopen';
    },
    lock: async () => {
      disk.pending = 'lock';
    },
    active: async () => undefined,
    newCode: async () => 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ23-4567',
    seal: async (passphrase) => {
      mustOpen(passphrase);
      disk.passphrase = passphrase;
      disk.pending = 'seal';
    },
    sealSignIn: async () => {
      mustOpen('');
      disk.pending = 'seal';
    },
    setSignIn: async (secret) => {
      mustOpen(secret);
      disk.sealing.signIn = true;
    },
    unseal: async (secret) => {
      mustOpen(secret);
      disk.pending = 'unseal';
    },
    sealLeft: async () => {
      const left = disk.sealing.left.filter((path) => path.includes('damaged'));
      disk.sealing = { ...disk.sealing, left };
      const fails = left.length > 0 ? errorView(`These copies of the data could not be converted, and are as they were: ${left.join(', ')}`, '', 'corrupt') : undefined;
      return tasks.start({ kind: 'seal', title: 'Seal the data', unit: '', total: 0, details: [''], fails, ends: () => ({}) });
    },
    setPassphrase: async (secret, passphrase) => {
      mustOpen(secret);
      disk.sealing.signIn = false;
      disk.passphrase = passphrase;
    },
    setCode: async (secret) => mustOpen(secret),
  };
}

function previewOf(store: FakeStore, disk: FakeDisk, kind: string, id: string, copies: readonly string[]): DeletionPreview {
  if (kind === 'project') {
    const project = store.projects.find(({ view }) => view.id === id);
    if (!project) throw new BackendError(errorView('There is no such project; it may have been deleted.', '', 'not_found'));
    const files = project.documents.length + project.watched.length;
    const parts = [{ store: 'projects', label: 'Project', count: 1 }, { store: 'project_facts', label: 'Pinned facts of the project', count: project.view.facts.length }, { store: 'project_files', label: 'Files of the project', count: files }];
    return { kind, title: project.view.name, turnSeq: 0, confirm: 'delete', parts: parts.filter(({ count }) => count > 0), sessions: [], backups: disk.backups.map((backup) => backup.name), copies: [], included: [], reason: '', everywhere: false };
  }
  const turn = kind === 'turn' ? store.turn(id) : undefined;
  const session = turn ? store.sessionOf(turn) : store.session(id);
  const title = session.row.title.trim();
  const turns = session.branchIds.flatMap((branch) => store.branch(branch).turns);
  const counted = (store: string, label: string, count: number): DeletedPart[] => (count > 0 ? [{ store, label, count }] : []);
  const affectedTurns = turn ? 1 : turns.length;
  const parts = [
    ...(turn ? [] : [...counted('sessions', 'Session', 1), ...counted('branches', 'Branches', session.branchIds.length)]),
    ...counted('turns', 'Messages and answers', affectedTurns), ...counted('steps', 'Calls to a model', affectedTurns), ...counted('chunks', 'Memories', 2 * affectedTurns), ...counted('units', 'Text index entries', 5 * affectedTurns),
    ...counted('requests', 'Stored requests', affectedTurns + 3), ...counted('states', 'State summaries', turn ? 0 : affectedTurns), ...counted('files', 'Documents', turn ? 0 : 2), ...counted('events', 'Change log entries', 6 * affectedTurns),
  ];
  const running = turns.some((entry) => entry.live);
  const others = [...store.sessions.values()].filter((entry) => entry !== session && entry.row.title !== '').slice(0, affectedTurns > 20 ? 2 : 0).map((entry) => entry.row.title);
  return {
    kind, title, turnSeq: turn?.seq ?? 0, confirm: 'delete', parts, sessions: others,
    backups: affectedTurns > 1 || turn ? disk.backups.filter((entry) => entry.at > session.row.createdAt).map((entry) => `backups/${entry.name}`) : [],
    copies: disk.copies.filter((copy) => !copies.includes(copy.sessionId)),
    included: disk.copies.filter((copy) => copies.includes(copy.sessionId)),
    reason: running ? 'An answer in this session is being written; nothing was deleted.' : '',
    everywhere: disk.everywhere,
  };
}
