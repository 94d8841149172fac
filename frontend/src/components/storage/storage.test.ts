import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeBackend, FakeOptions } from '$lib/backend/fake';
import { mountWith } from '$shared/testing/harness';
import Settings from '../settings/Settings.svelte';
import StorageDialogs from './StorageDialogs.svelte';
import { behindText, shareText } from './labels';

const user = userEvent.setup();
type Prepare = (backend: FakeBackend) => void;

async function page(prepare: Prepare = () => undefined, options: Partial<FakeOptions> = {}) {
  const mounted = await mountWith(Settings, (app) => {
    app.layout.openSettings('storage');
    return {};
  }, options, prepare);
  // Either of the two: waiting for only one would take the whole time limit if the other is shown.
  await waitFor(() => expect(screen.queryByText('There is no backup yet') ?? screen.queryByRole('list', { name: 'Backups' })).not.toBeNull());
  return mounted;
}

async function dialog(kind: 'backup' | 'restore' | 'move', prepare: Prepare = () => undefined, path: (backend: FakeBackend) => string = () => '') {
  let fake: FakeBackend | undefined;
  return mountWith(StorageDialogs, (app) => {
    if (kind === 'backup') app.storage.askBackup();
    else if (kind === 'move') app.storage.askMove();
    else app.storage.askRestore(path(fake!));
    return {};
  }, {}, (backend) => {
    fake = backend;
    prepare(backend);
  });
}
const calls = (backend: FakeBackend, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);

