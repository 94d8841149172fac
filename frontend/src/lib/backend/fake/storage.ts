/** The data directory of a program in memory. */
import type { StorageService } from '../backend';
import { BackendError } from '../errors';
import type { BackupView, DeletePreview, ErasedPart, ReceiptView } from '../types';
import { errorView } from './shapes';
import type { Program } from './program';
import type { FakeTasks } from './work';
import type { World } from './world';

const megabyte = 1_000_000;
const day = 86_400_000;

export function storageService(world: World, program: Program, tasks: FakeTasks): StorageService {
  const folder = `${program.startup.dataDir}/backups`;
  const backup = (kind: string, ago: number): BackupView => ({
    path: `${folder}/${kind}-${ago}.db`, name: `${kind}-${ago}.db`, kind, at: world.epoch - ago * day, bytes: 58 * megabyte, sessions: 16, turns: 480, checked: false, problem: '',
  });
  const backups = [backup('daily', 1), backup('daily', 2), backup('by_hand', 9), backup('migration', 30)];
  const receipts: ReceiptView[] = [];
  const turnCount = () => [...world.branches.values()].reduce((sum, branch) => sum + branch.turns.length, 0);
  const backupOf = (path: string) => {
    const found = backups.find((one) => one.path === path);
    if (!found) throw new BackendError(errorView(`${path} is not a backup of this program`, 'Nothing was changed.'));
    return found;
  };
  return {
    storage: async () => ({
      dataDir: program.startup.dataDir, config: program.view().path, bytes: 311 * megabyte, free: 88_000 * megabyte, sessions: world.sessions.size, turns: turnCount(), movable: true, unmovable: '',
      parts: [
        { name: 'database', label: 'Database', bytes: 61 * megabyte, files: 2, about: 'Every conversation, its memory and its index.' },
        { name: 'journals', label: 'Journals', bytes: 6 * megabyte, files: 12, about: 'Answers as they arrived, byte for byte.' },
        { name: 'backups', label: 'Backups', bytes: 244 * megabyte, files: backups.length, about: 'Copies of the database.' },
      ],
    }),
    backups: async (check) => backups.map((one) => ({ ...one, checked: check })),
    backUp: async (path) => tasks.start({ kind: 'backup', title: 'Back up', unit: 'bytes', total: 61 * megabyte, details: Array.from({ length: 8 }, () => 'Copying the database'), ends: (cancelled) => (cancelled ? {} : (backups.unshift(backup('by_hand', 0)), { path: path || backups[0]!.path })) }),
    restorePreview: async (path) => ({ backup: backupOf(path), sessions: world.sessions.size, turns: turnCount(), newestTurn: world.epoch, backupNewest: backupOf(path).at, problems: 0, findings: [], schemaUpgrade: backupOf(path).kind === 'migration' }),
    restore: async (path) => void backupOf(path),
    pickFolder: async () => '/home/ada/Elsewhere',
    movePreview: async (to) => ({ from: program.startup.dataDir, to, bytes: 311 * megabyte, free: 88_000 * megabyte, reason: to.startsWith('/') ? '' : 'The folder has to be named in full, from the root on.' }),
    move: async (to) => tasks.start({ kind: 'move', title: `Move the data to ${to}`, unit: 'bytes', total: 311 * megabyte, details: ['Copying', 'Copying', 'Comparing'], ends: () => ({ path: to }) }),
    deletePreview: async (kind, id) => previewOf(world, kind, id),
    erase: async (kind, id, confirm) => {
      const preview = previewOf(world, kind, id);
      if (confirm !== preview.confirm) throw new BackendError(errorView('What was typed is not what was asked for', 'Nothing was deleted.'));
      const receipt: ReceiptView = { id: world.id('receipt'), kind, subject: id, at: world.now(), parts: preview.parts, backups: preview.backups };
      receipts.unshift(receipt);
      if (kind === 'session') {
        for (const branch of world.session(id).branchIds) world.branches.delete(branch);
        world.sessions.delete(id);
        world.changed('sessions', id, id);
      } else world.touch(Object.assign(world.turn(id), { user: [], assistant: [] }));
      return receipt;
    },
    receipts: async () => receipts,
  };
}

function previewOf(world: World, kind: string, id: string): DeletePreview {
  const turn = kind === 'turn' ? world.turn(id) : undefined;
  const session = turn ? world.sessionOf(turn) : world.session(id);
  const title = session.row.title || 'New conversation';
  const parts: ErasedPart[] = [
    { store: 'turns', label: 'Messages and answers', count: turn ? 1 : world.lineage(session.row.activeBranch).length },
    { store: 'chunks', label: 'Pieces of memory', count: turn ? 2 : 31 },
    { store: 'requests', label: 'Stored requests', count: turn ? 4 : 52 },
  ];
  return { kind, title: turn ? `#${turn.seq} of ${title}` : title, confirm: turn ? `#${turn.seq}` : title, parts, sessions: [], backups: ['daily-1.db', 'daily-2.db'], reason: '' };
}
