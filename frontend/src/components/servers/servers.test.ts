import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { block } from '$lib/backend/fake/shapes';
import { seedServers } from '$lib/backend/fake/servers';
import { toolDefinition } from '$lib/backend/fake/tools';
import type { ElicitationField, ElicitationView } from '$lib/backend/types';
import { looksLikeServer } from '$lib/state/servers.svelte';
import { mountIn, startedApp } from '../../test/mount';
import WaitingStrip from '../tools/WaitingStrip.svelte';
import { faultOf, valuesOf } from './elicitation';
import ElicitationDialog from './ElicitationDialog.svelte';
import PickDialog from './PickDialog.svelte';
import SecretDialog from './SecretDialog.svelte';
import ServerImportDialog from './ServerImportDialog.svelte';
import ServersPart from './ServersPart.svelte';
import { ToolsPage } from '../tools/panel.svelte';
import { placeOf } from './labels';

async function page(seeded = true) {
  const { app, backend } = await startedApp();
  if (seeded) seedServers(backend.store, backend.mcp);
  const page = new ToolsPage(backend);
  void page.panel.refresh();
  void page.servers.refresh();
  mountIn(app, ServersPart, { page });
  if (seeded) await screen.findByRole('region', { name: 'files' });
  return { app, backend, server: (name: string) => screen.getByRole('region', { name }) };
}

const called = (backend: FakeBackend, name: string) => backend.calls.filter((call) => call.name === `servers.${name}`).map(({ args }) => args);

