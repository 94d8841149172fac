/** The palette's items, and their order for the typed text. */
import { fuzzy } from '$lib/commands/fuzzy';
import type { Span } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

export type ItemKind = 'command' | 'session' | 'branch' | 'model' | 'setting' | 'turn' | 'search';

export interface Item {
  /** Stable across days, so that recent ones can be recognized. */
  id: string;
  kind: ItemKind;
  title: string;
  /** Other search words. */
  words?: string | undefined;
  /** At the right: its location, or its present state. */
  detail?: string | undefined;
  keys?: string | undefined;
  /** Why it is not available now; empty: it is. */
  disabledReason?: string | undefined;
  /** The text that must be entered first. */
  argument?: string | undefined;
  run: (argument: string) => unknown;
}

export interface Shown extends Item {
  marks: Span[];
}

export interface Section {
  title: string;
  items: Shown[];
}

/** Limit per kind, so that one kind does not hide the others. */
const limits: Record<ItemKind, number> = { command: 9, session: 7, branch: 6, model: 4, setting: 5, turn: 1, search: 1 };
/** Matches in other words rank below matches in the title. */
const otherWordsFactor = 0.75;
/** Recently used items rank higher. */
const recentBonus = 6;

/** Without a query: recent items, then all commands and the first sessions. `>` restricts to commands. */
export function sectionsOf(items: readonly Item[], typed: string, recent: readonly string[]): Section[] {
  const commandsOnly = typed.startsWith('>');
  const query = typed.replace(/^>/, '').trim();
  const offered = commandsOnly ? items.filter((item) => item.kind === 'command') : items;
  if (query === '') return withoutQuery(offered, commandsOnly ? [] : recent, commandsOnly);
  const scored = offered.flatMap((item) => {
    const fit = fitOf(item, query);
    return fit ? [{ item: { ...item, marks: fit.marks }, named: hasWord(item.title, query), score: fit.score + (recent.includes(item.id) ? recentBonus : 0) }] : [];
  });
  scored.sort((a, b) => Number(b.named) - Number(a.named) || b.score - a.score || Number(Boolean(a.item.disabledReason)) - Number(Boolean(b.item.disabledReason)));
  const kinds = [...new Set(scored.map(({ item }) => item.kind))].sort((a, b) => Number(a === 'search') - Number(b === 'search'));
  return kinds.map((kind) => ({ title: t(`palette.${kind}`), items: scored.filter(({ item }) => item.kind === kind).slice(0, limits[kind]).map(({ item }) => item) }));
}

function withoutQuery(items: readonly Item[], recent: readonly string[], all: boolean): Section[] {
  const plain = (item: Item): Shown => ({ ...item, marks: [] });
  const recentItems = recent.flatMap((id) => items.find((item) => item.id === id && !item.disabledReason) ?? []);
  const rest = items.filter((item) => !recentItems.includes(item) && (all || item.kind === 'command' || item.kind === 'session'));
  const kinds: ItemKind[] = ['command', 'session'];
  return [
    { title: t('palette.recent'), items: recentItems.map(plain) },
    ...kinds.map((kind) => ({ title: t(`palette.${kind}`), items: rest.filter((item) => item.kind === kind).slice(0, all || kind === 'command' ? undefined : limits[kind]).map(plain) })),
  ].filter((section) => section.items.length > 0);
}

/** Whether a word of the title begins with the text: the user sees why such an item is offered. */
function hasWord(title: string, query: string): boolean {
  return ` ${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')}`.includes(` ${query.toLowerCase()}`);
}

function fitOf(item: Item, query: string): { score: number; marks: Span[] } | null {
  if (item.kind === 'search' || item.kind === 'turn') return { score: 0, marks: [] };
  const fit = fuzzy(item.title, query);
  // One of the other words must begin with the text: scattered letters match nothing useful.
  const other = item.words?.toLowerCase().split(/\s+/).some((word) => word.startsWith(query.toLowerCase())) ? fuzzy(item.words, query) : null;
  if (other && (!fit || other.score * otherWordsFactor > fit.score)) return { score: other.score * otherWordsFactor, marks: [] };
  return fit;
}
