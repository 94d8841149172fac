import type { ProgramAccessView, ProgramClientView, ProgramsPanel, ProgramsService } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeStore } from './store';

const command = (name: string) => JSON.stringify({ mcpServers: { contextinfinity: { command: 'contextinfinity', args: ['mcp', '--client', name] } } }, null, 2);

function client(store: FakeStore, name: string): ProgramClientView {
  return { name, scope: 'asked', sessions: [], folders: [], remember: false, claims: '', tokenAt: 0, createdAt: store.epoch, seenAt: 0, notes: '' };
}

/** Two example programs, one with access to everything, and what they have read. */
function seeded(store: FakeStore): { clients: ProgramClientView[]; accesses: ProgramAccessView[] } {
  const [row] = [...store.sessions.values()].map((session) => session.row);
  if (!row) return { clients: [], accesses: [] };
  const shown = [{ sessionId: row.id, session: row.title, turnId: '' }];
  return {
    clients: [
      { ...client(store, 'Claude Desktop'), scope: 'all', remember: true, claims: 'claude-ai 1.4', seenAt: store.epoch },
      { ...client(store, 'Zed'), claims: 'Zed 0.215', seenAt: store.epoch },
    ],
    accesses: [
      { id: 3, at: store.epoch, client: 'Zed', tool: 'search_memory', query: 'deadline', outcome: 'refused', shown: [], more: 0 },
      { id: 2, at: store.epoch - 60_000, client: 'Claude Desktop', tool: 'search_memory', query: 'which port does the service use', outcome: 'answered', shown, more: 2 },
      { id: 1, at: store.epoch - 120_000, client: 'Claude Desktop', tool: 'list_sessions', query: '', outcome: 'answered', shown, more: 0 },
    ],
  };
}

export function programsService(store: FakeStore): ProgramsService {
  let { clients, accesses } = seeded(store);
  let on = false;
  const panel = (): ProgramsPanel => ({
    rev: store.rev, clients, folders: [...new Set([...store.sessions.values()].map((session) => session.row.folder).filter(Boolean))].sort(),
    http: { on, running: on, url: 'http://127.0.0.1:7468/mcp', problem: '' },
    snippets: [
      { program: 'Claude Desktop', file: 'claude_desktop_config.json', text: command('Claude Desktop') },
      { program: 'Cursor', file: '~/.cursor/mcp.json', text: command('Cursor') },
      { program: 'Zed', file: 'settings.json', text: JSON.stringify({ context_servers: { contextinfinity: { command: 'contextinfinity', args: ['mcp', '--client', 'Zed'] } } }, null, 2) },
    ],
  });
  const changed = (next: ProgramClientView[]): ProgramsPanel => {
    clients = next.sort((a, b) => a.name.localeCompare(b.name));
    store.changed('programs', '', '');
    return panel();
  };
  const find = (name: string): ProgramClientView => {
    const found = clients.find((candidate) => candidate.name === name);
    if (!found) throw new BackendError(errorView(`There is no program "${name}" in the list`, '', 'not_found'));
    return found;
  };
  const replace = (next: ProgramClientView) => changed([...clients.filter((candidate) => candidate.name !== next.name), next]);
  return {
    panel: async () => panel(),
    allow: async (choice) => {
      const old = clients.find((candidate) => candidate.name === choice.name) ?? client(store, choice.name);
      const sessions = choice.sessions.map((id) => ({ id, title: store.sessions.get(id)?.row.title ?? '' }));
      return replace({ ...old, scope: choice.scope, sessions, folders: choice.folders, remember: choice.remember });
    },
    forget: async (name) => changed(clients.filter((candidate) => candidate !== find(name))),
    makeToken: async (name) => {
      if (name.trim() === '') throw new BackendError(errorView('The name of a program has 1 to 64 letters', '', 'invalid'));
      replace({ ...(clients.find((candidate) => candidate.name === name) ?? client(store, name)), tokenAt: store.epoch });
      const token = 'ci-1f2e3d4c5b6a79880f1e2d3c4b5a6978';
      return { name, token, snippet: JSON.stringify({ mcpServers: { contextinfinity: { url: panel().http.url, headers: { Authorization: `Bearer ${token}` } } } }, null, 2) };
    },
    revokeToken: async (name) => replace({ ...find(name), tokenAt: 0 }),
    setHTTP: async (value) => {
      on = value;
      return changed(clients);
    },
    accesses: async (name, before) => ({ accesses: accesses.filter((access) => (name === '' || access.client === name) && (before === 0 || access.id < before)), next: 0 }),
    clearAccesses: async () => {
      accesses = [];
      store.changed('programs', '', '');
    },
  };
}
