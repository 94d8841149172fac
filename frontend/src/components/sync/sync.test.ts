import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { errorView } from '$lib/backend/fake/shapes';
import type { SyncView } from '$lib/backend/types';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountWith } from '$shared/testing/harness';
import { SettingsEditor } from '../settings/settings.svelte';
import SyncPage from './SyncPage.svelte';

const user = userEvent.setup();

async function page(view: Partial<SyncView> = {}, prepare: (backend: FakeBackend) => void = () => undefined) {
  const mounted = await mountWith(SyncPage, { settings: [], editor: new SettingsEditor({} as FakeBackend) }, {}, (backend) => {
    backend.vault.view = { ...backend.vault.view, ...view };
    prepare(backend);
  });
  return { ...mounted, called: (name: string) => mounted.backend.calls.filter((call) => call.name === `sync.${name}`).map((call) => call.args) };
}

const connected: Partial<SyncView> = {
  connected: true, address: '/media/usb/vault', exchangedAt: Date.now(),
  devices: [{ name: 'workshop', log: 'aa', this: true, removed: false, files: 2, known: 2, writtenAt: 0 }, { name: 'laptop', log: 'bb', this: false, removed: false, files: 5, known: 3, writtenAt: 0 }],
};

async function choosePlace(address: string) {
  await user.click(await screen.findByRole('button', { name: 'Connect a vault…' }));
  const field = await screen.findByLabelText('Folder or address');
  await user.clear(field);
  await user.type(field, address);
  await user.click(screen.getByRole('button', { name: 'Continue' }));
}

