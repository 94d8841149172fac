import type { AssistantView, LibraryService, PromptVariableView, SavedPromptView } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeSession, FakeStore } from './store';

const variable = /\{\{[ \t]*([\p{L}_][\p{L}\p{N}_ -]{0,39}?)[ \t]*(?::([^{}]*))?\}\}/gu;
const builtin = ['date', 'clipboard', 'selection'];

function variablesOf(text: string): PromptVariableView[] {
  const found = new Map<string, PromptVariableView>();
  for (const [, name, byDefault] of text.matchAll(variable)) {
    const known = found.get(name!) ?? { name: name!, default: '', builtin: builtin.includes(name!) };
    found.set(name!, { ...known, default: known.default || (byDefault ?? '') });
  }
  return [...found.values()];
}

const settingsOf = ({ instructions, temperature, effort }: AssistantView) => ({ systemPrompt: instructions, temperature, effort });

export function libraryService(store: FakeStore): LibraryService {
  let assistants: AssistantView[] = [];
  let prompts: SavedPromptView[] = [];
  const applied = new Map<string, { id: string; name: string }>();
  const sorted = <T extends { name: string }>(list: T[]) => list.sort((a, b) => a.name.localeCompare(b.name));
  const notFound = (kind: string) => new BackendError(errorView(`There is no such ${kind}; it may have been deleted.`, '', 'not_found'));
  const requireFreeName = (list: readonly { id: string; name: string }[], name: string, id = '') => {
    if (list.some((entry) => entry.id !== id && entry.name.toLowerCase() === name.toLowerCase())) {
      throw new BackendError(errorView(`There is already one named "${name}"; nothing was changed.`, 'choose another name', 'conflict'));
    }
  };
  const changed = () => store.changed('library', '', '');
  const assistant = (id: string): AssistantView => {
    const found = assistants.find((entry) => entry.id === id);
    if (!found) throw notFound('assistant');
    return found;
  };
  const save = (input: AssistantView): AssistantView => {
    if (input.name.trim() === '') throw new BackendError(errorView('A name must have 1 to 80 characters in one line; nothing was changed.'));
    requireFreeName(assistants, input.name.trim(), input.id);
    const stored = { ...input, name: input.name.trim(), id: input.id || store.id('a') };
    assistants = sorted([...assistants.filter((entry) => entry.id !== stored.id), stored]);
    changed();
    return stored;
  };
  const uniqueName = (name: string): string => {
    let n = 2;
    while (assistants.some((entry) => entry.name === `${name} (${n})`)) n++;
    return assistants.some((entry) => entry.name === name) ? `${name} (${n})` : name;
  };
  const apply = (session: FakeSession, from: AssistantView) => {
    session.settings = settingsOf(from);
    if (from.model) session.model = from.model;
    applied.set(session.row.id, { id: from.id, name: from.name });
    store.changed('session', session.row.id, session.row.id);
  };
  const savePrompt = (input: SavedPromptView): SavedPromptView => {
    if (input.name.trim() === '' || input.text.trim() === '') throw new BackendError(errorView('A prompt must have a name and text; nothing was changed.'));
    requireFreeName(prompts, input.name.trim(), input.id);
    const stored = { ...input, name: input.name.trim(), id: input.id || store.id('p'), variables: variablesOf(input.text) };
    prompts = sorted([...prompts.filter((entry) => entry.id !== stored.id), stored]);
    changed();
    return stored;
  };
  return {
    panel: async () => ({ rev: store.rev, assistants, prompts }),
    saveAssistant: async (input) => save(input),
    duplicateAssistant: async (id) => save({ ...assistant(id), id: '', name: uniqueName(assistant(id).name) }),
    deleteAssistant: async (id) => {
      assistant(id);
      assistants = assistants.filter((entry) => entry.id !== id);
      changed();
    },
    applyAssistant: async (sessionId, id) => apply(store.session(sessionId), assistant(id)),
    startSession: async (id) => {
      const session = store.addSession('');
      apply(session, assistant(id));
      store.changed('sessions', session.row.id, session.row.id);
      return session.row;
    },
    sessionAssistant: async (sessionId) => {
      const session = store.session(sessionId);
      const from = applied.get(sessionId);
      if (!from) return { id: '', name: '', known: false, differs: false };
      const now = assistants.find((entry) => entry.id === from.id);
      const differs = now !== undefined && (JSON.stringify(settingsOf(now)) !== JSON.stringify(session.settings) || (now.model !== '' && now.model !== session.model));
      return { id: from.id, name: now?.name ?? from.name, known: now !== undefined, differs };
    },
    assistantFile: async (id) => JSON.stringify({ format: 'contextinfinity-assistant', version: 1, ...assistant(id) }, null, 2),
    importAssistant: async (text) => {
      const { format, version: _, ...input } = JSON.parse(text) as AssistantView & { format: string; version: unknown };
      if (format !== 'contextinfinity-assistant') throw new BackendError(errorView('The file does not contain an assistant; nothing was imported.'));
      return save({ ...input, id: '', name: uniqueName(input.name) });
    },
    savePrompt: async (input) => savePrompt(input),
    deletePrompt: async (id) => {
      if (!prompts.some((entry) => entry.id === id)) throw notFound('prompt');
      prompts = prompts.filter((entry) => entry.id !== id);
      changed();
    },
    fillPrompt: async (id, values) => {
      const found = prompts.find((entry) => entry.id === id);
      if (!found) throw notFound('prompt');
      const byName = new Map(found.variables.map((entry) => [entry.name, values[entry.name] || (entry.name === 'date' ? new Date(store.now()).toISOString().slice(0, 10) : entry.default)]));
      return found.text.replace(variable, (_, name: string) => byName.get(name) ?? '');
    },
    promptsFile: async () => JSON.stringify({ format: 'contextinfinity-prompts', version: 1, prompts: prompts.map(({ name, text }) => ({ name, text })) }, null, 2),
    importPrompts: async (text) => {
      const { prompts: imported } = JSON.parse(text) as { prompts: { name: string; text: string }[] };
      const added = imported.filter((entry) => !prompts.some((known) => known.name === entry.name && known.text === entry.text));
      for (const entry of added) savePrompt({ id: '', ...entry, variables: [] });
      return { added: added.length, known: imported.length - added.length };
    },
  };
}
