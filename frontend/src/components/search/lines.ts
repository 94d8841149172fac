/** The results as rows for navigation: the title of each session, its results, and a link to the remaining ones. */
import type { SearchGroup, SearchHit, SearchResult } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { formatCount } from '$shared/format';

export type Line =
  | { kind: 'title'; id: string; group: SearchGroup }
  | { kind: 'hit'; id: string; group: SearchGroup; hit: SearchHit }
  | { kind: 'more'; id: string; group: SearchGroup };

export interface LineGroup {
  group: SearchGroup;
  lines: Line[];
}

/** A search of all sessions returns at most this many results of each session; `search.more` loads the others. */
const initialHits = 5;

export function lineGroups(groups: readonly SearchGroup[]): LineGroup[] {
  return groups.map((group) => ({
    group,
    lines: [
      { kind: 'title', id: group.sessionId, group },
      ...group.hits.map((hit): Line => ({ kind: 'hit', id: `${group.sessionId}-${hit.turnId}-${hit.role}`, group, hit })),
      ...(group.more > 0 && group.hits.length > 0 && group.hits.length <= initialHits ? [{ kind: 'more', id: `${group.sessionId}-more`, group } as const] : []),
    ],
  }));
}

/** The row to which a key moves from the row `index` (-1: none is active); -1 if it does not move. The arrows wrap around. */
export function lineTarget(key: string, index: number, count: number): number {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
  if (step === undefined || count === 0) return -1;
  if (step === 1 && index === count - 1) return 0;
  if (step === -1 && index <= 0) return count - 1;
  return Math.max(0, Math.min(count - 1, index + step));
}

/** How a result was found. For "meaning" it says "similar text", because only a model embedder knows meanings. */
export function howFound(method: string): string {
  return method === 'both' ? t('search.both') : method === 'words' ? t('search.words') : t('search.meaning');
}

/** The number of results and the time, as a sentence. */
export function foundText({ groups, hits, truncated, totalMs }: SearchResult): string {
  if (groups.length === 0) return t('shared.noResults');
  const sessions = groups.length;
  const time = t('units.milliseconds', { n: formatCount(totalMs) });
  if (hits === 0) return t('search.foundTitles', { sessions, time });
  return truncated ? t('search.foundMore', { hits, sessions, time }) : t('search.found', { hits, sessions, time });
}
