import type { Setting } from '$lib/backend/types';
import { program } from '$lib/words/program';
import { t, type PlainKey } from '$lib/words/words.svelte';

/** A page of the settings, in the order of the list at the left. */
export interface Section {
  id: string;
  title: string;
  lead: string;
}

const own = (): Section[] => [
  { id: 'general', title: t('settings.general'), lead: t('settings.generalLead') },
  { id: 'providers', title: t('settings.providers'), lead: t('settings.providersLead') },
  { id: 'models', title: t('settings.modelsPage'), lead: t('settings.modelsLead') },
];

/** What is kept for many sessions, and what is remembered of all of them. */
const kept = (): Section[] => [
  { id: 'assistants', title: t('library.assistants'), lead: t('library.assistantsLead') },
  { id: 'prompts', title: t('library.prompts'), lead: t('library.promptsLead') },
  { id: 'knows', title: t('knows.title'), lead: t('knows.lead') },
];

const last = (): Section[] => [
  { id: 'storage', title: t('settings.storage'), lead: t('settings.storageLead') },
  { id: 'appearance', title: t('settings.appearance'), lead: t('settings.appearanceLead') },
  { id: 'shortcuts', title: t('settings.shortcuts'), lead: t('settings.shortcutsLead') },
];

/** What a group of plain settings is about. A group without a sentence stands by its name. */
const leads: Record<string, PlainKey> = {
  'Context budget': 'settings.budgetLead',
  Streaming: 'settings.streamingLead',
  Librarian: 'settings.librarianLead',
  Tools: 'settings.toolsLead',
  'Other programs': 'settings.programsLead',
  'Memory and search': 'settings.memoryLead',
  'Privacy and redaction': 'settings.privacyLead',
  Export: 'settings.exportLead',
  Providers: 'settings.providerOptionsLead',
};

/** The page of the settings of tools, which continues with the tools themselves; after it the servers they come from. */
export const toolsSection = 'group:Tools';
const servers = (): Section => ({ id: 'servers', title: t('settings.servers'), lead: t('settings.serversLead') });

/** The page of other programs that use this memory. */
export const programsSection = 'group:Other programs';

/** The page of the memory settings, which begins with the embedder. */
export const memorySection = 'group:Memory and search';

/** Groups that pages of their own take in. */
const absorbed: Record<string, string> = { General: 'general', Appearance: 'appearance', 'Storage and backup': 'storage', Keyboard: 'shortcuts' };

export function groupId(group: string): string {
  return absorbed[group] ?? `group:${group}`;
}

/** All pages: our own, then each group the program named, in its order, then what is about the window. */
export function sectionsOf(settings: readonly Setting[]): Section[] {
  const groups = [...new Set(settings.map((setting) => setting.group))].filter((group) => !absorbed[group]);
  const middle = groups.map((group) => ({
    id: groupId(group),
    title: group === 'Providers' ? t('settings.providerOptions') : program(group),
    lead: leads[group] ? t(leads[group]) : '',
  }));
  const tools = middle.findIndex((section) => section.id === toolsSection);
  if (tools >= 0) middle.splice(tools + 1, 0, servers());
  return [...own(), ...kept(), ...middle, ...last()];
}

export function settingsOf(section: string, settings: readonly Setting[]): Setting[] {
  return settings.filter((setting) => groupId(setting.group) === section);
}
