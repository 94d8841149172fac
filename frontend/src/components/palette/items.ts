/** What the palette offers, and in which order for what was typed. */
import { fuzzy } from '$lib/commands/fuzzy';
import type { Span } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';

export type ItemKind = 'command' | 'session' | 'branch' | 'model' | 'setting' | 'turn' | 'search';

export interface Item {
  /** The same from day to day, so that what is recent can be told. */
  id: string;
  kind: ItemKind;
  title: string;
  /** Other words it is found by. */
  words?: string | undefined;
  /** At the right: where it is, or what it is now. */
  detail?: string | undefined;
  keys?: string | undefined;
  /** Why it cannot be done now; empty: it can. */
  why?: string | undefined;
  /** What has to be written before it can be done. */
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

/** Of each kind, so that one does not bury the others. */
const most: Record<ItemKind, number> = { command: 9, session: 7, branch: 6, model: 4, setting: 5, turn: 1, search: 1 };
/** What was found by its other words is behind what was found by its title. */
const otherWords = 0.6;
/** What was used lately is likely meant again. */
const recently = 6;

/** Without a text: what is recent, then everything else of few words. `>` keeps to commands. */
export function sectionsOf(items: readonly Item[], typed: string, recent: readonly string[]): Section[] {
  const commandsOnly = typed.startsWith('>');
  const query = typed.replace(/^>/, '').trim();
  const offered = commandsOnly ? items.filter((item) => item.kind === 'command') : items;
  if (query === '') return unasked(offered, commandsOnly ? [] : recent, commandsOnly);
  const scored = offered.flatMap((item) => {
    const fit = fitOf(item, query);
    return fit ? [{ item: { ...item, marks: fit.marks }, score: fit.score + (recent.includes(item.id) ? recently : 0) }] : [];
  });
  scored.sort((a, b) => b.score - a.score || Number(Boolean(a.item.why)) - Number(Boolean(b.item.why)));
  const kinds = [...new Set(scored.map(({ item }) => item.kind))].sort((a, b) => Number(a === 'search') - Number(b === 'search'));
  return kinds.map((kind) => ({ title: t(`palette.${kind}`), items: scored.filter(({ item }) => item.kind === kind).slice(0, most[kind]).map(({ item }) => item) }));
}

function unasked(items: readonly Item[], recent: readonly string[], all: boolean): Section[] {
  const plain = (item: Item): Shown => ({ ...item, marks: [] });
  const lately = recent.flatMap((id) => items.find((item) => item.id === id && !item.why) ?? []);
  const rest = items.filter((item) => !lately.includes(item) && (all || item.kind === 'command' || item.kind === 'session'));
  const kinds: ItemKind[] = ['command', 'session'];
  return [
    { title: t('palette.recent'), items: lately.map(plain) },
    ...kinds.map((kind) => ({ title: t(`palette.${kind}`), items: rest.filter((item) => item.kind === kind).slice(0, all || kind === 'command' ? undefined : most[kind]).map(plain) })),
  ].filter((section) => section.items.length > 0);
}

function fitOf(item: Item, query: string): { score: number; marks: Span[] } | null {
  if (item.kind === 'search' || item.kind === 'turn') return { score: 0, marks: [] };
  const fit = fuzzy(item.title, query);
  // Of its other words one has to begin so: letters scattered over them mean nothing.
  const other = item.words?.toLowerCase().split(/\s+/).some((word) => word.startsWith(query.toLowerCase())) ? fuzzy(item.words, query) : null;
  if (other && (!fit || other.score * otherWords > fit.score)) return { score: other.score * otherWords, marks: [] };
  return fit;
}
