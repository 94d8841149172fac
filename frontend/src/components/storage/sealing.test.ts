import { cleanup, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { taskView } from '$lib/backend/fake/work';
import { mountWith } from '$shared/testing/harness';
import SealingPart from './SealingPart.svelte';

const user = userEvent.setup();

async function part(prepare: (backend: FakeBackend) => void = () => undefined) {
  const mounted = await mountWith(SealingPart, {}, {}, prepare);
  await screen.findByRole('heading', { name: 'Encryption' });
  return { ...mounted, called: (name: string) => mounted.backend.calls.filter((call) => call.name === `sealing.${name}`).map((call) => call.args) };
}

const sealed = ({ disk }: FakeBackend) => (disk.sealing = { sealed: true, signIn: false, left: ['/data/backups/plain.db'], outside: ['/media/copy.db'] });

async function keepCode() {
  const shown = await screen.findByText(/ABCD-EFGH/);
  const next = screen.getByRole('dialog').querySelector<HTMLButtonElement>('button[type="submit"]')!;
  expect(next).toBeDisabled();
  await user.type(screen.getByLabelText('Last group of the code'), '9999');
  expect(next).toBeDisabled();
  await user.clear(screen.getByLabelText('Last group of the code'));
  await user.type(screen.getByLabelText('Last group of the code'), shown.textContent!.slice(-4).toLowerCase());
  await user.click(next);
}

test('sealing: the code first, kept and typed back, then the passphrase twice; what both lost means is said each time', async () => {
  const { backend, called } = await part();
  await user.click(await screen.findByRole('button', { name: 'Seal the data…' }));
  expect(await screen.findByText(/both lost, everything is lost/)).toBeVisible();
  await keepCode();
  expect(called('seal')).toEqual([]);
  const first = await screen.findByLabelText('New passphrase');
  expect(first).toHaveFocus();
  expect(screen.getByText(/both lost, everything is lost/)).toBeVisible();
  await user.type(first, 'one two');
  const button = screen.getByRole('button', { name: 'Seal the data' });
  await user.type(screen.getByLabelText('The same again'), 'one tw');
  expect(button).toBeDisabled();
  expect(screen.getByRole('alert')).toHaveTextContent('not the same');
  await user.type(screen.getByLabelText('The same again'), 'o');
  await user.click(button);
  expect(await screen.findByText('The program restarts')).toBeVisible();
  expect(screen.getByRole('dialog').querySelector('.dialog__foot')).toBeNull(); // without buttons it would be an empty line
  expect([called('seal'), backend.disk.pending]).toEqual([[['one two']], 'seal']);
});

test('sealed data: what is plain is named; it is locked at once', async () => {
  const { backend } = await part(sealed);
  expect(await screen.findByText('/data/backups/plain.db')).toBeVisible();
  expect(screen.getByText('/media/copy.db')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Lock now' }));
  await waitFor(() => expect(backend.disk.pending).toBe('lock'));
});

test('plain backups are sealed at once; those that cannot be are still named', async () => {
  await part((prepared) => {
    sealed(prepared);
    prepared.disk.sealing.left.push('/data/backups/damaged.db');
  });
  await user.click(await screen.findByRole('button', { name: 'Seal now' }));
  expect(await screen.findByText(/could not be converted/)).toBeVisible();
  await waitFor(() => expect(screen.queryByText('/data/backups/plain.db')).toBeNull());
  expect(screen.getByText('/data/backups/damaged.db')).toBeVisible();
});

test('a notice says that the copies are sealed, and has the focus, because their list disappears with its button', async () => {
  await part(sealed);
  expect(await screen.findByRole('group', { name: 'This copy is plain, or has an earlier key:' })).toHaveAttribute('tabindex', '0'); // a long list is scrolled
  await user.click(screen.getByRole('button', { name: 'Seal now' }));
  await waitFor(() => expect(screen.queryByText('/data/backups/plain.db')).toBeNull());
  expect(screen.getByText('The copies are sealed.').closest('[tabindex]')).toHaveFocus();
});

test('somebody who does something else meanwhile keeps the focus', async () => {
  await part(sealed);
  await user.click(await screen.findByRole('button', { name: 'Seal now' }));
  screen.getByRole('button', { name: 'Lock now' }).focus();
  expect(await screen.findByText('The copies are sealed.')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Lock now' })).toHaveFocus();
});

test('a new passphrase and a new code are in force without a restart', async () => {
  const { backend, called } = await part(sealed);
  await user.click(await screen.findByRole('button', { name: 'New passphrase…' }));
  const present = await screen.findByLabelText('Your passphrase, or the present recovery code');
  expect(present).toHaveFocus();
  await user.type(screen.getByLabelText('New passphrase'), 'next');
  await user.type(screen.getByLabelText('The same again'), 'next');
  expect(screen.getByRole('button', { name: 'Replace the passphrase' })).toBeDisabled();
  await user.type(present, 'correct horse');
  await user.click(screen.getByRole('button', { name: 'Replace the passphrase' }));
  await waitFor(() => expect(called('setPassphrase')).toEqual([['correct horse', 'next']]));
  await user.click(await screen.findByRole('button', { name: 'New recovery code…' }));
  await user.type(await screen.findByLabelText('Your passphrase, or the present recovery code'), 'next');
  await keepCode();
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect([called('setCode'), backend.disk.pending]).toEqual([[['next']], '']);
});

test('renewing the key needs the passphrase; a wrong one is reported in the dialog', async () => {
  const { backend } = await part(sealed);
  await user.click(await screen.findByRole('button', { name: 'Renew the key…' }));
  await keepCode();
  await user.type(await screen.findByLabelText('Your passphrase'), 'wrong{Enter}');
  expect(await screen.findByText(/does not open the data/)).toBeVisible();
  expect(backend.disk.pending).toBe('');
});

test('storing the data plain needs the passphrase: an open window is not enough', async () => {
  const { backend } = await part(sealed);
  await user.click(await screen.findByRole('button', { name: 'Store it plain…' }));
  expect(screen.getByRole('dialog')).toHaveTextContent(/can then read your sessions/);
  const button = screen.getByRole('button', { name: 'Store it plain' });
  const secret = screen.getByLabelText('Your passphrase, or the present recovery code');
  expect(button).toBeDisabled();
  expect(secret).toHaveFocus();
  await user.type(secret, 'wrong{Enter}');
  expect(await screen.findByText(/does not open the data/)).toBeVisible();
  expect(backend.disk.pending).toBe('');
  await user.clear(secret);
  await user.type(secret, 'correct horse');
  await user.click(button);
  await waitFor(() => expect(backend.disk.pending).toBe('unseal'));
});

test('sealing with the sign-in: the code is kept, no passphrase is asked for, and what opens the data is said', async () => {
  const { backend, called } = await part();
  await user.click(await screen.findByRole('button', { name: 'Seal the data…' }));
  await keepCode();
  await user.click(await screen.findByRole('radio', { name: 'Open with my sign-in' }));
  expect(screen.queryByLabelText('New passphrase')).toBeNull();
  expect(screen.getByText(/whoever is signed in to this account opens the data/)).toBeVisible();
  expect(screen.getByText(/keyring and the recovery code are both lost, everything is lost/)).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Seal the data' }));
  await waitFor(() => expect([called('sealSignIn'), called('seal'), backend.disk.pending]).toEqual([[[]], [], 'seal']));
});

test('data that opens with the sign-in cannot be locked; its key is renewed without a passphrase; a passphrase replaces the sign-in', async () => {
  const { backend, called } = await part((prepared) => {
    sealed(prepared);
    prepared.disk.sealing.signIn = true;
  });
  expect(await screen.findByText(/It opens with your sign-in/)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Lock now' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'New passphrase…' }));
  await user.type(await screen.findByLabelText('New passphrase'), 'next');
  await user.type(screen.getByLabelText('The same again'), 'next');
  await user.click(screen.getByRole('button', { name: 'Replace the passphrase' }));
  expect(await screen.findByRole('button', { name: 'Lock now' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Open with my sign-in…' }));
  await user.type(await screen.findByLabelText('Your passphrase, or the present recovery code'), 'next');
  await user.click(screen.getByRole('button', { name: 'Open with my sign-in' }));
  expect(await screen.findByRole('button', { name: 'Store the key in the keyring again…' })).toBeVisible();
  expect([called('setSignIn'), backend.disk.pending]).toEqual([[['next']], '']);
  await user.click(screen.getByRole('button', { name: 'Renew the key…' }));
  await keepCode();
  await user.click(await screen.findByRole('button', { name: 'Renew the key' }));
  await waitFor(() => expect([called('sealSignIn'), backend.disk.pending]).toEqual([[[]], 'seal']));
});

test('a keyring that does not store the key is reported in the dialog', async () => {
  const { backend } = await part(sealed);
  backend.failNext('sealing.setSignIn', { code: 'unavailable', message: 'The system keyring did not store the key' });
  await user.click(await screen.findByRole('button', { name: 'Open with my sign-in…' }));
  await user.type(await screen.findByLabelText('Your passphrase, or the present recovery code'), 'correct horse{Enter}');
  expect(await screen.findByText(/did not store the key/)).toBeVisible();
});

test('data that opens with the sign-in is stored plain without a passphrase, which it does not have', async () => {
  const { backend } = await part((prepared) => {
    sealed(prepared);
    prepared.disk.sealing.signIn = true;
  });
  await user.click(await screen.findByRole('button', { name: 'Store it plain…' }));
  expect(screen.queryByLabelText('Your passphrase, or the present recovery code')).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Store it plain' }));
  await waitFor(() => expect(backend.disk.pending).toBe('unseal'));
});

test('what the program restarted for is said once, also if the page is loaded again', async () => {
  const ended = taskView({ kind: 'seal', title: 'Store the data plain', state: 'done', firm: true, endedAt: 5 });
  const earlier = taskView({ id: 'task0', kind: 'seal', title: 'Seal the data', state: 'done', firm: true, endedAt: 4 });
  const texts = async () => (await part(({ tasks }) => (tasks.list = [ended, earlier]))).app.toasts.list.map(({ text }) => text);
  expect(await texts()).toEqual(['Store the data plain: done']);
  cleanup();
  expect(await texts()).toEqual([]);
});
