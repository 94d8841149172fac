import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { FakeBackend, FakeOptions } from '$lib/backend/fake';
import { mountWith } from '$shared/testing/harness';
import FatalError from './FatalError.svelte';
import Locked from './Locked.svelte';
import FirstRun from './FirstRun.svelte';

async function open(options: Partial<FakeOptions> = {}, prepare?: Parameters<typeof mountWith>[3]) {
  const mounted = await mountWith(FirstRun, {}, { data: 'first', ...options }, prepare);
  await screen.findByLabelText('API key');
  const called = (name: string) => mounted.backend.calls.filter((call) => call.name === name).map((call) => call.args);
  const started = () =>
    waitFor(() => {
      expect(mounted.app.startup.firstRun).toBe(false);
      expect(mounted.app.conversation.sessionId).not.toBe('');
    });
  return { ...mounted, called, started, user: userEvent.setup() };
}

async function locked(prepare?: Parameters<typeof mountWith>[3]) {
  return { ...(await mountWith(Locked, {}, { data: 'locked' }, prepare)), user: userEvent.setup() };
}

describe('a key', () => {
  test('is tested when pasted, its provider recognized, and stored if it works', async () => {
    const { called, started, user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('sk-ant-good');
    expect(await screen.findByText(/Anthropic, 2 models/)).toBeInTheDocument();
    expect(called('settings.testKey')).toEqual([['', 'sk-ant-good', '']]);
    await user.click(screen.getByRole('button', { name: 'Start with sonnet' }));
    await started();
    expect(called('settings.setKey')).toEqual([['anthropic', 'sk-ant-good']]);
    expect(called('settings.finishFirstRun')).toEqual([['sonnet']]);
  });

  test('that is rejected shows why, is not stored, and blocks no other way to start', async () => {
    const { called, started, user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('sk-ant-bad');
    expect((await screen.findByText(/refused this key/)).closest('[role="status"]')).toHaveAttribute('data-tone', 'danger');
    expect(screen.queryByRole('button', { name: /Start with sonnet/ })).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    await started();
    expect(called('settings.setKey')).toEqual([]);
  });

  test('of an ambiguous form is sent only to the chosen provider', async () => {
    const { called, started, user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('sk-anybody');
    const question = await screen.findByText(/provider cannot be determined from this key/);
    expect(question.closest('[role="status"]')).not.toHaveAttribute('data-tone'); // a question, not an error
    expect(screen.queryByRole('button', { name: /Start with gpt/ })).not.toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Test again' })).not.toBeInTheDocument();
    expect(called('settings.setKey')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Another server…' }));
    expect(within(await screen.findByRole('dialog')).getByLabelText('Address')).toHaveValue('');
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    await user.click(screen.getByRole('button', { name: 'OpenAI' }));
    await user.click(await screen.findByRole('button', { name: 'Start with gpt' }));
    await started();
    expect(called('settings.testKey')).toEqual([['', 'sk-anybody', ''], ['openai', 'sk-anybody', '']]);
    expect(called('settings.setKey')).toEqual([['openai', 'sk-anybody']]);
  });

  test('of another vendor is not sent; its server is added after the user confirms the host', async () => {
    const { app, called, started, user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('pplx-pasted');
    expect(await screen.findByText(/a key for Perplexity\. It was not sent anywhere/)).toBeInTheDocument();
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
    expect(called('settings.setKey')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Use it at api.perplexity.ai…' }));
    const form = within(await screen.findByRole('dialog'));
    expect(form.getByLabelText('Address')).toHaveValue('https://api.perplexity.ai');
    expect(called('settings.testKey')).toEqual([['', 'pplx-pasted', '']]); // recognized by its form
    await user.click(form.getByRole('button', { name: 'Test' }));
    await waitFor(() => expect(called('settings.testKey')[1]).toEqual(['chatcompletions', 'pplx-pasted', 'https://api.perplexity.ai']));
    await user.click(form.getByRole('button', { name: 'Save' }));
    const start = await screen.findByRole('button', { name: /^Start with llama/ });
    expect(called('settings.setKey')).toEqual([['api.perplexity.ai', 'pplx-pasted']]);
    expect(app.models.list.find((model) => model.baseUrl === 'https://api.perplexity.ai')).toBeDefined();
    await user.click(start);
    await started();
    expect(called('settings.finishFirstRun')).toEqual([['llama3.3-70b']]);
  });

  test('of a service with a known address is used there after confirmation, with a model from its list', async () => {
    const { called, started, user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('gsk_pasted');
    expect(await screen.findByText(/a key for Groq\. It was not sent anywhere/)).toBeInTheDocument();
    expect([called('settings.testKey'), called('settings.setKey')]).toEqual([[['', 'gsk_pasted', '']], []]);
    await user.click(screen.getByRole('button', { name: 'Use it at api.groq.com' }));
    expect(await screen.findByText(/Groq, 2 models/)).toBeInTheDocument();
    expect(called('settings.testKey')[1]).toEqual(['groq', 'gsk_pasted', '']);
    expect(called('settings.setKey')).toEqual([['api.groq.com', 'gsk_pasted']]);
    await user.selectOptions(screen.getByRole('combobox', { name: 'Model to start with' }), 'qwen3-32b');
    await user.click(screen.getByRole('button', { name: 'Start with qwen3-32b' }));
    await started();
    expect(called('settings.addOffered')).toEqual([['groq', 'qwen3-32b']]);
    expect(called('settings.finishFirstRun')).toEqual([['qwen3-32b']]);
  });

  test('pasted during the test of another one replaces it', async () => {
    const { backend, called, user } = await open();
    const release = backend.hold('settings.testKey');
    const field = screen.getByLabelText('API key');
    await user.click(field);
    await user.paste('sk-ant-bad');
    await waitFor(() => expect(called('settings.testKey')).toHaveLength(1));
    await user.clear(field);
    await user.paste('sk-ant-good');
    await new Promise((resolve) => setTimeout(resolve));
    release();
    expect(await screen.findByRole('button', { name: 'Start with sonnet' })).toBeInTheDocument();
    expect(screen.queryByText(/refused/)).not.toBeInTheDocument();
  });

  test('in the environment is offered, and not sent before the user starts', async () => {
    const { called, started, user } = await open({}, (backend) => {
      backend.program.setKey('anthropic', 'sk-ant-there');
      backend.program.keys = backend.program.keys.map((key) => (key.provider === 'anthropic' ? { ...key, source: 'environment' } : key));
    });
    expect(await screen.findByText(/ANTHROPIC_API_KEY is set in the environment/)).toBeInTheDocument();
    expect(called('settings.testKey')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Test the key' }));
    await user.click(await screen.findByRole('button', { name: 'Start with sonnet' }));
    await started();
    expect(called('settings.setKey')).toEqual([]);
  });

  test('without a keyring is only for this run, and says so', async () => {
    await open({ keyringOk: false });
    expect(await screen.findByText(/kept in memory for this run/)).toBeInTheDocument();
  });
});

describe('an already configured model', () => {
  const configure = (change: object) => (backend: FakeBackend) => {
    backend.program.models = backend.program.models.map((model) => ({ ...model, default: false, ...(model.name === 'local' ? { default: true, usable: true, reason: '', ...change } : {}) }));
  };

  test('is the first way to start, and is not written again', async () => {
    const { called, started, user } = await open({}, configure({}));
    await screen.findByRole('button', { name: 'Use local' });
    expect(screen.getAllByRole('region')[0]).toHaveAccessibleName('Use local');
    await user.click(screen.getByRole('button', { name: 'Use local' }));
    await started();
    expect(called('settings.finishFirstRun')).toEqual([['']]);
  });

  test('is deselected when another way is chosen', async () => {
    const { called, started, user } = await open({}, configure({}));
    await screen.findByRole('button', { name: 'Use local' });
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    await started();
    expect(called('settings.finishFirstRun')).toEqual([['recall']]);
  });

  test.each([
    ['cannot be used', { usable: false, reason: 'There is no key for it' }],
    ['is only there because of a key in the environment', { builtIn: true }],
    ['is recall, which has its own way', { provider: 'recall' }],
  ])('is not offered if it %s', async (_, change) => {
    const { app, called } = await open({}, configure(change));
    await waitFor(() => expect(called('settings.settings').length).toBeGreaterThan(1));
    await waitFor(() => expect(app.models.find('local')?.default).toBe(true));
    await new Promise((resolve) => setTimeout(resolve));
    expect(screen.queryByRole('button', { name: /^Use / })).not.toBeInTheDocument();
  });
});

describe('this computer', () => {
  test('a server found here is configured with its model and used', async () => {
    const { called, started, user } = await open();
    await user.selectOptions(await screen.findByLabelText('Local model'), 'llama3.3:70b');
    await user.click(screen.getByRole('button', { name: 'Start with llama3.3:70b' }));
    await started();
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ name: 'llama3.3-70b', provider: 'chatcompletions', baseUrl: 'http://127.0.0.1:11434/v1' });
    expect(called('settings.finishFirstRun')).toEqual([['llama3.3-70b']]);
  });

  test('an already configured model is used unchanged', async () => {
    const { called, started, user } = await open();
    await user.click(await screen.findByRole('button', { name: 'Start with qwen3:8b' }));
    await started();
    expect(called('settings.saveModel')).toEqual([]);
    expect(called('settings.finishFirstRun')).toEqual([['local']]);
  });

  test('a server at another address is used without a key', async () => {
    const { called, started, user } = await open({ localServers: [] });
    await user.click(await screen.findByRole('button', { name: 'A server at another address…' }));
    const form = within(screen.getByRole('dialog', { name: 'Add a compatible server' }));
    await user.type(form.getByLabelText('Address'), 'http://192.168.1.20:8080/v1');
    await user.type(form.getByLabelText('Model'), 'qwen3:32b');
    await user.click(form.getByRole('button', { name: 'Save' }));
    await started();
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ baseUrl: 'http://192.168.1.20:8080/v1', modelId: 'qwen3:32b', apiKeyEnv: '' });
    expect(called('settings.setKey')).toEqual([]);
    expect(called('settings.finishFirstRun')).toEqual([[(called('settings.saveModel')[0]?.[0] as { name: string }).name]]);
  });

  test('without a server: says what to do, and searches again', async () => {
    const { called, user } = await open({ localServers: [] });
    expect(await screen.findByText(/No model server answered/)).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Check again' }));
    expect(called('settings.localServers')).toHaveLength(2);
  });
});

describe('the primary button', () => {
  const filled = () => screen.getAllByRole('button').filter((button) => button.dataset['kind'] === 'primary').map((button) => button.textContent?.trim());
  const prepareKey = (backend: FakeBackend) => {
    backend.program.setKey('anthropic', 'sk-ant-there');
  };
  test.each([
    ['a server on this computer', {}, undefined, 'Start with qwen3:8b'],
    ['a server rather than a stored key', {}, prepareKey, 'Start with qwen3:8b'],
    ['a stored key', { localServers: [] }, prepareKey, 'Test the key'],
    ['recall where there is neither', { localServers: [] }, undefined, 'Start with recall'],
  ])('is for %s', async (_, options, prepare, name) => {
    await open(options, prepare);
    await waitFor(() => expect(filled()).toEqual([name]));
  });

  test('is the one with the key when a key was pasted', async () => {
    const { user } = await open();
    await user.click(screen.getByLabelText('API key'));
    await user.paste('sk-ant-good');
    await waitFor(() => expect(filled()).toEqual(['Start with sonnet']));
  });
});

describe('recall', () => {
  test('starts at once, with nothing to fill in', async () => {
    const { called, started, user } = await open();
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    await started();
    expect(called('settings.finishFirstRun')).toEqual([['recall']]);
  });

  test('a choice that cannot be saved shows an error and a retry', async () => {
    const { app, backend, started, user } = await open();
    backend.failNext('settings.finishFirstRun', { message: 'The configuration could not be written', hint: 'Free some space.' });
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The configuration could not be written');
    expect(app.startup.firstRun).toBe(true);
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    await started();
  });
});

test('data that cannot be opened: what happened, what is safe, where it is, what to do', async () => {
  const { backend } = await mountWith(FatalError, (app) => ({ error: app.startup.fatal! }), { data: 'fatal' });
  const alert = screen.getByRole('alert');
  expect(alert).toHaveTextContent('file is not a database');
  expect(alert).toHaveTextContent('Nothing was overwritten');
  expect(alert).toHaveTextContent('/home/ada/.local/share/contextinfinity');
  expect(alert).toHaveTextContent('Keep a copy of the folder, then restore a backup');
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(backend.disk.pending).toBe('reopen'); // data is opened when the program starts, not when the page loads
  expect(screen.queryByRole('button', { name: 'Start fresh…' })).toBeNull();
});

test('backups are also listed if the problem becomes known only once the program responds again', async () => {
  const { app, backend } = await mountWith(FatalError, (app) => ({ error: app.startup.fatal! }), { data: 'fatal' }, (prepared) => prepared.failNext('settings.startup', { message: 'No response' }));
  const listed = () => backend.calls.some((call) => call.name === 'storage.backups');
  expect([app.startup.info, listed()]).toEqual([null, false]);
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(listed()).toBe(true));
});

test('a lost database: an empty history is created after confirmation, and the folder with the old files is shown', async () => {
  const { backend } = await mountWith(FatalError, (app) => ({ error: app.startup.fatal! }), { data: 'fatal' }, (prepared) => (prepared.program.startup.lost = true));
  expect(screen.getByRole('alert')).toHaveTextContent('Put the file back and try again, restore a backup, or start fresh');
  const started = () => backend.calls.filter((call) => call.name === 'storage.startFresh').length;
  await userEvent.click(screen.getByRole('button', { name: 'Start fresh…' }));
  expect(screen.getByRole('dialog')).toHaveTextContent(/moved to a separate folder inside the data directory. Nothing is deleted/);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect([started(), screen.queryByRole('dialog')]).toEqual([0, null]);
  await userEvent.click(screen.getByRole('button', { name: 'Start fresh…' }));
  backend.failNext('storage.startFresh', { message: 'The folder could not be made' });
  await userEvent.click(screen.getByRole('button', { name: 'Start fresh' }));
  expect(await screen.findByText(/The folder could not be made/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Start fresh' }));
  expect(await screen.findByText('/home/ada/.local/share/contextinfinity/replaced/20261122-120000')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Restart' }));
  expect([started(), backend.disk.pending]).toEqual([2, 'reopen']);
});

test('a damaged log: unreadable changes are dropped after confirmation, and the folder with the files is shown', async () => {
  const { backend } = await mountWith(FatalError, (app) => ({ error: app.startup.fatal! }), { data: 'fatal' }, (prepared) => (prepared.program.startup.damagedLog = true));
  expect(screen.getByRole('alert')).toHaveTextContent('continue without the changes that cannot be read');
  expect(screen.queryByRole('button', { name: 'Start fresh…' })).toBeNull();
  const dropped = () => backend.calls.filter((call) => call.name === 'storage.dropLog').length;
  await userEvent.click(screen.getByRole('button', { name: 'Continue without the changes…' }));
  expect(screen.getByRole('dialog')).toHaveTextContent(/Kept: everything in the database.*Lost: the changes after the damage/);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect([dropped(), screen.queryByRole('dialog')]).toEqual([0, null]);
  await userEvent.click(screen.getByRole('button', { name: 'Continue without the changes…' }));
  await userEvent.click(screen.getByRole('button', { name: 'Drop the damaged changes' }));
  expect(await screen.findByText('/home/ada/.local/share/contextinfinity/replaced/20261122-120000')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Restart' }));
  expect([dropped(), backend.disk.pending]).toEqual([1, 'reopen']);
});

test('what is safe is stated once, and the first button does what is advised', async () => {
  const error = { code: 'corrupt', op: 'store.open', message: 'The database /data/main.db cannot be opened.', hint: 'nothing was overwritten; keep a copy of the file' } as const;
  const { backend } = await mountWith(FatalError, () => ({ error }), { data: 'fatal' });
  const filled = () => screen.getAllByRole('button').filter((button) => button.dataset['kind'] === 'primary').map((button) => button.textContent?.trim());
  await waitFor(() => expect(filled()).toEqual(['Restore a backup…']));
  expect(screen.getByRole('alert').textContent?.match(/overwritten/g)).toHaveLength(1);
  await userEvent.click(screen.getByRole('button', { name: 'Show in folder' }));
  expect(backend.files.revealed).toEqual(['/home/ada/.local/share/contextinfinity']);
});

test('without a usable backup the first button tries again', async () => {
  await mountWith(FatalError, (app) => ({ error: app.startup.fatal! }), { data: 'fatal' }, ({ disk }) => (disk.backups = []));
  expect(await screen.findByText(/There is no backup in the data directory/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Try again' }).dataset['kind']).toBe('primary');
  expect(screen.getByRole('button', { name: 'Restore a backup…' }).dataset['kind']).toBe('plain');
});

test('the newest usable backups are listed, each with a button to restore it', async () => {
  const { app, backend } = await mountWith(FatalError, (started) => ({ error: started.startup.fatal! }), { data: 'fatal' });
  const [newest, damaged] = backend.disk.backups;
  const list = within(await screen.findByRole('region', { name: 'Backups' }));
  expect(list.getAllByRole('listitem')).toHaveLength(4);
  expect(damaged?.problem).not.toBe('');
  await userEvent.click(list.getAllByRole('button', { name: /^Restore the backup of/ })[0]!);
  expect([app.storage.asking, app.storage.path]).toEqual(['restore', newest?.path]);
});

describe('sealed data', () => {
  const theme = () => document.documentElement.dataset.theme;

  test('has one field, with the focus, in the theme of the person; Enter opens it', async () => {
    const { backend, user } = await locked((prepared) => (prepared.program.startup.theme = 'dark'));
    expect(theme()).toBe('dark');
    const field = await screen.findByLabelText('Passphrase or recovery code');
    expect(field).toHaveFocus();
    expect(field).toHaveAttribute('type', 'password');
    await user.keyboard('{Enter}');
    expect(backend.calls.filter((call) => call.name === 'sealing.unlock')).toHaveLength(0);
    await user.keyboard('correct horse{Enter}');
    await waitFor(() => expect(backend.disk.pending).toBe('reopen'));
    expect(screen.getByRole('button', { name: 'Open' })).toHaveAttribute('aria-busy', 'true');
  });

  test('a wrong passphrase is named in words, and the next one replaces it', async () => {
    const { backend, user } = await locked();
    const field = await screen.findByLabelText('Passphrase or recovery code');
    await user.keyboard('wrong{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent(/neither the passphrase nor the recovery code/);
    expect([field.getAttribute('aria-invalid'), backend.disk.pending]).toEqual(['true', '']);
    await user.keyboard('correct horse{Enter}');
    await waitFor(() => expect(backend.disk.pending).toBe('reopen'));
    expect(screen.queryByText(/--passphrase-file/)).toBeNull();
  });

  test('that opens with the sign-in: a keyring without the key is reported in words, and asked again; the code opens it too', async () => {
    const { backend, user } = await locked(({ disk }) => (disk.sealing = { sealed: true, signIn: true, left: [], outside: [] }));
    expect(await screen.findByText(/not damaged/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Try again with my sign-in' }));
    expect(await screen.findByText('The keyring still does not have the key.')).toBeVisible();
    const field = screen.getByLabelText('Recovery code');
    await user.type(field, 'wrong{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('This is not the recovery code');
    await user.clear(field);
    await user.type(field, 'correct horse{Enter}');
    await waitFor(() => expect(backend.disk.pending).toBe('reopen'));
  });

  test('another failure is reported as it is', async () => {
    const { backend, user } = await locked();
    await screen.findByLabelText('Passphrase or recovery code');
    backend.failNext('sealing.unlock', { code: 'corrupt', message: 'The header of the file is damaged' });
    await user.keyboard('correct horse{Enter}');
    expect(await screen.findByText(/The header of the file is damaged/)).toBeVisible();
  });
});

test.each([['corrupt', true], ['newer_version', true], ['locked', false], ['sealed', false]] as const)('data that cannot be opened (%s): restoring a backup is offered: %s', async (code, offered) => {
  const { app } = await mountWith(FatalError, (started) => ({ error: { ...started.startup.fatal!, code } }), { data: 'fatal' });
  const button = screen.queryByRole('button', { name: 'Restore a backup…' });
  if (!offered) return void expect(button).toBeNull();
  await userEvent.click(button!);
  expect(app.storage.asking).toBe('restore');
});

describe('importing existing history', () => {
  test('is offered beside the ways to start, and starts none of them', async () => {
    const { app, backend, started, user } = await open();
    await user.click(screen.getByRole('button', { name: 'Import…' }));
    expect(app.importing.open).toBe(true);
    app.importing.show(await backend.transfer.inspect(['/home/ada/conversations.json']));
    await app.importing.begin();
    app.importing.close();
    expect(await screen.findByText(/37 sessions imported/)).toBeInTheDocument();
    expect([app.startup.firstRun, app.conversation.sessionId]).toEqual([true, '']);
    await user.click(screen.getByRole('button', { name: 'Start with recall' }));
    await started();
    await waitFor(() => expect(app.sessions.list.some((row) => row.title === 'From conversations.json')).toBe(true));
  });
});
