import { languageNames } from '$lib/i18n/languages';
import { t, table } from '$lib/i18n/i18n.svelte';
import { formatChoices } from '../transfer/labels';

/** Display names of values whose names in the configuration file do not explain themselves. */
export const choiceText: Record<string, Readonly<Record<string, string>>> = {
  'general.default_model': { get ''() { return t('settings.firstUsable'); } },
  'librarian.model': { get auto() { return t('settings.automatic'); }, get ''() { return t('settings.noModel'); } },
  'summary.style': table({ sections: 'settings.sections', narrative: 'settings.narrative' }),
  'ui.language': { ...languageNames, get system() { return t('settings.system'); } },
  'appearance.theme': table({ system: 'settings.system', light: 'settings.light', dark: 'settings.dark', contrast: 'settings.contrast' }),
  'appearance.message_width': table({ narrow: 'settings.narrow', normal: 'settings.normal', wide: 'settings.wide', full: 'settings.full' }),
  'appearance.motion': table({ system: 'settings.system', reduced: 'settings.reduced' }),
  'stream.durability': table({ buffered: 'settings.buffered', write_ahead: 'settings.writeAhead' }),
  'librarian.commit': table({ eager: 'settings.afterEachTurn', lazy: 'settings.whenMany' }),
  'context.history': table({ elastic: 'settings.elastic', srd: 'settings.summaryOnly' }),
  'tools.mode': table({ disabled: 'settings.off', parse_only: 'shared.toolsShow', enabled: 'settings.on' }),
  'retrieval.profile': table({ measured: 'settings.measured', srd: 'settings.specification' }),
  'retrieval.scope': table({ '': 'settings.scopeUnchosen', lineage: 'shared.thisBranch', session: 'shared.thisSession', project: 'shared.thisProject', all: 'shared.allSessions' }),
  'retrieval.embedder': { openai: 'OpenAI', ollama: 'Ollama', get local() { return t('embedders.builtIn'); }, get words() { return t('embedders.words'); } },
  'openai.truncation': table({ disabled: 'settings.off', auto: 'settings.automatic' }),
  get 'export.format'() {
    return Object.fromEntries(formatChoices().map(({ value, label }) => [value, label]));
  },
};

/** The source of a model's context window, in the language of the window. */
export function limitSource(source: string): string {
  if (source === 'configured') return t('settings.configured');
  if (source === 'server') return t('settings.server');
  return source === 'unknown window' ? t('settings.unknownWindow') : source;
}

/** Replaces the values at the beginning of sentences of a description by their display names: "one" and "one and another". */
export function helpIn(choiceTexts: Readonly<Record<string, string>>, help: string): string {
  const quoted = (before: string, value: string) => t('settings.quotedValue', { before, value: choiceTexts[value]! });
  return help.replace(/(^|[.;] |[。；])([a-z_]+)\b(?:( and | und | ?和 ?)([a-z_]+)\b)?/g, (all, before: string, value: string, and?: string, other?: string) => {
    if (!Object.hasOwn(choiceTexts, value)) return all;
    if (and === undefined || other === undefined) return quoted(before, value);
    return quoted(before, value) + (Object.hasOwn(choiceTexts, other) ? quoted(and, other) : and + other);
  });
}
