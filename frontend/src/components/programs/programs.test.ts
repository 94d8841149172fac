import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '$lib/backend/fake';
import type { ProgramClientView } from '$lib/backend/types';
import Settings from '../settings/Settings.svelte';
import { mountWith } from '$shared/testing/harness';
import { accessText } from './labels';

async function open(options: Partial<FakeOptions> = {}, prepare?: Parameters<typeof mountWith>[3]) {
  const mounted = await mountWith(Settings, (app) => {
    app.layout.openSettings('group:Other programs');
    return {};
  }, { data: 'rich', ...options }, prepare);
  const callsOf = (name: string) => mounted.backend.calls.filter((call) => call.name === `programs.${name}`).map((call) => call.args);
  return { ...mounted, callsOf, user: userEvent.setup() };
}

const row = (name: string) => screen.findByRole('article', { name });

describe('programs', () => {
  test('a new program sees nothing until one click allows it', async () => {
    const { callsOf, user } = await open();
    const zed = await row('Zed');
    expect(within(zed).getByText('asks for access')).toBeInTheDocument();
    for (const radio of within(zed).getAllByRole('radio')) expect(radio).not.toBeChecked();
    await user.click(within(zed).getByRole('radio', { name: 'All sessions' }));
    expect(await within(zed).findByText('sees all sessions')).toBeInTheDocument();
    expect(callsOf('allow')).toEqual([[{ name: 'Zed', scope: 'all', remember: false, sessions: [], folders: [] }]]);
  });

  test('a program that never connected has no access yet, and has not asked for it', () => {
    const client: ProgramClientView = { name: 'Zed', scope: 'asked', sessions: [], folders: [], remember: false, claims: '', tokenAt: 1, createdAt: 1, seenAt: 0, notes: '' };
    expect(accessText(client)).toEqual({ label: 'no access yet', tone: 'plain' });
    expect(accessText({ ...client, seenAt: 2 })).toEqual({ label: 'asks for access', tone: 'warn' });
  });

  test('chosen sessions are added and removed', async () => {
    const { backend, callsOf, user } = await open();
    const zed = await row('Zed');
    await user.click(within(zed).getByRole('radio', { name: 'Chosen sessions' }));
    expect(callsOf('allow')).toEqual([]); // nothing is chosen yet
    const session = (await backend.sessions.list(false, ''))[0]!;
    await user.selectOptions(within(zed).getByRole('combobox', { name: 'Show Zed a session' }), session.id);
    expect(await within(zed).findByText('sees 1 session')).toBeInTheDocument();
    expect(callsOf('allow').at(-1)).toEqual([{ name: 'Zed', scope: 'chosen', remember: false, sessions: [session.id], folders: [] }]);
    await user.click(within(zed).getByRole('button', { name: `Do not show ${session.title}` }));
    expect(await within(zed).findByText('sees nothing')).toBeInTheDocument();
  });

  test('changing from all to chosen sessions hides all of them at once', async () => {
    const { callsOf, user } = await open();
    await user.click(within(await row('Claude Desktop')).getByRole('radio', { name: 'Chosen sessions' }));
    expect(await within(await row('Claude Desktop')).findByText('sees nothing')).toBeInTheDocument();
    expect(callsOf('allow')).toEqual([[{ name: 'Claude Desktop', scope: 'chosen', remember: true, sessions: [], folders: [] }]]);
  });

  test('notes have a separate permission', async () => {
    const { callsOf, user } = await open();
    await user.click(within(await row('Zed')).getByRole('checkbox', { name: 'May write notes' }));
    expect(callsOf('allow')).toEqual([[{ name: 'Zed', scope: 'none', remember: true, sessions: [], folders: [] }]]);
  });

  test('a program is removed only after a confirmation', async () => {
    const { callsOf, user } = await open();
    await user.click(within(await row('Zed')).getByRole('button', { name: 'Remove Zed' }));
    expect(callsOf('forget')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(screen.queryByRole('article', { name: 'Zed' })).not.toBeInTheDocument());
  });

  test('a program that connects while the page is open appears', async () => {
    const { backend } = await open();
    await row('Zed');
    await backend.programs.allow({ name: 'Cursor', scope: 'none', remember: false, sessions: [], folders: [] });
    expect(await row('Cursor')).toBeInTheDocument();
  });

  test('an error is shown with its program', async () => {
    const { backend, user } = await open();
    backend.failNext('programs.allow', { message: 'The data is open read-only' });
    const zed = await row('Zed');
    await user.click(within(zed).getByRole('radio', { name: 'Nothing' }));
    expect(await within(zed).findByText(/open read-only/)).toBeInTheDocument();
  });
});

describe('connecting', () => {
  test('the configuration to paste names the selected program', async () => {
    const { user } = await open();
    expect(await screen.findByLabelText('Lines for Claude Desktop')).toHaveTextContent('"mcp", "--client", "Claude Desktop"');
    await user.click(screen.getByRole('radio', { name: 'Zed' }));
    expect(screen.getByLabelText('Lines for Zed')).toHaveTextContent('context_servers');
  });

  test('HTTP is off until it is enabled; then its address is shown', async () => {
    const { callsOf, user } = await open();
    const http = within(await screen.findByRole('radiogroup', { name: 'Serve other programs over HTTP' }));
    expect(http.getByRole('radio', { name: 'Off' })).toBeChecked();
    await user.click(http.getByRole('radio', { name: 'On' }));
    expect(await screen.findByText('http://127.0.0.1:7468/mcp')).toBeInTheDocument();
    expect(callsOf('setHTTP')).toEqual([[true]]);
  });

  test('a token is shown once, with its configuration', async () => {
    const { callsOf, user } = await open();
    await user.type(await screen.findByRole('textbox', { name: 'Token' }), 'Editor');
    await user.click(screen.getByRole('button', { name: 'Make token' }));
    const dialog = await screen.findByRole('dialog', { name: 'Token of “Editor”' });
    const token = within(dialog).getByLabelText('Token').textContent;
    expect(within(dialog).getByLabelText('Configuration with the token')).toHaveTextContent(`Bearer ${token}`);
    await user.click(within(dialog).getByRole('button', { name: 'Done' }));
    expect(document.body).not.toHaveTextContent(token);
    await user.click(within(await row('Editor')).getByRole('button', { name: 'Revoke the token of Editor' }));
    expect(callsOf('revokeToken')).toEqual([['Editor']]);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Revoke the token of Editor' })).not.toBeInTheDocument());
  });
});

describe('the access record', () => {
  test('shows who asked what and which results were shown, with links', async () => {
    const { app, backend, user } = await open();
    const list = await screen.findByRole('list', { name: 'Accesses' });
    const entries = within(list).getAllByText(/Claude Desktop|Zed/).map((entry) => entry.parentElement?.textContent);
    expect(entries[0]).toBe('Zed was refused (searched): deadline');
    expect(entries[1]).toBe('Claude Desktop searched: which port does the service use');
    await user.click(within(list).getByText('3 turns'));
    const session = (await backend.programs.accesses('', 0)).accesses[1]!.shown[0]!;
    await user.click(within(list).getByRole('button', { name: session.session }));
    await waitFor(() => expect(app.conversation.sessionId).toBe(session.sessionId));
    expect(app.layout.view).not.toBe('settings');
  });

  test('is cleared only after a confirmation', async () => {
    const { callsOf, user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Clear…' }));
    expect(callsOf('clearAccesses')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Clear' }));
    expect(await screen.findByText('Nothing was read')).toBeInTheDocument();
  });
});
