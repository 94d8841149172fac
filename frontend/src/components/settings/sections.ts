import type { Setting } from '$lib/backend/types';
import { program, settingTexts } from '$lib/i18n/program';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { choiceText } from './labels';

/** A page of the settings, in the order of the list. */
export interface Section {
  id: string;
  title: string;
  lead: string;
  /** The fields of the page that are not keys of a group, by their labels. */
  fields?: readonly PageField[];
  /** Listed only on request: a group that is rarely changed, and the page of all. */
  detail?: boolean;
}

export interface PageField {
  /** As the page shows it. */
  label: string;
  /** Other words that people may search for. */
  also?: string;
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

/** The page of the tool settings, which also lists the tools and the servers that offer them. */
export const toolsSection = 'group:Tools';

/** The page of other programs that use this memory. */
export const programsSection = 'group:Other programs';

/** The page of the memory settings, which begins with the embedder. */
export const memorySection = 'group:Memory and search';

/** The memory settings that users change; the others are parameters of the search. */
export const memoryFirst: readonly string[] = ['retrieval.scope', 'retrieval.embedder', 'retrieval.embedding_model', 'retrieval.embedding_base_url'];

/** The page that lists every key of the configuration file. */
export const allSection = 'all';

/** The page of the prices and the budget, which begins with the costs of this month. */
export const costSection = 'group:Cost';

/** The page of the vault that several computers share. */
export const syncSection = 'group:Several computers';

/** A page for a group of the program. */
const ofGroup = (id: string, lead: string): Section => ({ id, title: groupTitle(id.replace('group:', '')), lead });

/** The common pages, most used first. Groups of the program that are not listed here follow on request. */
const commonPages = (): Section[] => [
  { id: 'general', title: t('settings.general'), lead: t('settings.generalLead'), fields: [{ label: t('autostart.label'), also: `${t('autostart.help')} ${t('settings.autostartText')}` }, { label: t('settings.defaultModel') }, { label: t('settings.configFile') }, { label: t('settings.version'), also: `${t('updates.check')} ${t('settings.updateText')}` }] },
  { id: 'appearance', title: t('settings.appearance'), lead: t('settings.appearanceLead'), fields: [{ label: t('settings.theme'), also: t('settings.themeText') }, { label: t('settings.textSize'), also: t('settings.textSizeText') }, ...[t('settings.codeSize'), t('settings.messageWidth'), t('settings.motion'), t('settings.wrapCode'), t('settings.lineNumbers'), t('settings.previews')].map((label) => ({ label }))] },
  { id: 'providers', title: t('settings.providers'), lead: t('settings.providersLead') },
  { id: 'models', title: t('settings.modelsPage'), lead: t('settings.modelsLead') },
  ofGroup(costSection, t('settings.costLead')),
  { id: 'assistants', title: t('library.assistants'), lead: t('library.assistantsLead'), fields: [t('shared.instructions'), t('shared.model'), t('shared.temperature'), t('shared.effort'), t('shared.tools')].map((label) => ({ label })) },
  { id: 'prompts', title: t('library.prompts'), lead: t('library.promptsLead') },
  { id: 'knows', title: t('knows.title'), lead: t('knows.lead') },
  ofGroup(memorySection, t('settings.memoryLead')),
  { ...ofGroup(toolsSection, t('settings.toolsLead')), fields: [{ label: t('settings.servers'), also: `${t('settings.serversLead')} ${t('servers.webSearch')}` }] },
  ofGroup(programsSection, t('settings.programsLead')),
  { id: 'storage', title: t('settings.storage'), lead: t('settings.storageLead'), fields: [{ label: t('sealing.title'), also: `${t('sealing.seal')} ${t('sealing.lockNow')} ${t('sealing.theCode')}` }] },
  { ...ofGroup(syncSection, t('sync.lead')), fields: [{ label: t('sync.connect'), also: `${t('sync.none')} ${t('sync.now')} ${t('sync.computers')} ${t('sync.check')} ${t('sync.disconnect')}` }] },
  { id: 'shortcuts', title: t('settings.shortcuts'), lead: t('settings.shortcutsLead') },
];

/** Groups whose settings are on pages with other names. */
const pageOfGroup: Record<string, string> = { General: 'general', Appearance: 'appearance', 'Storage and backup': 'storage', Keyboard: 'shortcuts' };

export function groupId(group: string): string {
  return pageOfGroup[group] ?? `group:${group}`;
}

/** The display name of a group. */
export function groupTitle(group: string): string {
  if (group === 'Providers') return t('settings.providerOptions');
  return group === 'Storage and backup' ? t('settings.storage') : program(group);
}

/** All pages: the common ones, then the one with every key, then the remaining groups in the program's order. */
export function sectionsOf(settings: readonly Setting[]): Section[] {
  const first = commonPages();
  const groups = [...new Set(settings.map((setting) => setting.group))].filter((group) => !first.some(({ id }) => id === groupId(group)));
  return [
    ...first,
    { id: allSection, title: t('settings.all'), lead: t('settings.allLead'), detail: true },
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
  const { label, help } = settingTexts(setting);
  const texts = choiceText[setting.key] ?? {};
  const choices = setting.choices.map((choice) => `${choice} ${texts[choice] ?? ''}`);
  return contains([label, help, groupTitle(setting.group), setting.label, setting.key, ...choices].join(' '), search);
}

/** Whether every word of the search occurs in the name of the page or its description, or in one of its fields. */
export function pageMatches(section: Section, search: string): boolean {
  return contains(`${section.title} ${section.lead}`, search) || fieldsFound(section, search).length > 0;
}

/** The fields of the page that contain every word of the search. */
export function fieldsFound(section: Section, search: string): readonly PageField[] {
  return (section.fields ?? []).filter(({ label, also }) => contains(`${label} ${also ?? ''}`, search));
}

/** Shorter words match only at the beginning of a word: "sign in" does not find "assigned" and "using". */
const longWord = 5;

function contains(text: string, search: string): boolean {
  const all = text.toLocaleLowerCase();
  return search.toLocaleLowerCase().split(/\s+/).every((word) => {
    if (word.length >= longWord || !/^\p{Script=Latin}/u.test(word)) return all.includes(word);
    for (let at = all.indexOf(word); at >= 0; at = all.indexOf(word, at + 1)) if (at === 0 || !/[\p{L}\p{N}]/u.test(all[at - 1]!)) return true;
    return false;
  });
}
