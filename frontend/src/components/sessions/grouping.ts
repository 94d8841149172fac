/** The session list in groups: pinned first, then by how long ago, then by month. */
import type { SessionRow } from '$lib/backend/types';

/** A line of the list: the heading of a group, or a session. */
export type Line = { kind: 'heading'; id: string; title: string } | { kind: 'session'; id: string; row: SessionRow };

const day = 86_400_000;

function startOfDay(at: number): number {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** "Today", "Yesterday", "This week", then the month, with the year when it is another. */
export function groupOf(at: number, now: number): string {
  const today = startOfDay(now);
  if (at >= today) return 'Today';
  if (at >= startOfDay(today - day / 2)) return 'Yesterday';
  if (at >= startOfDay(today - 5.5 * day)) return 'This week';
  const date = new Date(at);
  const month = date.toLocaleString('en', { month: 'long' });
  return date.getFullYear() === new Date(now).getFullYear() ? month : `${month} ${date.getFullYear()}`;
}

/** Rows come newest first, pinned ones before the others; the order within a group is kept. */
export function grouped(rows: readonly SessionRow[], now: number): Line[] {
  const lines: Line[] = [];
  let current = '';
  for (const row of rows) {
    const group = row.pinned && !row.archived ? 'Pinned' : groupOf(row.updatedAt, now);
    if (group !== current) lines.push({ kind: 'heading', id: `heading:${group}`, title: group });
    current = group;
    lines.push({ kind: 'session', id: row.id, row });
  }
  return lines;
}
