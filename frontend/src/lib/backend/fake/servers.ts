/** MCP servers of the fake program. */
import type {
  ElicitationView,
  PromptText,
  ResourceText,
  ServerImport,
  ServerLogLine,
  ServerPromptView,
  ServerResourceView,
  ServerSettings,
  ServersPanel,
  ServersService,
  ServerView,
} from '../types';
import { BackendError } from '../errors';
import type { Program } from './program';
import { block, errorView } from './shapes';
import type { FakeStore } from './store';

export function serverSettings(more: Partial<ServerSettings> = {}): ServerSettings {
  return { name: 'files', enabled: true, command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem@2026.1.14', '/home/ada/project'], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0, ...more };
}

export function serverView(more: Partial<ServerView> = {}): ServerView {
  const settings = more.settings ?? serverSettings(more.name ? { name: more.name } : {});
  return {
    name: settings.name, kind: settings.url === '' ? 'stdio' : 'http', enabled: settings.enabled, state: 'ready', stateText: 'It runs.', lastError: '', retryAt: 0, startedAt: 0, title: '', version: '', protocol: '',
    instructions: '', tools: 0, prompts: 0, resources: 0, problems: [], signedIn: false, secrets: [], ...more, settings,
  };
}

export class FakeServers {
  list: ServerView[] = [];
  logs = new Map<string, ServerLogLine[]>();
  prompts: ServerPromptView[] = [];
  promptText: PromptText = { server: '', name: '', description: '', messages: [] };
  resources: ServerResourceView[] = [];
  resourceText: ResourceText = { server: '', uri: '', name: '', blocks: [] };
  pending: ElicitationView[] = [];
  imports: ServerImport | null = null;
  keyringOK = true;
  readonly #store: FakeStore;

  constructor(store: FakeStore) {
    this.#store = store;
  }

  find(name: string): ServerView {
    const found = this.list.find((server) => server.name === name);
    if (!found) throw new BackendError(errorView(`There is no server ${name}`, '', 'not_found'));
    return found;
  }

  changed(name = ''): void {
    this.#store.changed('servers', name, '');
  }

  ask(question: ElicitationView): void {
    this.pending = [...this.pending, question];
    this.changed(question.server);
  }
}

export function serversService(store: FakeStore, servers: FakeServers, program: Program): ServersService {
  const panel = (): ServersPanel => ({ rev: store.rev, mode: program.valueOf('tools.mode'), servers: servers.list, keyringOK: servers.keyringOK });
  const changed = (name: string): ServersPanel => {
    servers.changed(name);
    return panel();
  };
  const put = (settings: ServerSettings) => {
    if (!/^[a-z0-9][a-z0-9_-]*$/i.test(settings.name)) throw new BackendError(errorView('A server needs a name of letters, digits, _ or -', 'Choose another name.'));
    const view = serverView({ settings: { ...settings, env: hide(settings.env), headers: hide(settings.headers) }, state: settings.enabled ? 'idle' : 'off', stateText: settings.enabled ? 'It starts when it is first needed.' : 'It is off.', secrets: [...settings.env, ...settings.headers].filter((value) => value.secret).map(({ name }) => ({ name, storedIn: 'keyring' })).concat(settings.oauthClientId === '' ? [] : [{ name: 'oauth_client_secret', storedIn: '' }]) });
    const at = servers.list.findIndex((server) => server.name === settings.name);
    servers.list = at < 0 ? [...servers.list, view] : servers.list.with(at, view);
  };
  return {
    servers: async () => panel(),
    addServer: async (settings) => {
      if (servers.list.some((server) => server.name === settings.name)) throw new BackendError(errorView(`There is a server named ${settings.name} already`, 'Choose another name.', 'conflict'));
      put(settings);
      return changed(settings.name);
    },
    updateServer: async (name, settings) => {
      servers.find(name);
      if (name !== settings.name) servers.list = servers.list.filter((server) => server.name !== name);
      put(settings);
      return changed(settings.name);
    },
    removeServer: async (name) => {
      servers.list = servers.list.filter((server) => server.name !== servers.find(name).name);
      return changed(name);
    },
    enableServer: async (name, enabled) => {
      const server = servers.find(name);
      Object.assign(server, { enabled, state: enabled ? 'idle' : 'off', stateText: enabled ? 'It starts when it is first needed.' : 'It is off.' });
      server.settings.enabled = enabled;
      return changed(name);
    },
    restart: async (name) => {
      Object.assign(servers.find(name), { state: 'ready', stateText: 'It runs.', lastError: '', retryAt: 0, startedAt: store.now() });
      return changed(name);
    },
    logs: async (name) => ({ name, lines: servers.logs.get(name) ?? [], dropped: 0 }),
    import: async (text) => {
      if (servers.imports) return servers.imports;
      return importOf(store, text);
    },
    importFile: async () => {
      if (servers.imports) return servers.imports;
      throw new BackendError(errorView('The file cannot be read', 'Choose a JSON file or a .mcpb bundle.'));
    },
    applyImport: async ({ servers: chosen }) => {
      for (const { original, name, enabled } of chosen) {
        const found = (servers.imports ?? lastImport)?.servers.find((candidate) => candidate.original === original);
        if (found) put({ ...found.settings, name, enabled });
      }
      return changed('');
    },
    setSecret: async (name, secret, value) => {
      const server = servers.find(name);
      server.secrets = server.secrets.map((known) => (known.name === secret ? { ...known, storedIn: value === '' ? '' : servers.keyringOK ? 'keyring' : 'this run' } : known));
      return changed(name);
    },
    signIn: async (name) => {
      Object.assign(servers.find(name), { signedIn: true, state: 'ready', stateText: 'It runs.' });
      return changed(name);
    },
    signOut: async (name) => {
      Object.assign(servers.find(name), { signedIn: false, state: 'sign_in', stateText: 'It wants you to sign in.' });
      return changed(name);
    },
    prompts: async () => ({ rev: store.rev, prompts: servers.prompts }),
    getPrompt: async (server, name) => ({ ...servers.promptText, server, name }),
    resources: async () => ({ rev: store.rev, resources: servers.resources }),
    readResource: async (server, uri) => ({ ...servers.resourceText, server, uri }),
    elicitations: async () => ({ rev: store.rev, pending: servers.pending }),
    answerElicitation: async ({ id }) => {
      servers.pending = servers.pending.filter((question) => question.id !== id);
      servers.changed('');
      return { rev: store.rev, pending: servers.pending };
    },
  };
}

const hide = (values: ServerSettings['env']) => values.map((value) => (value.secret ? { ...value, value: '' } : value));

let lastImport: ServerImport | null = null;

/** Reads mcpServers as other programs write it. */
function importOf(store: FakeStore, text: string): ServerImport {
  let parsed: { mcpServers?: Record<string, { command?: string; args?: string[]; url?: string; env?: Record<string, string> }> };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    throw new BackendError(errorView('This is no JSON', 'Paste the whole file, with its outermost braces.'));
  }
  lastImport = {
    id: store.id('import'), from: 'mcpServers JSON', problems: [],
    servers: Object.entries(parsed.mcpServers ?? {}).map(([name, { command = '', args = [], url = '', env = {} }]) => ({
      settings: serverSettings({ name, command, args, url, env: Object.entries(env).map(([key, value]) => ({ name: key, value, secret: false })) }),
      original: name, exists: false, about: '', notes: [], questions: [], exposures: [],
    })),
  };
  return lastImport;
}

