/** The results as rows for navigation: the title of each session, its results, and a link to the remaining ones. */
import type { SearchGroup, SearchHit, SearchResult } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { grouped } from '$shared/format';

export type Line =
  | { kind: 'title'; id: string; group: SearchGroup }
  | { kind: 'hit'; id: string; group: SearchGroup; hit: SearchHit }
  | { kind: 'more'; id: string; group: SearchGroup };

export interface LineGroup {
  group: SearchGroup;
  lines: Line[];
}

export function lineGroups(groups: readonly SearchGroup[]): LineGroup[] {
  return groups.map((group) => ({
    group,
    lines: [
      { kind: 'title', id: `${group.sessionId}`, group },
      ...group.hits.map((hit): Line => ({ kind: 'hit', id: `${group.sessionId}-${hit.turnId}-${hit.role}`, group, hit })),
      ...(group.more > 0 && group.hits.length > 0 && group.hits.length <= 5 ? [{ kind: 'more', id: `${group.sessionId}-more`, group } as const] : []),
    ],
  }));
}

/** The target row of a key, or -1 for none. The first result is preselected. */
export function lineTarget(key: string, at: number, count: number): number {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
  if (step === undefined || count === 0) return -1;
  if (step === 1 && at === count - 1) return 0;
  if (step === -1 && at <= 0) return count - 1;
  return Math.max(0, Math.min(count - 1, at + step));
}

/** How it was found: only a model embedder knows meanings. */
export function howFound(by: string): string {
  return by === 'both' ? t('search.both') : by === 'words' ? t('search.words') : t('search.meaning');
}

/** The number of results, as a sentence. */
export function foundWords({ groups, hits, truncated, totalMs }: SearchResult): string {
  if (groups.length === 0) return t('shared.noResults');
  const sessions = groups.length;
  const time = t('units.milliseconds', { n: grouped(totalMs) });
  if (hits === 0) return t('search.foundTitles', { sessions, time });
  return truncated ? t('search.foundMore', { hits, sessions, time }) : t('search.found', { hits, sessions, time });
}
