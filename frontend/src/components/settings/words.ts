import { languageNames } from '$lib/words/languages';
import { formatChoices } from '../transfer/words';

/** What the configuration file's values are called in the window, where their bare names say too little. */
export const choiceWords: Record<string, Record<string, string>> = {
  'ui.language': { system: 'System', ...languageNames },
  'stream.durability': { buffered: 'Buffered', write_ahead: 'Write ahead' },
  'librarian.commit': { eager: 'After each turn', lazy: 'When many are pending' },
  'context.history': { elastic: 'Elastic', srd: 'Summary only' },
  'tools.mode': { disabled: 'Off', parse_only: 'Show calls only', enabled: 'On' },
  'retrieval.profile': { measured: 'Measured', srd: 'Specification' },
  'retrieval.scope': { lineage: 'This branch', session: 'This session', all: 'All sessions' },
  'retrieval.embedder': { local: 'Built in', openai: 'OpenAI', ollama: 'Ollama' },
  'openai.truncation': { disabled: 'Off', auto: 'Automatic' },
  'export.format': Object.fromEntries(formatChoices.map(({ value, label }) => [value, label])),
};

/** A sentence of the program that begins with a value, beginning with what the window calls it instead. */
export function helpIn(words: Record<string, string>, help: string): string {
  return help.replace(/(^|[.;] )([a-z_]+)\b/g, (all, before: string, value: string) => (Object.hasOwn(words, value) ? `${before}“${words[value]}”` : all));
}