/** Servers in every state. */
export function seedServers(store: FakeStore, servers: FakeServers): void {
  const ago = (minutes: number) => store.epoch - minutes * 60_000;
  servers.list = [
    serverView({ settings: serverSettings(), startedAt: ago(40), title: 'Filesystem', version: '2026.1.14', protocol: '2025-11-25', tools: 12, resources: 3, stateText: 'It runs.' }),
    serverView({ settings: serverSettings({ name: 'staging-db', command: 'staging-mcp', args: ['--read-only'], env: [{ name: 'PGPASSWORD', value: '', secret: true }] }), startedAt: ago(40), title: 'Staging database', version: '0.4.1', protocol: '2026-07-28', tools: 3, prompts: 2, problems: [{ subject: 'search', message: 'Its schema is no JSON object, so models are not offered it.' }], secrets: [{ name: 'PGPASSWORD', storedIn: 'keyring' }] }),
    serverView({ settings: serverSettings({ name: 'tracker', command: '', args: [], url: 'https://mcp.tracker.example/mcp' }), state: 'sign_in', stateText: 'It wants you to sign in.' }),
    serverView({ settings: serverSettings({ name: 'notes', command: 'uvx', args: ['notes-mcp'] }), state: 'waiting', stateText: 'It failed, and is started again soon.', lastError: 'uvx: no such command', retryAt: store.epoch + 30_000 }),
    serverView({ settings: serverSettings({ name: 'browser', command: 'npx', args: ['browser-mcp'], enabled: false }), state: 'off', stateText: 'It is off.' }),
  ];
  servers.logs.set('files', [
    { at: ago(40), from: 'program', text: 'Started: npx -y @modelcontextprotocol/server-filesystem@2026.1.14 /home/ada/project' },
    { at: ago(40), from: 'stderr', text: 'Secure MCP Filesystem Server running on stdio' },
    { at: ago(12), from: 'stdout', text: 'npm warn Unknown user config' },
  ]);
  servers.prompts = [
    { server: 'staging-db', name: 'explain_query', title: 'Explain a query', description: 'What a query does, and what it costs.', arguments: [{ name: 'sql', title: 'Query', description: 'One statement', required: true }] },
    { server: 'staging-db', name: 'daily_report', title: 'Daily report', description: 'Drift and lag of the last day.', arguments: [] },
  ];
  servers.promptText = { server: 'staging-db', name: 'daily_report', description: '', messages: [{ role: 'user', blocks: [block('text', 'Write the daily report on drift and lag.')] }] };
  servers.resources = [{ server: 'files', uri: 'file:///home/ada/project/README.md', name: 'README.md', title: '', description: 'What the project is.', mediaType: 'text/markdown', bytes: 4_120, template: false }];
  servers.resourceText = { server: 'files', uri: '', name: 'README.md', blocks: [block('text', '# Project\n\nWhat it is.')] };
}
