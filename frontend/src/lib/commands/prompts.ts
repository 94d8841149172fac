/** The saved prompts and those of tool servers in the list that `/` opens. Pure. */
import type { SavedPromptView, ServerPromptView } from '$lib/backend/types';
import { parse, type Suggestion } from './commands';
import { fuzzy } from './fuzzy';

const maxSuggestions = 12;

/**
 * Prompts whose name matches the text after the slash, best first. Names contain spaces; a command with its argument is
 * not a prompt.
 */
export function suggestPrompts(typed: string, prompts: readonly SavedPromptView[], ofServers: readonly ServerPromptView[]): Suggestion[] {
  const query = /^\/([^/\n]*)$/.exec(typed)?.[1];
  if (query === undefined || (/\s/.test(query) && parse(typed).kind !== 'unknown')) return [];
  const all: Suggestion[] = [
    ...prompts.map((prompt): Suggestion => ({ text: typed, label: prompt.name, detail: firstLine(prompt.text), complete: false, prompt })),
    ...ofServers.map((serverPrompt): Suggestion => ({ text: typed, label: serverPrompt.title || serverPrompt.name, detail: `${serverPrompt.server} · ${firstLine(serverPrompt.description)}`, complete: false, serverPrompt })),
  ];
  return all
    .flatMap((suggestion) => {
      const fit = fuzzy(suggestion.label, query);
      return fit ? [{ suggestion, score: fit.score }] : [];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, query === '' ? all.length : maxSuggestions)
    .map(({ suggestion }) => suggestion);
}

const firstLine = (text: string): string => text.trim().split('\n')[0]!.slice(0, 200);
