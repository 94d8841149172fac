import { describe, expect, it } from 'vitest';
import { fakeBackend } from '../fake';
import type { SearchQuery } from '../types';

const query = (text: string, more: Partial<SearchQuery> = {}): SearchQuery => ({ text, sessionId: '', role: '', since: 0, until: 0, archived: false, meaning: false, limit: 0, ...more });

describe('the search of the fake program', () => {
  const backend = fakeBackend();
  const marked = (text: string, marks: { from: number; to: number }[]) => marks.map(({ from, to }) => text.slice(from, to).toLowerCase());

  it('groups by session, marks the words, and limits the results of a group', async () => {
    const found = await backend.search.everything(query('orders sche'));
    const group = found.groups.find(({ title }) => title === 'Orders to Postgres')!;
    expect([group.hits.length, group.more, found.hits]).toEqual([5, 141, 146]);
    expect(new Set(marked(group.hits[0]!.snippet, group.hits[0]!.marks))).toEqual(new Set(['orders', 'sche']));
  });

  it('supports phrases, roles, archives and titles', async () => {
    const titles = async (text: string, more: Partial<SearchQuery> = {}) => (await backend.search.everything(query(text, more))).groups.map(({ title }) => title);
    expect(await titles('"schema orders"')).toEqual([]);
    expect(await titles('"orders schema"')).toEqual(['Orders to Postgres']);
    expect(await titles('standby first', { role: 'user' })).toEqual([]);
    expect(await titles('shed')).toEqual([]);
    expect(await titles('shed', { archived: true })).toEqual(['Old plans for the shed']);
    expect(await titles('lofoten')).toEqual(['Lofoten in February']);
  });

  it('opens a turn of another branch there, and finds by meaning on request', async () => {
    const [group] = (await backend.search.everything(query('"slots survive"'))).groups;
    expect(new Set(group!.hits.map((hit) => hit.branchLabel))).toEqual(new Set(['logical-replication', 'throttled-backfill', 'big-bang-window']));
    const alike = await backend.search.everything(query('replicated', { meaning: true }));
    expect(alike.groups.flatMap(({ hits }) => hits.map((hit) => hit.by))).toContain('meaning');
    expect((await backend.search.everything(query('replicated'))).groups).toEqual([]);
  });

  it('finds in a lineage, and totals metrics', async () => {
    const branch = [...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!.row.activeBranch;
    const found = await backend.search.find(branch, 'QUESTION 7', false);
    expect([found.hits.map((hit) => hit.seq).slice(0, 2), found.total]).toEqual([[7, 70], 11]);
    expect((await backend.search.find(branch, 'QUESTION 7', true)).total).toBe(0);
    const series = await backend.search.metrics({ scope: 'branch', sessionId: '', branchId: branch, limit: 10 });
    expect([series.points.length, series.unpriced, Number(series.cost) > 0]).toEqual([10, 0, true]);
  });

  it('copies a session completely, sharing nothing', async () => {
    const { id, activeBranch } = [...backend.store.sessions.values()].find(({ row }) => row.title === 'Every state of a turn')!.row;
    const copy = await backend.sessions.duplicate(id, '');
    expect([copy.title, copy.leftOut, copy.turns]).toEqual(['Every state of a turn (copy)', 2, backend.store.lineage(activeBranch).length - 2]);
    backend.store.lineage(copy.activeBranch)[0]!.user[0]!.text = 'changed';
    expect(backend.store.lineage(activeBranch)[0]!.user[0]!.text).not.toBe('changed');
  });

  it('keeps sessions in folders, all of them or none', async () => {
    const ids = [...backend.store.sessions.keys()].slice(0, 2);
    await backend.sessions.setFolder(ids, ' Work ');
    await expect(backend.sessions.setFolder([ids[0]!, 'nobody'], 'Home')).rejects.toThrow();
    expect(await backend.sessions.folders()).toEqual([{ name: 'Work', sessions: 2 }]);
  });
});
