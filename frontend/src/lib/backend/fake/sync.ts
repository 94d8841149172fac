/** The vault of the fake program. */
import type { CheckReport, SyncService, SyncView } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { Program } from './program';
import type { FakeStore } from './store';
import type { FakeTasks } from './work';

const disconnected = (): SyncView => ({
  connected: false, address: '', user: '', automatic: true, paused: false, attention: false,
  busy: false, read: 0, all: 0, turns: 0, exchangedAt: 0, waiting: 0, error: null, problems: [], devices: [],
});

/** The state that tests and scripts may change. */
export class FakeSync {
  view: SyncView = disconnected();
  /** Places that have a vault, and the passphrase of all of them. */
  readonly places = ['/media/usb/vault'];
  passphrase = 'correct horse';
  /** What a check finds. */
  findings: CheckReport['findings'] = [];
  /** Something that a computer had sent cannot be read. */
  unread = false;
}

export function syncService(store: FakeStore, tasks: FakeTasks, program: Program, vault: FakeSync): SyncService {
  const change = (view: Partial<SyncView>) => {
    vault.view = { ...vault.view, ...view };
    store.changed('vault', '', '');
  };
  const exchanged = () => change({
    busy: false, exchangedAt: store.now(), error: null,
    devices: [{ name: 'workshop', log: 'aa', this: true, removed: false, files: 1, known: 1, writtenAt: store.now() }, { name: 'laptop', log: 'bb', this: false, removed: false, files: 3, known: 3, writtenAt: store.now() - 3_600_000 }],
  });
  const find = (address: string) => {
    if (address.startsWith('/missing')) throw new BackendError(errorView(`There is no folder ${address}; nothing was changed.`, 'create it first, or connect the drive', 'not_found'));
    return vault.places.includes(address);
  };
  return {
    view: async () => ({ ...vault.view, automatic: program.view().settings.find(({ key }) => key === 'sync.automatic')?.value !== 'false' }),
    find: async ({ address }) => find(address.trim()),
    cancel: async () => undefined,
    newCode: async () => 'ABCD-EFGH-JKMN-PQRS',
    connect: async ({ address, user }, secret) => {
      const created = !find(address.trim());
      if (!created && secret !== vault.passphrase) throw new BackendError(errorView('The passphrase does not open the vault; nothing was changed.', '', 'sealed'));
      change({ ...disconnected(), connected: true, address: address.trim(), user, busy: true });
      exchanged();
      return created;
    },
    remove: async (log, secret, passphrase, anyway) => {
      if (secret !== vault.passphrase) throw new BackendError(errorView('The passphrase does not open the vault; nothing was changed.', '', 'sealed'));
      if (vault.unread && !anyway) throw new BackendError(errorView('Something that this computer had sent cannot be taken, and would not count any more. It was not removed.', 'wait until the folder is synchronized completely; or remove it anyway: devices remove --anyway', 'corrupt'));
      vault.passphrase = passphrase;
      change({ devices: vault.view.devices.map((device) => (device.log === log ? { ...device, removed: true } : device)) });
    },
    now: async () => exchanged(),
    check: async () => tasks.start({ kind: 'check_vault', title: 'Check the vault', unit: '', total: 1, details: [''], ends: (cancelled) => (cancelled ? {} : { check: { problems: vault.findings.length, findings: vault.findings } }) }),
    disconnect: async () => change(disconnected()),
  };
}
