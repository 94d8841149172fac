import type { Setting } from '$lib/backend/types';

/** A page of the settings, in the order of the list at the left. */
export interface Section {
  id: string;
  title: string;
  lead: string;
}

const providersLead =
  'Keys are read from the environment or kept in the system keyring. They are never written to the database, a log, an export or an error.';

const own: Section[] = [
  { id: 'general', title: 'General', lead: 'Where your sessions are kept, and what a new one starts with.' },
  { id: 'providers', title: 'Providers and keys', lead: providersLead },
  { id: 'models', title: 'Models', lead: 'Every model you can send to, and how much of a session it can hold.' },
];

const storageLead = 'Everything is in one folder on this computer: its size, its backups, and what was permanently deleted.';

const last: Section[] = [
  { id: 'storage', title: 'Data and backups', lead: storageLead },
  { id: 'appearance', title: 'Appearance', lead: 'Changes show at once and are remembered.' },
  { id: 'shortcuts', title: 'Keyboard', lead: 'Everything in the window can be reached from the keyboard, by keys of your choice.' },
];

/** What a group of plain settings is about. A group without a sentence stands by its name. */
const leads: Record<string, string> = {
  'Context budget':
    'How large a request may grow, and what gives way first when the session is longer. The transcript itself is always kept whole.',
  Streaming: 'How an answer is kept while it arrives. Solid bars are on disk, striped ones are shown but not yet safe from a power cut.',
  Librarian: 'The background work that adds finished turns to the state summary. A session never waits for it.',
  Tools: 'What happens when a model asks to call a tool, and what you have allowed.',
  'Other programs': 'Your memory in Claude Desktop, Cursor, Zed and other programs, over the Model Context Protocol (MCP): what each may see, and what it read.',
  'Memory and search': 'How earlier passages are found and sent to the model with a message they matter for.',
  'Privacy and redaction': 'What is taken out of a prompt before it leaves this machine.',
  Export: 'Sessions leave as files: to read, to keep, or to import elsewhere.',
  Providers: 'What is sent along to a provider, beside the conversation.',
};

/** The page of the settings of tools, which goes on with the tools themselves; after it the servers they come from. */
export const toolsSection = 'group:Tools';
const servers: Section = { id: 'servers', title: 'Tool servers', lead: 'Programs and addresses that offer tools to models by the Model Context Protocol (MCP).' };

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
    title: group === 'Providers' ? 'Provider options' : group,
    lead: leads[group] ?? '',
  }));
  const tools = middle.findIndex((section) => section.id === toolsSection);
  if (tools >= 0) middle.splice(tools + 1, 0, servers);
  return [...own, ...middle, ...last];
}

export function settingsOf(section: string, settings: readonly Setting[]): Setting[] {
  return settings.filter((setting) => groupId(setting.group) === section);
}
