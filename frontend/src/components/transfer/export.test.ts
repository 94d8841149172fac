import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import type { FakeOptions } from '$lib/backend/fake';
import type { ExportingScope } from '$lib/backend/types';
import { targetOf } from '$lib/state/exporting.svelte';
import { mountWith } from '$shared/testing/harness';
import ExportDialog from './ExportDialog.svelte';

const user = userEvent.setup();

async function dialog(scope: ExportingScope = 'session', options: Partial<FakeOptions> = {}) {
  const mounted = await mountWith(ExportDialog, (app) => {
    const turn = app.conversation.turns.at(-1)!;
    app.exporting.show({ ...targetOf(app.conversation), turnId: turn.id, seq: turn.seq }, scope);
    return {};
  }, options, (backend) => (backend.program.startup.lastSession = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id));
  await waitFor(() => expect(mounted.app.exporting.plan).not.toBeNull());
  const path = () => (screen.getByLabelText('Save as') as HTMLInputElement).value;
  const lastRequest = (name: string) => mounted.backend.calls.filter((call) => call.name === name).at(-1)?.args[0];
  const choose = (name: string) => user.click(screen.getByRole('radio', { name }));
  return { ...mounted, path, lastRequest, choose, exporting: mounted.app.exporting };
}

describe('exporting', () => {
  it('lists what the file will and will not contain', async () => {
    const { choose } = await dialog();
    expect(screen.getByText('4 branches, 153 turns.')).toBeVisible();
    expect(screen.getByText('A bundle contains every branch.')).toBeVisible();
    await choose('Markdown (.md)');
    await choose('The open branch');
    expect(await screen.findByText('1 branch, 150 turns.')).toBeVisible();
    await choose('All sessions');
    expect(await screen.findByText(/15 sessions, .* turns without a final answer are left out\./)).toBeVisible();
  });

  it('does not lose a typed passphrase at the first Escape', async () => {
    const { exporting } = await dialog();
    await user.click(screen.getByRole('checkbox', { name: 'Protect with a passphrase' }));
    const close = vi.spyOn(exporting, 'close').mockReturnValue();
    await user.type(screen.getByLabelText('New passphrase'), 'correct horse{Escape}');
    expect(screen.getByRole('alertdialog')).toHaveTextContent('Discard');
    expect(close).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Keep editing' }));
    await user.clear(screen.getByLabelText('New passphrase'));
    await user.keyboard('{Escape}'); // nothing is typed any more
    expect(close).toHaveBeenCalledOnce();
  });

  it('seals a bundle with a passphrase that was typed twice', async () => {
    const { app, lastRequest, path, choose, exporting, backend } = await dialog();
    const button = screen.getByRole('button', { name: 'Export' });
    await user.click(screen.getByRole('checkbox', { name: 'Protect with a passphrase' }));
    await waitFor(() => expect(path()).toBe('/home/ada/Documents/Orders to Postgres.cinf.age'));
    expect(button).toBeDisabled();
    await user.type(screen.getByLabelText('New passphrase'), 'correct horse');
    await user.type(screen.getByLabelText('The same again'), 'correct house');
    expect(screen.getByText('The two are not the same yet.')).toBeVisible();
    expect(button).toBeDisabled();
    await user.clear(screen.getByLabelText('The same again'));
    await user.type(screen.getByLabelText('The same again'), 'correct horse');
    // Other formats are plain, and do not offer it.
    await choose('Markdown (.md)');
    expect(screen.queryByRole('checkbox', { name: 'Protect with a passphrase' })).toBeNull();
    await waitFor(() => expect(path()).toBe('/home/ada/Documents/Orders to Postgres.md'));
    await choose('Bundle (.cinf)');
    await waitFor(() => expect(path()).toMatch(/\.cinf\.age$/));
    expect(lastRequest('transfer.plan')).toMatchObject({ sealed: true });
    await user.click(button);
    expect(backend.calls.find((call) => call.name === 'transfer.export')?.args).toMatchObject([{ format: 'bundle', sealed: true }, 'correct horse']);
    await waitFor(() => expect(app.work.running).toEqual([]));
    expect([exporting.passphrase, exporting.repeated]).toEqual(['', '']); // forgotten
    exporting.again();
    expect(exporting.sealed).toBe(false);
  });

  it('keeps the name of a chosen path when it is sealed', async () => {
    const { backend, path } = await dialog();
    backend.files.target = '/media/stick/work.cinf';
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    await user.click(screen.getByRole('checkbox', { name: 'Protect with a passphrase' }));
    await waitFor(() => expect(path()).toBe('/media/stick/work.cinf.age'));
    await user.click(screen.getByRole('checkbox', { name: 'Protect with a passphrase' }));
    await waitFor(() => expect(path()).toBe('/media/stick/work.cinf'));
  });

  it('offers no bundle of a turn, which would be a whole session', async () => {
    const { lastRequest, path, exporting } = await dialog('turn');
    expect(screen.getByRole('radio', { name: 'Bundle (.cinf)' })).toHaveAttribute('aria-disabled', 'true');
    await user.click(screen.getByRole('radio', { name: 'Bundle (.cinf)' }));
    expect([exporting.format, path()]).toEqual(['md', '/home/ada/Documents/Orders to Postgres #150.md']);
    expect(lastRequest('transfer.plan')).toMatchObject({ scope: 'turn', format: 'md', allBranches: false });
    // The arrow keys skip it.
    screen.getByRole('radio', { name: 'Markdown (.md)' }).focus();
    await user.keyboard('{ArrowLeft}');
    expect(exporting.format).toBe('json');
  });

  it('writes to the shown path, shows the file, and starts another', async () => {
    const { app, lastRequest, backend } = await dialog();
    await user.click(screen.getByRole('button', { name: 'Export' }));
    expect(lastRequest('transfer.export')).toMatchObject({ scope: 'session', format: 'bundle', allBranches: true, path: '/home/ada/Documents/Orders to Postgres.cinf', replace: false });
    await user.click(await screen.findByRole('button', { name: 'Show in folder' }));
    expect(backend.files.revealed).toEqual(['/home/ada/Documents/Orders to Postgres.cinf']);
    expect(app.toasts.list).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Another export' }));
    expect(await screen.findByText('A file with that name exists.')).toBeVisible();
  });

  it('replaces a file only after a confirmation', async () => {
    const { backend, lastRequest, exporting } = await dialog();
    backend.files.written.add('/home/ada/Documents/Orders to Postgres.cinf');
    await exporting.ask();
    expect(screen.getByRole('button', { name: 'Export' })).toBeDisabled();
    await user.click(screen.getByRole('checkbox', { name: 'Replace it' }));
    await user.click(screen.getByRole('button', { name: 'Replace' }));
    expect(lastRequest('transfer.export')).toMatchObject({ replace: true });
  });

  it('asks whether to replace a file that was created meanwhile', async () => {
    const { backend, exporting } = await dialog();
    backend.files.written.add('/home/ada/Documents/Orders to Postgres.cinf');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    expect(await screen.findByRole('checkbox', { name: 'Replace it' })).not.toBeChecked();
    expect([exporting.error, exporting.task]).toEqual([null, undefined]);
  });

  it('keeps a chosen path; its extension follows the format', async () => {
    const { backend, choose, path, lastRequest } = await dialog();
    backend.files.target = '/media/stick/work.cinf';
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    await waitFor(() => expect(path()).toBe('/media/stick/work.cinf'));
    await choose('Web page (.html)');
    await waitFor(() => expect(path()).toBe('/media/stick/work.html'));
    await waitFor(() => expect(lastRequest('transfer.plan')).toMatchObject({ path: '/media/stick/work.html' }));
    backend.files.target = '';
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    expect(path()).toBe('/media/stick/work.html');
  });

  it('shows errors in place, and keeps the choices', async () => {
    const { path, exporting } = await dialog();
    const field = screen.getByLabelText('Save as');
    await user.clear(field);
    expect(screen.getByRole('button', { name: 'Export' })).toBeDisabled();
    await user.type(field, '/root/a.cinf{Tab}');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The folder /root cannot be written to');
    expect([path(), exporting.task]).toEqual(['/root/a.cinf', undefined]);
  });

  it('remembers the choices for the next time', async () => {
    const { app, choose, exporting } = await dialog();
    await choose('Markdown (.md)');
    await choose('The open branch');
    exporting.close();
    exporting.show({ sessionId: app.conversation.sessionId, branches: 4 }, 'session');
    expect([exporting.format, exporting.allBranches]).toEqual(['md', false]);
  });

  it('starts with the format in the settings', async () => {
    const { app, backend } = await dialog();
    await backend.settings.set('export.format', 'html');
    await waitFor(() => expect(app.exporting.byDefault).toBe('html'));
    app.exporting.show({ sessionId: app.conversation.sessionId }, 'session');
    expect(app.exporting.format).toBe('html');
  });

  it('can name its scope: the open branch, a named one, and in a temporary chat all', async () => {
    const { app, exporting } = await dialog();
    for (const [argument, scope] of [['', 'session'], ['branch', 'branch'], ['Turn', 'turn'], ['all', 'all']] as const) {
      await app.commands.run('export', argument);
      expect([exporting.scope, exporting.target?.turnId !== '']).toEqual([scope, scope === 'turn']);
    }
    await expect(app.commands.run('export', 'nonsense')).rejects.toThrow('“nonsense” cannot be exported');
    await app.navigation.newTemporary();
    await app.commands.run('export', '');
    expect([exporting.scope, exporting.scopes]).toEqual(['all', ['all']]);
    await expect(app.commands.run('export', 'turn')).rejects.toThrow('A temporary chat is not saved');
  });
});