test('a new vault: the place, the code kept and typed back, the passphrase twice; then all is in step', async () => {
  const { called } = await page();
  await choosePlace('/home/ada/Sync');
  expect(await screen.findByText('ABCD-EFGH-JKMN-PQRS')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
  await user.type(screen.getByLabelText('Last group of the code'), 'pqrs');
  await user.click(screen.getByRole('button', { name: 'Continue' }));
  const first = await screen.findByLabelText('New passphrase of the vault');
  await waitFor(() => expect(first).toHaveFocus());
  await user.type(first, 'one two');
  await user.type(screen.getByLabelText('The same again'), 'one tw');
  expect(screen.getByRole('button', { name: 'Create the vault' })).toBeDisabled();
  await user.type(screen.getByLabelText('The same again'), 'o');
  await user.click(screen.getByRole('button', { name: 'Create the vault' }));
  expect(await screen.findByText('In step.')).toBeVisible();
  expect(called('connect')).toEqual([[{ address: '/home/ada/Sync', user: '', password: '' }, 'one two']]);
});

test('a vault that exists is joined with its passphrase; a wrong one and a missing folder are said in the dialog', async () => {
  await page();
  await choosePlace('/missing/drive');
  expect(await screen.findByText(/There is no folder/)).toBeVisible();
  await user.clear(screen.getByLabelText('Folder or address'));
  await user.type(screen.getByLabelText('Folder or address'), '/media/usb/vault{Enter}');
  await user.type(await screen.findByLabelText('Passphrase or recovery code'), 'wrong{Enter}');
  expect(await screen.findByText(/does not open the vault/)).toBeVisible();
  await user.clear(screen.getByLabelText('Passphrase or recovery code'));
  await user.type(screen.getByLabelText('Passphrase or recovery code'), 'correct horse');
  await user.click(screen.getByRole('button', { name: 'Join the vault' }));
  expect(await screen.findByText('In step.')).toBeVisible();
  const laptop = screen.getByText('laptop').closest('li')!;
  expect(within(laptop).getByText(/3 of 3 files are here/)).toBeVisible();
});

test('a place that does not answer can be left, and what was asked of it is ended', async () => {
  const { backend, called } = await page();
  let answer = (_found: boolean) => {};
  backend.sync.find = () => new Promise((resolve) => (answer = resolve));
  await choosePlace('/mnt/nas');
  expect(called('cancel')).toHaveLength(0);
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(called('cancel')).toHaveLength(1);
  answer(false);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(called('newCode')).toHaveLength(0);
});

test('an address of a server asks for the name and the password', async () => {
  const { called } = await page();
  await user.click(await screen.findByRole('button', { name: 'Connect a vault…' }));
  expect(screen.queryByLabelText('Password')).toBeNull();
  await user.type(await screen.findByLabelText('Folder or address'), 'https://cloud.example/vault/');
  await user.type(screen.getByLabelText('Name'), 'ada');
  await user.type(screen.getByLabelText('Password'), 'secret');
  await user.click(screen.getByRole('button', { name: 'Continue' }));
  await waitFor(() => expect(called('find')).toEqual([[{ address: 'https://cloud.example/vault/', user: 'ada', password: 'secret' }]]));
});

test.each<[string, Partial<SyncView>, RegExp]>([
  ['in step', {}, /^In step\.$/],
  ['arriving', { busy: true, read: 2, all: 8, turns: 40 }, /2 of 8 files, 40 turns so far/],
  ['waiting', { waiting: 2 }, /2 sessions wait/],
  ['not exchanged yet', { exchangedAt: 0 }, /^Not exchanged yet\.$/],
  ['paused', { paused: true }, /background work is paused/],
  ['failed', { error: errorView('The vault cannot be reached', 'connect the drive', 'unavailable') }, /^The last exchange failed\.$/],
  ['waiting for files', { problems: [errorView('laptop: file 3 of 5 is missing', 'run it again later', 'not_found')] }, /^A part waits/],
])('state: %s', async (_, view, text) => {
  await page({ ...connected, ...view });
  const state = await screen.findByText(text);
  expect(state.closest('[role="status"]')).toBeVisible();
  for (const said of [view.error, ...(view.problems ?? [])]) if (said) for (const part of [said.message, said.hint]) expect(screen.getByText(new RegExp(part as string, 'i'))).toBeVisible();
  expect(screen.getByText('laptop')).toBeVisible();
});

test('what a check finds is in the language of the window', async () => {
  await page(connected, ({ vault }) => {
    vault.findings = [{ id: '%s: file %d of %d, or a document that it names, is missing in the vault. What this device wrote from there on waits; nothing else is affected.', args: ['laptop', 2, 5] }];
  });
  await user.click(await screen.findByRole('button', { name: 'Check the vault' }));
  expect(await screen.findByText(/^laptop: file 2 of 5, or a document/)).toBeVisible();
  await chooseLanguage('de', []);
  expect(await screen.findByText(/^laptop: Die Datei 2 von 5/)).toBeVisible();
  await chooseLanguage('en', []);
});

test('by hand: exchanged, checked and disconnected, with what stays where', async () => {
  const { backend, called } = await page({ ...connected, exchangedAt: 0 });
  await user.click(await screen.findByRole('button', { name: 'Sync now' }));
  expect(await screen.findByText('In step.')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Check the vault' }));
  await waitFor(() => expect(called('check')).toHaveLength(1));
  await user.click(screen.getByRole('button', { name: 'Disconnect…' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog).toHaveTextContent(/keeps all its sessions/);
  await user.click(within(dialog).getByRole('button', { name: 'Disconnect' }));
  expect(await screen.findByText(/shares its sessions with no other/)).toBeVisible();
  expect(backend.vault.view.connected).toBe(false);
});

test('a computer is removed: what it keeps and what comes first is said, a wrong passphrase too, and the code is kept', async () => {
  const { backend, called } = await page(connected);
  backend.vault.unread = true;
  expect(await screen.findAllByRole('button', { name: /^Remove/ })).toHaveLength(1);
  await user.click(screen.getByRole('button', { name: 'Remove laptop' }));
  const dialog = within(await screen.findByRole('dialog'));
  for (const said of [/What it has, it keeps/, /First change the password or key of the place/, /other computers ask for the passphrase/]) expect(dialog.getByText(said)).toBeVisible();
  await user.type(dialog.getByLabelText('Passphrase or recovery code'), 'wrong');
  await user.type(dialog.getByLabelText('New passphrase of the vault'), 'one two');
  await user.type(dialog.getByLabelText('The same again'), 'one tw');
  expect(dialog.getByRole('button', { name: 'Continue' })).toBeDisabled();
  await user.type(dialog.getByLabelText('The same again'), 'o');
  await user.click(dialog.getByRole('button', { name: 'Continue' }));
  const group = await dialog.findByLabelText('Last group of the code');
  await waitFor(() => expect(group).toHaveFocus());
  expect(dialog.getByRole('button', { name: 'Remove laptop' })).toBeDisabled();
  await user.type(group, 'pqrs');
  await user.click(dialog.getByRole('button', { name: 'Remove laptop' }));
  expect(await dialog.findByText(/does not open the vault/)).toBeVisible();
  const secret = dialog.getByLabelText('Passphrase or recovery code');
  await waitFor(() => expect(secret).toHaveFocus());
  await user.clear(secret);
  await user.type(secret, 'correct horse');
  await user.click(dialog.getByRole('button', { name: 'Continue' }));
  expect(dialog.queryByRole('checkbox', { name: /even if something/ })).toBeNull();
  await user.click(await dialog.findByRole('button', { name: 'Remove laptop' }));
  await user.click(await dialog.findByRole('checkbox', { name: /even if something/ }));
  await user.click(dialog.getByRole('button', { name: 'Remove laptop' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(called('remove')).toEqual([['bb', 'wrong', 'one two', false], ['bb', 'correct horse', 'one two', false], ['bb', 'correct horse', 'one two', true]]);
  expect(called('newCode')).toHaveLength(1);
  expect(within(screen.getByText('laptop').closest('li')!).getByText('removed')).toBeVisible();
  expect(screen.queryByRole('button', { name: /^Remove/ })).toBeNull();
});

test('a vault that asks for its passphrase again is connected with the address that is known', async () => {
  await page(connected);
  await user.click(await screen.findByRole('button', { name: 'Connect a vault…' }));
  expect(await screen.findByLabelText('Folder or address')).toHaveValue('/media/usb/vault');
});
