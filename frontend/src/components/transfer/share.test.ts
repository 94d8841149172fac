import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountWith } from '$shared/testing/harness';
import ShareDialog from './ShareDialog.svelte';

const user = userEvent.setup();

async function dialog() {
  const mounted = await mountWith(ShareDialog, (app) => {
    void app.commands.run('share');
    return {};
  }, {}, (backend) => (backend.program.startup.lastSession = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id));
  await waitFor(() => expect(mounted.app.sharing.plan).not.toBeNull());
  return { ...mounted, requests: (name: string) => mounted.backend.calls.filter((call) => call.name === name).map((call) => call.args[0]) };
}

describe('sharing', () => {
  it('lists what the file will contain, for the page and the bundle', async () => {
    await dialog();
    expect(await screen.findByText(/^The branch “.+”, 150 turns\.$/)).toBeVisible();
    expect(screen.getByText(/tool calls with their arguments and results/)).toBeVisible();
    expect(screen.getByText(/Nothing is removed: passwords/)).toBeVisible();
    await user.click(screen.getByRole('radio', { name: 'Bundle (.cinf)' }));
    expect(await screen.findByText('4 branches, 153 turns.')).toBeVisible();
    expect(screen.getByText(/requests that were sent/)).toBeVisible();
  });

  it('leaves the requests that quoted other sessions out of a bundle, unless they are chosen', async () => {
    const { backend, requests } = await dialog();
    backend.files.quoting = 2;
    backend.files.target = '/home/ada/x.cinf';
    expect(screen.queryByRole('checkbox')).toBeNull();
    await user.click(screen.getByRole('radio', { name: 'Bundle (.cinf)' }));
    const box = await screen.findByRole('checkbox', { name: 'Include the 2 requests that quoted other sessions or files of a project' });
    expect(box).not.toBeChecked();
    expect(screen.getByText(/2 requests that quoted other sessions or files of a project\.$/)).toBeVisible();
    await user.click(box);
    expect(screen.queryByText(/2 requests that quoted other sessions or files of a project\.$/)).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Save…' }));
    await waitFor(() => expect(requests('transfer.export')).toMatchObject([{ format: 'bundle', quotes: true }]));
  });

  it('asks for a location, writes the open branch as a page, and shows the file', async () => {
    const { app, backend, requests } = await dialog();
    backend.files.target = '/home/ada/Desktop/for you.html';
    await user.click(screen.getByRole('button', { name: 'Save…' }));
    await waitFor(() => expect(backend.files.revealed).toEqual(['/home/ada/Desktop/for you.html']));
    expect(requests('transfer.export')).toMatchObject([{ scope: 'branch', branchId: app.conversation.branchId, format: 'html', allBranches: false, path: '/home/ada/Desktop/for you.html', replace: true }]);
    expect(app.sharing.target).toBeNull();
  });

  it('writes nothing if the system dialog is cancelled, and accepts a typed path if there is none', async () => {
    const { app, backend, requests } = await dialog();
    backend.files.target = '';
    await user.click(screen.getByRole('button', { name: 'Save…' }));
    expect(requests('transfer.export')).toEqual([]);
    backend.failNext('transfer.pickTarget', { code: 'unavailable', message: 'This system has no file dialog.' });
    await user.click(screen.getByRole('button', { name: 'Save…' }));
    await user.click(await screen.findByRole('button', { name: 'Type a path instead…' }));
    expect([app.sharing.target, app.exporting.format]).toEqual([null, 'html']);
  });
});