describe('the page of tool servers', () => {
  it.each([
    ['files', /Running.*12 tools, 3 resources.*npx -y/s],
    ['tracker', /Sign in.*https:\/\/mcp\.tracker\.example\/mcp.*It wants you to sign in/s],
    ['notes', /Restarts soon.*Next attempt at.*uvx: no such command/s],
    ['browser', /Off/],
    ['staging-db', /search: Its schema is no JSON object.*PGPASSWORD.*kept in the keyring/s],
  ])('shows the state %s', async (name, text) => {
    const { server } = await page();
    expect(server(name).textContent).toMatch(text);
  });

  it('says in its card which tools wait for approval, and accepts them there', async () => {
    const { app, backend } = await startedApp();
    seedServers(backend.store, backend.mcp);
    for (const tool of ['read', 'write']) backend.toolbox.definitions.push(toolDefinition({ source: 'files', tool, pinned: 'new' }));
    const page = new ToolsPage(backend);
    void page.panel.refresh();
    void page.servers.refresh();
    mountIn(app, ServersPart, { page });
    const card = within(await screen.findByRole('region', { name: 'files' }));
    expect(await card.findByText('2 tools are not offered to models until you accept them')).toBeVisible();
    await userEvent.click(card.getByRole('button', { name: 'Accept all 2' }));
    await waitFor(() => expect(card.queryByText(/until you accept/)).toBeNull());
    expect(backend.calls.filter(({ name }) => name === 'tools.accept')).toHaveLength(2);
  });

  it('explains itself when there is none', async () => {
    await page(false);
    expect(await screen.findByText('No tool servers')).toBeVisible();
  });

  it('adds one with its form, whose secret is never shown again', async () => {
    const { backend, server } = await page();
    await userEvent.click(screen.getByRole('button', { name: 'Enter it by hand…' }));
    const form = within(screen.getByRole('dialog', { name: 'Add a tool server' }));
    await userEvent.click(form.getByRole('button', { name: 'Save' }));
    expect(form.getAllByRole('alert')).toHaveLength(2);
    expect(called(backend, 'addServer')).toEqual([]);
    await userEvent.type(form.getByLabelText('Name'), 'git');
    await userEvent.type(form.getByLabelText('Program'), 'uvx');
    await userEvent.type(form.getByLabelText('Arguments'), 'mcp-server-git\n--repository\n/a b');
    await userEvent.click(form.getByRole('button', { name: 'Add a variable' }));
    await userEvent.type(form.getByLabelText('Name of variable 1'), 'TOKEN');
    await userEvent.click(form.getByRole('checkbox', { name: 'Secret' }));
    await userEvent.type(form.getByLabelText('Value of variable 1'), 'hush');
    expect(form.getByLabelText('Value of variable 1')).toHaveAttribute('type', 'password');
    await userEvent.click(form.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(server('git')).toHaveTextContent('uvx mcp-server-git --repository "/a b"'));
    expect(called(backend, 'addServer')).toMatchObject([[{ name: 'git', args: ['mcp-server-git', '--repository', '/a b'], env: [{ name: 'TOKEN', value: 'hush', secret: true }] }]]);
    expect(server('git')).not.toHaveTextContent('hush');
  });

  it('adds web search with its key as a secret, or without one where none is needed', async () => {
    const { backend, server } = await page();
    await userEvent.click(screen.getByRole('button', { name: 'Web search' }));
    const dialog = () => within(screen.getByRole('dialog', { name: 'Web search' }));
    await userEvent.click(dialog().getByRole('radio', { name: 'Tavily' }));
    await userEvent.click(dialog().getByRole('button', { name: 'Add' }));
    expect(dialog().getByText('Paste a key')).toBeVisible();
    await userEvent.type(dialog().getByLabelText('Key'), 'tvly-hush');
    await userEvent.click(dialog().getByRole('button', { name: 'Add' }));
    await waitFor(() => expect(server('tavily')).toHaveTextContent('https://mcp.tavily.com/mcp/'));
    await userEvent.click(screen.getByRole('button', { name: 'Web search' }));
    expect(dialog().queryByRole('radio', { name: 'Tavily' })).toBeNull();
    await userEvent.click(dialog().getByRole('button', { name: 'Add' }));
    await waitFor(() => expect(server('exa')).toHaveTextContent('https://mcp.exa.ai/mcp'));
    expect(called(backend, 'addServer')).toMatchObject([[{ headers: [{ name: 'Authorization', value: 'Bearer tvly-hush', secret: true }] }], [{ name: 'exa', headers: [] }]]);
    expect(screen.queryByRole('button', { name: 'Web search' })).toBeNull();
  });

  it('accepts a manually registered client, and its secret once', async () => {
    const { backend, server } = await page();
    await userEvent.click(screen.getByRole('button', { name: 'Enter it by hand…' }));
    const form = within(screen.getByRole('dialog', { name: 'Add a tool server' }));
    await userEvent.type(form.getByLabelText('Name'), 'web');
    await userEvent.click(form.getByRole('radio', { name: 'Address' }));
    await userEvent.type(form.getByLabelText('Address'), 'https://x.example/mcp');
    expect(form.queryByLabelText('OAuth client secret')).toBeNull();
    await userEvent.type(form.getByLabelText('OAuth client id'), 'by-hand');
    await userEvent.type(form.getByLabelText('OAuth client secret'), 'hush');
    expect(form.getByLabelText('OAuth client secret')).toHaveAttribute('type', 'password');
    await userEvent.type(form.getByLabelText('OAuth port'), '99999');
    await userEvent.click(form.getByRole('button', { name: 'Save' }));
    expect(form.getByLabelText('OAuth port')).toHaveAccessibleDescription(/from 1 to 65535/);
    await userEvent.clear(form.getByLabelText('OAuth port'));
    await userEvent.type(form.getByLabelText('OAuth port'), '8123');
    backend.failNext('servers.setSecret', { message: 'The keyring is locked' });
    await userEvent.click(form.getByRole('button', { name: 'Save' }));
    expect(await form.findByRole('alert')).toHaveTextContent('The keyring is locked');
    await userEvent.click(form.getByRole('button', { name: 'Save' })); // the server is saved by now, only its secret is not
    await waitFor(() => expect(server('web')).toHaveTextContent('oauth_client_secret'));
    expect(called(backend, 'addServer')).toMatchObject([[{ name: 'web', oauthClientId: 'by-hand', oauthPort: 8123 }]]);
    expect(called(backend, 'setSecret').at(-1)).toEqual(['web', 'oauth_client_secret', 'hush']);
    expect(server('web')).not.toHaveTextContent('hush');
  });

  it('keeps the input when it is rejected', async () => {
    const { backend } = await page();
    await userEvent.click(screen.getByRole('button', { name: 'Enter it by hand…' }));
    const form = within(screen.getByRole('dialog', { name: 'Add a tool server' }));
    await userEvent.type(form.getByLabelText('Name'), 'files');
    await userEvent.click(form.getByRole('radio', { name: 'Address' }));
    await userEvent.type(form.getByLabelText('Address'), 'https://x.example/mcp');
    await userEvent.click(form.getByRole('button', { name: 'Save' }));
    expect(await form.findByRole('alert')).toHaveTextContent('There is a server named files already');
    expect(called(backend, 'addServer')).toHaveLength(1);
    expect(form.getByLabelText('Address')).toHaveValue('https://x.example/mcp');
  });

  it('disables one, restarts it, signs in, and removes it only after a confirmation', async () => {
    const { backend, server } = await page();
    await userEvent.click(within(server('files')).getByRole('checkbox', { name: 'files is on' }));
    await waitFor(() => expect(server('files')).toHaveTextContent('It is off.'));
    await userEvent.click(within(server('notes')).getByRole('button', { name: 'Restart' }));
    await waitFor(() => expect(server('notes')).toHaveTextContent('Running'));
    await userEvent.click(within(server('tracker')).getByRole('button', { name: 'Sign in' }));
    await waitFor(() => expect(server('tracker')).toHaveTextContent('Sign out'));
    await userEvent.click(within(server('browser')).getByRole('button', { name: 'Remove…' }));
    expect(called(backend, 'removeServer')).toEqual([]);
    await userEvent.click(within(screen.getByRole('dialog', { name: 'Remove browser?' })).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'browser' })).toBeNull());
  });

  it('stores a secret, and shows the log', async () => {
    const { backend, server } = await page();
    await userEvent.click(within(server('staging-db')).getByRole('button', { name: 'Replace…' }));
    const dialog = within(screen.getByRole('dialog', { name: 'PGPASSWORD of staging-db' }));
    expect(dialog.getByRole('button', { name: 'Forget it' })).toBeVisible();
    await userEvent.type(dialog.getByLabelText('Value'), 'hush');
    await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called(backend, 'setSecret')).toEqual([['staging-db', 'PGPASSWORD', 'hush']]));
    await userEvent.click(within(server('files')).getByText('Log and self-description'));
    await waitFor(() => expect(server('files')).toHaveTextContent('Secure MCP Filesystem Server running on stdio'));
  });
});

