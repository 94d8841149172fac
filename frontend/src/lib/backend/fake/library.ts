import type { AssistantView, LibraryService, PromptVariableView, SavedPromptView } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeSession, World } from './world';

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

export function libraryService(world: World): LibraryService {
  let assistants: AssistantView[] = [];
  let prompts: SavedPromptView[] = [];
  const applied = new Map<string, { id: string; name: string }>();
  const sorted = <T extends { name: string }>(list: T[]) => list.sort((a, b) => a.name.localeCompare(b.name));
  const lost = (what: string) => new BackendError(errorView(`There is no such ${what}; it may have been deleted.`, '', 'not_found'));
  const free = (list: readonly { id: string; name: string }[], name: string, id = '') => {
    if (list.some((one) => one.id !== id && one.name.toLowerCase() === name.toLowerCase())) {
      throw new BackendError(errorView(`There is already one named "${name}"; nothing was changed.`, 'choose another name', 'conflict'));
    }
  };
  const changed = () => world.changed('library', '', '');
  const assistant = (id: string): AssistantView => {
    const found = assistants.find((one) => one.id === id);
    if (!found) throw lost('assistant');
    return found;
  };
  const save = (given: AssistantView): AssistantView => {
    if (given.name.trim() === '') throw new BackendError(errorView('A name must have 1 to 80 characters in one line; nothing was changed.'));
    free(assistants, given.name.trim(), given.id);
    const stored = { ...given, name: given.name.trim(), id: given.id || world.id('a') };
    assistants = sorted([...assistants.filter((one) => one.id !== stored.id), stored]);
    changed();
    return stored;
  };
  const number = (name: string): string => {
    let n = 2;
    while (assistants.some((one) => one.name === `${name} (${n})`)) n++;
    return assistants.some((one) => one.name === name) ? `${name} (${n})` : name;
  };
  const apply = (session: FakeSession, from: AssistantView) => {
    session.settings = settingsOf(from);
    if (from.model) session.model = from.model;
    applied.set(session.row.id, { id: from.id, name: from.name });
    world.changed('session', session.row.id, session.row.id);
  };
  const savePrompt = (given: SavedPromptView): SavedPromptView => {
    if (given.name.trim() === '' || given.text.trim() === '') throw new BackendError(errorView('A prompt must have a name and text; nothing was changed.'));
    free(prompts, given.name.trim(), given.id);
    const stored = { ...given, name: given.name.trim(), id: given.id || world.id('p'), variables: variablesOf(given.text) };
    prompts = sorted([...prompts.filter((one) => one.id !== stored.id), stored]);
    changed();
    return stored;
  };
  return {
    panel: async () => ({ rev: world.rev, assistants, prompts }),
    saveAssistant: async (given) => save(given),
    duplicateAssistant: async (id) => save({ ...assistant(id), id: '', name: number(assistant(id).name) }),
    deleteAssistant: async (id) => {
      assistant(id);
      assistants = assistants.filter((one) => one.id !== id);
      changed();
    },
    applyAssistant: async (sessionId, id) => apply(world.session(sessionId), assistant(id)),
    startSession: async (id) => {
      const session = world.addSession('');
      apply(session, assistant(id));
      world.changed('sessions', session.row.id, session.row.id);
      return session.row;
    },
    sessionAssistant: async (sessionId) => {
      const session = world.session(sessionId);
      const from = applied.get(sessionId);
      if (!from) return { id: '', name: '', known: false, differs: false };
      const now = assistants.find((one) => one.id === from.id);
      const differs = now !== undefined && (JSON.stringify(settingsOf(now)) !== JSON.stringify(session.settings) || (now.model !== '' && now.model !== session.model));
      return { id: from.id, name: now?.name ?? from.name, known: now !== undefined, differs };
    },
    assistantFile: async (id) => JSON.stringify({ format: 'contextinfinity-assistant', version: 1, ...assistant(id) }, null, 2),
    importAssistant: async (text) => {
      const { format, version: _, ...given } = JSON.parse(text) as AssistantView & { format: string; version: number };
      if (format !== 'contextinfinity-assistant') throw new BackendError(errorView('The file does not contain an assistant; nothing was imported.'));
      return save({ ...given, id: '', name: number(given.name) });
    },
    savePrompt: async (given) => savePrompt(given),
    deletePrompt: async (id) => {
      if (!prompts.some((one) => one.id === id)) throw lost('prompt');
      prompts = prompts.filter((one) => one.id !== id);
      changed();
    },
    fillPrompt: async (id, values) => {
      const found = prompts.find((one) => one.id === id);
      if (!found) throw lost('prompt');
      const byName = new Map(found.variables.map((one) => [one.name, values[one.name] || (one.name === 'date' ? new Date(world.now()).toISOString().slice(0, 10) : one.default)]));
      return found.text.replace(variable, (_, name: string) => byName.get(name) ?? '');
    },
    promptsFile: async () => JSON.stringify({ format: 'contextinfinity-prompts', version: 1, prompts: prompts.map(({ name, text }) => ({ name, text })) }, null, 2),
    importPrompts: async (text) => {
      const { prompts: given } = JSON.parse(text) as { prompts: { name: string; text: string }[] };
      const fresh = given.filter((one) => !prompts.some((known) => known.name === one.name && known.text === one.text));
      for (const one of fresh) savePrompt({ id: '', ...one, variables: [] });
      return { added: fresh.length, known: given.length - fresh.length };
    },
  };
}