describe('the data directory', () => {
  it('has parts that add up, each with a label', async () => {
    await page();
    const table = await screen.findByRole('table', { name: 'Size of each part' });
    const bytes = (row: Element) => Number((row as HTMLElement).dataset['bytes']);
    const parts = [...table.querySelectorAll('tbody tr')].map(bytes);
    expect(parts).toHaveLength(5);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(bytes(table.querySelector('tfoot tr')!));
    expect(within(table).getByRole('row', { name: /Sessions.*3 files/ })).toHaveTextContent('18 %');
  });

  it('warns that the disk is nearly full, and what that would prevent', async () => {
    await page((backend) => (backend.disk.free = 30_000_000));
    expect(await screen.findByText('The disk is nearly full')).toBeVisible();
    expect(screen.getByText(/no backup can be made/)).toBeVisible();
  });

  it('is shown in the file manager; an error is shown in place', async () => {
    const { backend } = await page();
    backend.failNext('transfer.reveal', { message: 'There is no file manager', hint: 'Copy the path.' });
    await user.click(await screen.findByRole('button', { name: 'Show in file manager' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('There is no file manager');
    await user.click(screen.getByRole('button', { name: 'Show in file manager' }));
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
    expect(backend.files.revealed).toEqual(['/home/ada/.local/share/contextinfinity']);
  });

  it('shows why it cannot be moved', async () => {
    await page((backend) => (backend.disk.unmovable = 'The program was started with --data-dir, which sets the location.'));
    expect(await screen.findByText(/It cannot be moved from here. The program was started with --data-dir/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Move…' })).toBeDisabled();
  });
});

describe('a full check', () => {
  it('shows the progress, and that no problems were found', async () => {
    const { app } = await page();
    await user.click(screen.getByRole('button', { name: 'Check everything' }));
    const card = await screen.findByRole('region', { name: 'Check everything' });
    expect(await within(card).findByText(/No problems found/)).toBeVisible();
    expect(app.toasts.list).toEqual([]); // it was visible
    expect(app.work.unopened).toEqual([]);
  });

  it('lists each record that is not intact', async () => {
    await page((backend) => (backend.disk.wrong = ['turns 01KE: The hash does not fit.', 'chunks 01KF: It is cut from nothing.']));
    await user.click(screen.getByRole('button', { name: 'Check everything' }));
    const found = await screen.findByRole('list', { name: 'Findings' });
    expect(within(found).getAllByRole('listitem').map((line) => line.textContent)).toEqual(['turns 01KE: The hash does not fit.', 'chunks 01KF: It is cut from nothing.']);
    expect(screen.getByText('2 problems found')).toBeVisible();
  });

  it('can be cancelled, and reports nothing about what it did not check', async () => {
    const { backend } = await page();
    backend.tasks.start({ kind: 'verify', title: 'Check everything', unit: '', total: 1000, details: Array.from({ length: 1000 }, () => 'the database'), ends: () => ({}) });
    await user.click(await screen.findByRole('button', { name: 'Cancel: Check everything' }));
    const card = screen.getByRole('region', { name: 'Check everything' });
    expect(await within(card).findByText('cancelled')).toBeVisible();
    expect(card).not.toHaveTextContent('problem');
  });
});

describe('backups', () => {
  it('show time, reason, contents and problems', async () => {
    const { app } = await page();
    const list = screen.getByRole('list', { name: 'Backups' });
    const lines = within(list).getAllByRole('listitem');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toHaveTextContent(/Daily.*15 sessions, 480 turns.*Checked/);
    expect(lines[1]).toHaveTextContent(/The file ends in the middle.*Damaged/);
    expect(within(lines[1]!).getByRole('button', { name: /^Restore/ })).toBeDisabled();
    expect(lines[3]).toHaveTextContent('Replaced by a restore');
    await user.click(within(lines[2]!).getByRole('button', { name: /^Restore/ }));
    expect(app.storage.asking).toBe('restore');
    expect(app.storage.path).toMatch(/by_hand\.db$/);
  });

  it('are all checked, and the number of unusable ones is shown', async () => {
    const { backend } = await page((prepared) => (prepared.disk.backups[2]!.checked = false));
    expect(screen.getByText('Not checked')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Check all' }));
    expect(await screen.findByText('5 backups read and verified: 1 cannot be restored.')).toBeVisible();
    expect(screen.queryByText('Not checked')).toBeNull();
    expect(calls(backend, 'storage.backups').at(-1)).toEqual([true]);
  });

  it('show problems that verify finds, and can be restored anyway', async () => {
    await page((backend) => backend.disk.findings.set(backend.disk.backups[0]!.path, ['turns 01KE: The hash does not fit.']));
    const first = () => within(screen.getByRole('list', { name: 'Backups' })).getAllByRole('listitem')[0]!;
    expect(first()).not.toHaveTextContent('problem');
    await user.click(screen.getByRole('button', { name: 'Check all' }));
    expect(await screen.findByText('5 backups read and verified: 1 cannot be restored, 1 has data errors.')).toBeVisible();
    expect(first()).toHaveTextContent('1 problem in its data');
    expect(within(first()).getByRole('button', { name: /^Restore/ })).toBeEnabled();
  });

  it('explain themselves if there is none, and a new one appears', async () => {
    const { app } = await page((backend) => (backend.disk.backups = []));
    expect(screen.getByText('There is no backup yet')).toBeVisible();
    app.storage.askBackup();
    await app.storage.begin();
    expect(within(await screen.findByRole('list', { name: 'Backups' })).getByText('Manual')).toBeVisible();
  });

  it('go to the usual folder, or to a chosen one', async () => {
    const { backend } = await dialog('backup');
    await user.click(screen.getByRole('radio', { name: 'Another folder' }));
    expect(screen.getByRole('button', { name: 'Back up' })).toBeDisabled();
    await user.type(screen.getByLabelText('Save as'), 'stick.db{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The backup needs a full path.');
    await user.clear(screen.getByLabelText('Save as'));
    await user.type(screen.getByLabelText('Save as'), '/mnt/stick.db{Enter}');
    expect(await screen.findByRole('button', { name: 'Done' })).toHaveFocus();
    expect(screen.getByRole('dialog')).toHaveTextContent('/mnt/stick.db');
    expect(calls(backend, 'storage.backUp').at(-1)).toEqual(['/mnt/stick.db']);
  });
});

describe('restoring', () => {
  it('shows both sets of data, says what would be lost, and starts', async () => {
    const { app, backend } = await dialog('restore', undefined, (prepared) => prepared.disk.backups[2]!.path);
    const table = await screen.findByRole('table');
    expect(within(table).getByRole('row', { name: 'Sessions 16 13' })).toBeVisible();
    expect(screen.getByText(/^The backup has 3 sessions/)).toBeVisible();
    expect(screen.getByText(/The backup was verified: no problems found/)).toBeVisible();
    expect(backend.disk.pending).toBe('');
    await user.click(screen.getByRole('button', { name: 'Restore and restart' }));
    expect(await screen.findByText('The program restarts now')).toBeVisible();
    expect(backend.disk.pending).toBe(`restore ${backend.disk.backups[2]!.path}`);
    await user.click(within(screen.getByRole('dialog')).getAllByRole('button', { name: 'Close' }).at(-1)!);
    expect(app.storage.asking).toBeNull();
  });

  it('lists the problems that verify found', async () => {
    await dialog('restore', (backend) => backend.disk.findings.set(backend.disk.backups[0]!.path, ['turns 01KE: The hash does not fit.', 'events 8: The chain is broken.']), (backend) => backend.disk.backups[0]!.path);
    expect(await screen.findByText('2 problems were found in this backup')).toBeVisible();
    await user.click(screen.getByText('Findings'));
    expect(within(screen.getByRole('list', { name: 'Findings' })).getAllByRole('listitem')).toHaveLength(2);
  });

  it('names the permanent deletions it undoes', async () => {
    const receipt = (id: string, at: number, kind: string) => ({ id, kind, subject: id, at, parts: [], backups: [], copies: [], included: [] });
    await dialog('restore', (backend) => {
      const at = backend.disk.backups[2]!.at;
      backend.disk.receipts = [receipt('b', at + 2_000, 'session'), receipt('a', at + 1_000, 'turn'), receipt('before', at - 1_000, 'turn')];
    }, (backend) => backend.disk.backups[2]!.path);
    expect(await screen.findByText('2 permanent deletions are undone')).toBeVisible();
    const lines = within(screen.getByRole('list', { name: 'What comes back' })).getAllByRole('listitem');
    expect(lines.map((line) => line.textContent)).toEqual([expect.stringContaining('A session was permanently deleted'), expect.stringContaining('A turn was permanently deleted')]);
  });

  it('rejects a damaged backup or another file in place, and accepts another', async () => {
    const { backend } = await dialog('restore', undefined, (prepared) => prepared.disk.backups[1]!.path);
    expect(await screen.findByRole('alert')).toHaveTextContent('damaged and cannot be restored');
    expect(screen.getByRole('button', { name: 'Restore and restart' })).toBeDisabled();
    const field = screen.getByLabelText('Backup');
    await user.clear(field);
    await user.type(field, '/home/ada/cat.jpg{Enter}');
    expect(await screen.findByText('/home/ada/cat.jpg is not a backup of this program')).toBeVisible();
    await user.clear(field);
    await user.type(field, `${backend.disk.backups[0]!.path}{Enter}`);
    expect(await screen.findByRole('table')).toBeVisible();
    expect(backend.disk.pending).toBe('');
  });

  it('does not interrupt a running task', async () => {
    const { backend } = await dialog('restore', (prepared) => prepared.tasks.start({ kind: 'import', title: 'Import', unit: '', total: 0, details: Array.from({ length: 2_000 }, () => ''), ends: () => ({}) }), (prepared) => prepared.disk.backups[0]!.path);
    await screen.findByRole('table');
    await user.click(screen.getByRole('button', { name: 'Restore and restart' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('Tasks are still running');
    expect(backend.disk.pending).toBe('');
  });
});

describe('moving', () => {
  it.each([
    ['/home/ada/Documents', 'That folder is not empty.'],
    ['/home/ada/.local/share/contextinfinity', 'The data is already there.'],
    ['/home/ada/.local/share/contextinfinity/in', 'The new location is inside the current one.'],
    ['/home/ada', 'The current location is inside the new one.'],
  ])('to %s is rejected: %s', async (path, reason) => {
    await dialog('move');
    await user.type(screen.getByLabelText('New folder'), `${path}{Enter}`);
    expect(await screen.findByText('It cannot be moved there')).toBeVisible();
    expect(screen.getByRole('dialog')).toHaveTextContent(reason);
    expect(screen.getByRole('button', { name: 'Move and restart' })).toBeDisabled();
  });

  it('needs an absolute path and enough space', async () => {
    const { backend } = await dialog('move', (prepared) => (prepared.disk.free = 5_000_000));
    await user.type(screen.getByLabelText('New folder'), 'Elsewhere{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The new place needs a whole path.');
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    expect(await screen.findByText(/There is not enough room there./)).toBeVisible();
    expect(calls(backend, 'storage.movePreview').at(-1)).toEqual(['/home/ada/Elsewhere']);
  });

  it('says what happens to the old folder, and starts', async () => {
    const { backend } = await dialog('move');
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    expect(await screen.findByText(/The old folder does not change/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Move and restart' }));
    expect(await screen.findByText('The program restarts now')).toBeVisible();
    const card = screen.getByRole('region', { name: 'Move everything to /home/ada/Elsewhere' });
    expect(card).toBeVisible();
    expect(within(card).queryByRole('button', { name: /^Cancel/ })).toBeNull();
    expect(backend.disk.pending).toBe('move /home/ada/Elsewhere');
  });
});

describe('receipts', () => {
  it('are listed on the page, and open', async () => {
    await page((backend) => (backend.disk.receipts = [{ id: 'r1', kind: 'session', subject: 's0042', at: backend.store.epoch, parts: [{ store: 'turns', label: 'Messages and answers', count: 12 }], backups: ['backups/a.db'], copies: [], included: [] }]));
    await user.click(within(await screen.findByRole('list', { name: 'Receipts' })).getByText('A session was permanently deleted'));
    expect(screen.getByText('s0042')).toBeVisible();
    expect(screen.getByRole('row', { name: 'Messages and answers 12' })).toBeVisible();
    expect(screen.getByText('1 copy contained it then, and was not changed:')).toBeVisible();
  });
});

describe('texts', () => {
  it('are exact at the limits', () => {
    expect([shareText(0, 10), shareText(1, 1_000), shareText(1, 2), shareText(0, 0)]).toEqual(['0 %', 'under 1 %', '50 %', '0 %'].map((text) => text.replace(' %', '\u202f%')));
    expect(behindText({ sessions: 2, turns: 5 }, { sessions: 2, turns: 5 })).toBe('');
    expect(behindText({ sessions: 3, turns: 5 }, { sessions: 2, turns: 9 })).toBe('The backup has 1 session fewer than the current data.');
  });
});