it('a secret that is not stored cannot be forgotten', async () => {
  const { app } = await startedApp();
  mountIn(app, SecretDialog, { server: 'files', name: 'TOKEN', isStored: false, onpanel: () => undefined, onclose: () => undefined });
  expect(screen.getByRole('button', { name: 'Save' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Forget it' })).toBeNull();
});

describe('importing servers', () => {
  it('shows the pasted servers before any is added', async () => {
    const { app, backend } = await startedApp();
    app.servers.import();
    mountIn(app, ServerImportDialog, {});
    const dialog = within(screen.getByRole('dialog', { name: 'Connect a tool server' }));
    const paste = dialog.getByRole('textbox');
    await userEvent.click(paste);
    await userEvent.paste('{"mcpServers":{"git":{"command":"uvx","args":["mcp-server-git"]},"web":{"url":"https://x.example/mcp"}}}');
    await userEvent.click(dialog.getByRole('button', { name: 'Review' }));
    expect(await dialog.findByRole('region', { name: 'git' })).toHaveTextContent('uvx mcp-server-git');
    expect(backend.mcp.list).toEqual([]);
    await userEvent.click(dialog.getByRole('checkbox', { name: 'web' }));
    await userEvent.click(dialog.getByRole('button', { name: 'Add 1 server' }));
    await waitFor(() => expect(backend.mcp.list.map(({ name }) => name)).toEqual(['git']));
    expect(app.servers.importing).toBe(false);
  });

  it('shows what is wrong with the pasted text', async () => {
    const { app } = await startedApp();
    app.servers.import();
    mountIn(app, ServerImportDialog, {});
    await userEvent.type(screen.getByRole('textbox'), 'no json');
    await userEvent.click(screen.getByRole('button', { name: 'Review' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('This is no JSON');
  });

  it('reads an unreadable file once, and accepts another', async () => {
    const { app, backend } = await startedApp();
    app.servers.import('/tmp/broken.mcpb');
    mountIn(app, ServerImportDialog, {});
    expect(await screen.findByRole('alert')).toHaveTextContent('The file cannot be read');
    expect(called(backend, 'importFile')).toEqual([['/tmp/broken.mcpb']]);
    app.servers.import('/tmp/other.json');
    await waitFor(() => expect(called(backend, 'importFile')).toEqual([['/tmp/broken.mcpb'], ['/tmp/other.json']]));
  });

  it('asks for the values that a bundle needs, and does not add it without them', async () => {
    const { app, backend } = await startedApp();
    backend.mcp.imports = {
      id: 'i1', from: 'a bundle', problems: [], servers: [{
        settings: { name: 'weather', enabled: true, command: 'node', args: ['server.js'], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 }, original: 'Weather', exists: false, about: 'Tells the weather.', notes: ['It is not signed.'],
        questions: [{ key: 'key', title: 'API key', description: 'From your account.', type: 'string', required: true, secret: true, multiple: false, default: '', known: false, choices: [] }], exposures: [],
      }],
    };
    app.servers.import('/tmp/weather.mcpb');
    mountIn(app, ServerImportDialog, {});
    const server = within(await screen.findByRole('region', { name: 'Weather' }));
    expect(server.getByText('It is not signed.')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Add 1 server' })).toBeDisabled();
    await userEvent.type(server.getByLabelText('API key'), 'hush');
    await userEvent.click(screen.getByRole('button', { name: 'Add 1 server' }));
    await waitFor(() => expect(called(backend, 'applyImport')).toEqual([[{ id: 'i1', servers: [{ original: 'Weather', name: 'weather', enabled: true, replace: false, answers: [{ name: 'key', value: 'hush', secret: true }], accepted: [], keys: [] }] }]]));
  });

  it('does not ask for a value that the import contains', async () => {
    const { app, backend } = await startedApp();
    backend.mcp.imports = {
      id: 'i1', from: 'mcpServers JSON', problems: [], servers: [{
        settings: {
          name: 'weather', enabled: true, command: 'node', args: ['server.js'], cwd: '', url: '', timeoutS: 0, headers: [], oauthClientId: '', oauthPort: 0,
          env: ['key', 'pin', 'region'].map((name) => ({ name: name.toUpperCase(), value: `\${answer:${name}}`, secret: false })),
        },
        original: 'Weather', exists: false, about: '', notes: [],
        questions: [
          { key: 'key', title: 'API key', description: '', type: 'string', required: true, secret: true, multiple: false, default: '', known: true, choices: [] },
          { key: 'pin', title: 'PIN', description: '', type: 'string', required: true, secret: true, multiple: false, default: '', known: false, choices: [] },
          { key: 'region', title: 'Region', description: '', type: 'string', required: false, secret: false, multiple: false, default: '', known: false, choices: [] },
        ],
        exposures: [],
      }],
    };
    app.servers.import('/tmp/mcp.json');
    mountIn(app, ServerImportDialog, {});
    const server = within(await screen.findByRole('region', { name: 'Weather' }));
    expect(server.getByText('With KEY (value in the import), PIN (entered below), REGION=')).toBeVisible();
    expect(server.getByLabelText('API key')).toHaveAccessibleDescription(/^Leave this empty to use the value in the import\. Kept in the system keyring, or only for this run/);
    expect(server.getByLabelText('Region (optional)')).toBeVisible();
    await userEvent.type(server.getByLabelText('PIN'), '1234');
    await userEvent.click(screen.getByRole('button', { name: 'Add 1 server' }));
    await waitFor(() => expect(called(backend, 'applyImport')).toMatchObject([[{ servers: [{ answers: [{ name: 'key', value: '', secret: true }, { name: 'pin', value: '1234' }, { name: 'region', value: '' }] }] }]]));
  });

  it('shows what would run with the answers, and adds nothing before every exposure is agreed to, a key twice', async () => {
    const { app, backend } = await startedApp();
    backend.mcp.imports = {
      id: 'i1', from: 'a bundle', problems: [], servers: [{
        settings: {
          name: 'notes', enabled: true, command: '/opt/no\u200btes', args: ['--to=${answer:to}', 'a b', '${answer:list}', '${answer:token}'], cwd: '', url: '', timeoutS: 0, headers: [], oauthClientId: '', oauthPort: 0,
          env: [{ name: 'NODE_OPTIONS', value: '--require ${answer:to}', secret: false }],
        },
        original: 'Notes', exists: false, about: '', notes: [],
        questions: [
          { key: 'to', title: 'To', description: '', type: 'string', required: false, secret: false, multiple: false, default: '${env:OPENAI_API_KEY}', known: true, choices: [] },
          { key: 'list', title: 'List', description: '', type: 'string', required: false, secret: false, multiple: true, default: '', known: false, choices: [] },
          { key: 'token', title: 'Token', description: '', type: 'string', required: false, secret: true, multiple: false, default: '', known: true, choices: [] },
        ],
        exposures: [{ kind: 'key', name: 'OPENAI_API_KEY', value: '' }, { kind: 'program', name: 'NODE_OPTIONS', value: '--require x' }],
      }],
    };
    app.servers.import('/tmp/notes.mcpb');
    mountIn(app, ServerImportDialog, {});
    const server = within(await screen.findByRole('region', { name: 'Notes' }));
    await userEvent.type(server.getByLabelText('List (optional)'), 'one\ntwo 2');
    expect(server.getByText('"/opt/no⟨U+200B⟩tes" "--to=${env:OPENAI_API_KEY}" "a b" one "two 2" "${secret:token}"')).toBeVisible();
    expect(server.getByText('With NODE_OPTIONS=--require ${env:OPENAI_API_KEY}')).toBeVisible();
    const add = screen.getByRole('button', { name: 'Add 1 server' });
    for (const name of [/^Let it set NODE_OPTIONS=--require x/, /^Let it have OPENAI_API_KEY, a key/, /^Yes, give OPENAI_API_KEY to Notes/]) {
      expect(add).toBeDisabled();
      await userEvent.click(server.getByRole('checkbox', { name }));
    }
    await userEvent.click(add);
    await waitFor(() => expect(called(backend, 'applyImport')).toMatchObject([[{ servers: [{ accepted: ['OPENAI_API_KEY', 'NODE_OPTIONS'].toSorted().reverse(), keys: ['OPENAI_API_KEY'] }] }]]));
  });

  it.each([['a.mcpb', true], ['claude_desktop_config.json', true], ['mcp.json', true], ['conversations.json', false], ['notes.txt', false]])('a dropped %s is a server: %s', (name, expected) => expect(looksLikeServer(name)).toBe(expected));
});

const field = (more: Partial<ElicitationField>): ElicitationField => ({ name: 'f', title: '', description: '', type: 'string', format: '', required: false, default: [], choices: [], min: '', max: '', ...more });
const question = (more: Partial<ElicitationView> = {}): ElicitationView => ({ id: 'q1', server: 'tracker', mode: 'form', message: 'Which project? [x](https://e.example)', url: '', host: '', fields: [field({ name: 'project', title: 'Project', required: true, min: '2' })], ...more });

describe('a question of a server', () => {
  it('waits above the composer, without taking the focus', async () => {
    const { app, backend } = await startedApp();
    mountIn(app, WaitingStrip, {});
    const typed = document.body.appendChild(document.createElement('textarea'));
    typed.focus();
    backend.mcp.ask(question());
    expect(await screen.findByText('The tool server tracker asks you something')).toBeVisible();
    expect(typed).toHaveFocus();
    typed.remove();
    await userEvent.click(screen.getByRole('button', { name: 'Answer…' }));
    expect(app.servers.question?.id).toBe('q1');
  });

  it('is sent when all values are valid, and shown as plain text', async () => {
    const { app, backend } = await startedApp();
    backend.mcp.ask(question());
    await app.servers.load();
    app.servers.answer();
    mountIn(app, ElicitationDialog, { question: app.servers.question! });
    expect(screen.getByRole('dialog', { name: 'The server “tracker” asks' }).querySelector('a')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(screen.getByRole('alert')).toHaveTextContent('An answer is required.');
    await userEvent.type(screen.getByLabelText('Project'), 'CI');
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    await waitFor(() => expect(called(backend, 'answerElicitation')).toEqual([[{ id: 'q1', action: 'accept', values: [{ name: 'project', values: ['CI'] }] }]]));
    expect(app.servers.question).toBeUndefined();
  });

  it('shows the full address of a page before it is opened', async () => {
    const { app, backend } = await startedApp();
    backend.mcp.ask(question({ mode: 'url', url: 'https://login.example/a?b=c', host: 'login.example', fields: [] }));
    await app.servers.load();
    app.servers.answer();
    mountIn(app, ElicitationDialog, { question: app.servers.question! });
    expect(screen.getByText('https://login.example/a?b=c')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Decline' }));
    await waitFor(() => expect(called(backend, 'answerElicitation')).toMatchObject([[{ action: 'decline' }]]));
  });

  it.each([
    [{ required: true }, [''], 'An answer is required.'], [{}, [''], ''], [{ type: 'integer' }, ['1.5'], 'It has to be a whole number.'], [{ type: 'number', max: '3' }, ['4'], 'It has to be at most 3.'],
    [{ format: 'email' }, ['x'], 'It has to be an e-mail address.'], [{ format: 'uri' }, ['x'], 'It has to be an address, such as https://example.com.'], [{ min: '2' }, ['a'], 'Its length has to be at least 2.'],
    [{ type: 'choices', min: '2' }, ['a'], 'Choose at least 2.'], [{ type: 'boolean', required: true }, [], ''],
  ] as [Partial<ElicitationField>, string[], string][])('is checked: %o %j', (more, values, fault) => expect(faultOf(field(more), values)).toBe(fault));

  it('is sent completely, with no value for a cleared default', () => {
    expect(valuesOf([field({ name: 'd', default: ['EU'] })], { d: [''] })).toEqual([{ name: 'd', values: [] }]);
    expect(valuesOf([field({ name: 'a' }), field({ name: 'b', type: 'boolean' }), field({ name: 'c', type: 'choices' })], { a: [''], b: [], c: ['x', 'y'] })).toEqual([{ name: 'a', values: [] }, { name: 'b', values: ['false'] }, { name: 'c', values: ['x', 'y'] }]);
  });
});

describe('prompts and resources', () => {
  const picker = async () => {
    const { app, backend } = await startedApp();
    seedServers(backend.store, backend.mcp);
    await app.commands.run('serverItems');
    expect(app.servers.picking).toBe(true);
    mountIn(app, PickDialog, {});
    await screen.findByText('Daily report');
    return { app, backend };
  };

  it('focuses the filter once there is something to find', async () => {
    await picker();
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Filter' })).toHaveFocus());
    await userEvent.click(screen.getByText('Explain a query'));
    await userEvent.click(await screen.findByRole('button', { name: 'Back' }));
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Filter' })).toHaveFocus());
  });

  it('a prompt becomes text of the message after it was shown', async () => {
    const { app } = await picker();
    app.draft.text = 'Before.';
    await userEvent.click(screen.getByText('Daily report'));
    expect(await screen.findByRole('region', { name: 'Text' })).toHaveTextContent('Write the daily report on drift and lag.');
    expect(app.draft.text).toBe('Before.');
    await userEvent.click(screen.getByRole('button', { name: 'Insert' }));
    await waitFor(() => expect(app.draft.text).toBe('Before.\n\nWrite the daily report on drift and lag.'));
    expect(app.servers.picking).toBe(false);
  });

  it('a prompt gets its arguments', async () => {
    const { backend } = await picker();
    await userEvent.click(screen.getByText('Explain a query'));
    expect(screen.getByRole('button', { name: 'Continue' })).toBeDisabled();
    await userEvent.type(screen.getByLabelText('Query'), 'select 1');
    await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
    await waitFor(() => expect(called(backend, 'getPrompt')).toEqual([['staging-db', 'explain_query', [{ name: 'sql', value: 'select 1', secret: false }]]]));
  });

  it('a resource is attached to the message as a document', async () => {
    const { app, backend } = await picker();
    backend.mcp.resourceText = { server: 'files', uri: '', name: 'README.md', blocks: [block('text', '# Project')] };
    await userEvent.click(screen.getByText('README.md'));
    await userEvent.click(await screen.findByRole('button', { name: 'Attach' }));
    await waitFor(() => expect(app.draft.files.map(({ name }) => name)).toEqual(['README.md']));
  });
});

describe('the address of a server', () => {
  it('separates its arguments unambiguously', () => {
    expect(placeOf({ name: '', enabled: true, command: 'npx', args: ['-y', 'a b', '$(x)'], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 })).toBe('npx -y "a b" "$(x)"');
  });
});
