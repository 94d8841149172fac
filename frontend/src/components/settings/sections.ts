import type { Setting } from '$lib/backend/types';
import { program, settingWords } from '$lib/words/program';
import { t, type PlainKey } from '$lib/words/words.svelte';
import { choiceWords } from './words';

/** A page of the settings, in the order of the list. */
export interface Section {
  id: string;
  title: string;
  lead: string;
  /** The names of the fields on the page, and other words that people search for them with. */
  fields?: string;
  /** Listed under "All settings": a group that is rarely changed. */
  detail?: boolean;
}

/** One-sentence descriptions of groups; the others have only their names. */
const leads: Record<string, PlainKey> = {
  'Context budget': 'settings.budgetLead',
  Streaming: 'settings.streamingLead',
  Librarian: 'settings.librarianLead',
  'Privacy and redaction': 'settings.privacyLead',
  Export: 'settings.exportLead',
  Providers: 'settings.providerOptionsLead',
};

/** The page of the tool settings, which also lists the tools. */
export const toolsSection = 'group:Tools';

/** The page of other programs that use this memory. */
export const programsSection = 'group:Other programs';

/** The page of the memory settings, which begins with the embedder. */
export const memorySection = 'group:Memory and search';

/** The memory settings that users change; the others are parameters of the search. */
export const memoryFirst: readonly string[] = ['retrieval.scope', 'retrieval.embedder', 'retrieval.embedding_model', 'retrieval.embedding_base_url'];

/** The page that lists every key of the configuration file. */
export const allSection = 'all';

const costSection = 'group:Cost';

/** A page for a group of the program. */
const ofGroup = (id: string, lead: string): Section => ({ id, title: groupTitle(id.replace('group:', '')), lead });

/** The common pages, most used first. Groups of the program that are not listed here follow under "All settings". */
const everyday = (): Section[] => [
  { id: 'general', title: t('settings.general'), lead: t('settings.generalLead'), fields: [t('autostart.label'), t('autostart.help'), t('settings.defaultModel'), t('settings.configFile'), t('settings.version'), t('updates.check'), t('settings.generalWords')].join(' ') },
  { id: 'appearance', title: t('settings.appearance'), lead: t('settings.appearanceLead'), fields: [t('settings.theme'), t('settings.textSize'), t('settings.codeSize'), t('settings.messageWidth'), t('settings.motion'), t('settings.codeBlocks'), t('settings.wrapCode'), t('settings.lineNumbers'), t('settings.previews'), t('settings.appearanceWords')].join(' ') },
  { id: 'providers', title: t('settings.providers'), lead: t('settings.providersLead') },
  { id: 'models', title: t('settings.modelsPage'), lead: t('settings.modelsLead') },
  ofGroup(costSection, t('settings.costLead')),
  { id: 'assistants', title: t('library.assistants'), lead: t('library.assistantsLead'), fields: [t('library.instructions'), t('library.model'), t('library.temperature'), t('library.effort'), t('library.tools')].join(' ') },
  { id: 'prompts', title: t('library.prompts'), lead: t('library.promptsLead') },
  { id: 'knows', title: t('knows.title'), lead: t('knows.lead') },
  ofGroup(memorySection, t('settings.memoryLead')),
  ofGroup(toolsSection, t('settings.toolsLead')),
  { id: 'servers', title: t('settings.servers'), lead: t('settings.serversLead') },
  ofGroup(programsSection, t('settings.programsLead')),
  { id: 'storage', title: t('settings.storage'), lead: t('settings.storageLead') },
  { id: 'shortcuts', title: t('settings.shortcuts'), lead: t('settings.shortcutsLead') },
];

/** Groups whose settings are on pages with other names. */
const absorbed: Record<string, string> = { General: 'general', Appearance: 'appearance', 'Storage and backup': 'storage', Keyboard: 'shortcuts' };

export function groupId(group: string): string {
  return absorbed[group] ?? `group:${group}`;
}

/** The display name of a group. */
export function groupTitle(group: string): string {
  return group === 'Providers' ? t('settings.providerOptions') : program(group);
}

/** All pages: the common ones, then the one with every key, then the remaining groups in the program's order. */
export function sectionsOf(settings: readonly Setting[]): Section[] {
  const first = everyday();
  const groups = [...new Set(settings.map((setting) => setting.group))].filter((group) => !first.some(({ id }) => id === groupId(group)));
  return [
    ...first,
    { id: allSection, title: t('settings.all'), lead: t('settings.allLead') },
    ...groups.map((group) => ({ id: groupId(group), title: groupTitle(group), lead: leads[group] ? t(leads[group]) : '', detail: true })),
  ];
}

export function settingsOf(section: string, settings: readonly Setting[]): Setting[] {
  return settings.filter((setting) => groupId(setting.group) === section);
}

/**
 * Whether every word of the search occurs in the displayed texts of a setting, including its choices, in its English
 * name, or in its key.
 */
export function matches(setting: Setting, search: string): boolean {
  const { label, help } = settingWords(setting);
  const words = choiceWords[setting.key] ?? {};
  const choices = setting.choices.map((choice) => `${choice} ${words[choice] ?? ''}`);
  return contains([label, help, groupTitle(setting.group), setting.label, setting.key, ...choices].join(' '), search);
}

/** Whether every word of the search occurs in the name of the page, its description, or the names of its fields. */
export function pageMatches(section: Section, search: string): boolean {
  return contains(`${section.title} ${section.lead} ${section.fields ?? ''}`, search);
}

function contains(text: string, search: string): boolean {
  const all = text.toLocaleLowerCase();
  return search.toLocaleLowerCase().split(/\s+/).every((word) => all.includes(word));
}
