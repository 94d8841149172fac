/** What was found as lines one walks through: the title of each session, its finds, and the way to the rest of them. */
import type { SearchGroup, SearchHit, SearchResult } from '$lib/backend/types';
import { counted, grouped } from '$shared/format';

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

/** Where a key leads from a line, or -1 for a key that leads nowhere. The first find stands ready before any key. */
export function lineTarget(key: string, at: number, count: number): number {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
  if (step === undefined || count === 0) return -1;
  if (step === 1 && at === count - 1) return 0;
  if (step === -1 && at <= 0) return count - 1;
  return Math.max(0, Math.min(count - 1, at + step));
}

/** How it was found. By vectors of the configured embedder: only a model embedder knows what words mean. */
export const byWords: Record<string, string> = { words: 'by words', meaning: 'similar text', both: 'words and similar text' };

/** How much was found, in a sentence. */
export function foundWords({ groups, hits, truncated, totalMs }: SearchResult): string {
  if (groups.length === 0) return 'No results';
  const where = counted(groups.length, 'session');
  const finds = hits === 0 ? `${where} by title` : `${counted(hits, 'result')} in ${truncated ? 'more than ' : ''}${where}`;
  return `${finds}, ${grouped(totalMs)}\u202fms`;
}
