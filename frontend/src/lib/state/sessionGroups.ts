/** The session list in groups: pinned first, then folders by name, then by age. */
import type { SearchGroup, SearchHit, SessionRow } from '$lib/backend/types';
import { locale, t } from '$lib/i18n/i18n.svelte';
import { formatDate } from '$shared/format';

/** A line of the list: the heading of a group, a folder, a session, or a passage of a message. */
export type Line =
  | { kind: 'heading'; id: string; title: string }
  | { kind: 'folder'; id: string; name: string; count: number; open: boolean }
  | { kind: 'session'; id: string; row: SessionRow }
  | { kind: 'passage'; id: string; group: SearchGroup; hit: SearchHit };

const day = 86_400_000;

function startOfDay(at: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** "Today", "Yesterday", "This week", then the month, with the year if it is another one. */
export function groupOf(at: number, now: number): string {
  const today = startOfDay(now);
  if (at >= today) return t('state.today');
  if (at >= startOfDay(today - day / 2)) return t('state.yesterday');
  if (at >= startOfDay(today - 5.5 * day)) return t('state.thisWeek');
  const date = new Date(at);
  return formatDate(at, date.getFullYear() === new Date(now).getFullYear() ? { month: 'long' } : { month: 'long', year: 'numeric' });
}

/**
 * Rows are sorted newest first, pinned ones before the others; the order within a group is kept. A collapsed folder
 * shows only its own row, and so does an empty project.
 */
export function groupSessions(rows: readonly SessionRow[], now: number, collapsed: ReadonlySet<string> = new Set(), projects: readonly string[] = []): Line[] {
  const pinned = rows.filter((row) => row.pinned && !row.archived);
  const others = rows.filter((row) => !row.pinned || row.archived);
  const lines = withHeading(t('state.pinned'), pinned);
  const folders = new Map<string, SessionRow[]>(projects.map((name) => [name, []]));
  for (const row of others) {
    if (row.folder === '') continue;
    const inside = folders.get(row.folder);
    if (inside) inside.push(row);
    else folders.set(row.folder, [row]);
  }
  for (const name of [...folders.keys()].sort((a, b) => a.localeCompare(b, locale()))) {
    const inside = folders.get(name)!;
    const open = !collapsed.has(name);
    lines.push({ kind: 'folder', id: `folder:${name}`, name, count: inside.length, open });
    if (open) lines.push(...inside.map(session));
  }
  let current = '';
  for (const row of others.filter((other) => other.folder === '')) {
    const group = groupOf(row.updatedAt, now);
    if (group !== current) lines.push({ kind: 'heading', id: `heading:${group}`, title: group });
    current = group;
    lines.push(session(row));
  }
  return lines;
}

/** The passages under one heading, in the order in which they were found. */
export function passageLines(groups: readonly SearchGroup[]): Line[] {
  const found = groups.flatMap((group) => group.hits.map((hit): Line => ({ kind: 'passage', id: `passage:${hit.turnId}-${hit.role}`, group, hit })));
  return found.length === 0 ? [] : [{ kind: 'heading', id: passagesHeading, title: t('sessions.inMessages') }, ...found];
}

export const passagesHeading = 'heading:passages';

const session = (row: SessionRow): Line => ({ kind: 'session', id: row.id, row });

function withHeading(title: string, rows: readonly SessionRow[]): Line[] {
  return rows.length === 0 ? [] : [{ kind: 'heading', id: `heading:${title}`, title }, ...rows.map(session)];
}
