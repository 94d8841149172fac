import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { SearchGroup } from '$lib/backend/types';
import { wordsOf } from '$lib/state/search.svelte';
import { mountIn, startedApp } from '../../test/mount';
import { foundText, lineGroups, lineTarget } from './lines';
import SearchPanel from './SearchPanel.svelte';

const group = (more: Partial<SearchGroup> = {}): SearchGroup => ({ sessionId: 's', title: 'T', folder: '', archived: false, updatedAt: 0, marks: [], hits: [], more: 0, ...more });

async function panel() {
  const started = await startedApp({ data: 'rich' });
  const { app } = started;
  app.layout.measured(80);
  await app.navigation.openSession([...started.backend.store.sessions.values()].find(({ row }) => row.title === 'Rye loaf, wetter dough')!.row.id);
  app.search.narrow({ meaning: false });
  app.search.show();
  mountIn(app, SearchPanel, {});
  const field = screen.getByRole('combobox', { name: 'Search titles and messages of all sessions' }) as HTMLInputElement;
  const chosen = () => screen.getByRole('option', { selected: true });
  const calls = (name: string) => started.backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...started, field, chosen, calls, user: userEvent.setup() };
}

describe('the global search', () => {
  it('searches while the user types, groups results, and the field announces the active row', async () => {
    const { field, chosen, user } = await panel();
    expect(field).toHaveFocus();
    expect(screen.getByText('Search all your sessions')).toBeVisible();
    await user.type(field, '"orders sche');
    const found = await screen.findByRole('group', { name: 'Orders to Postgres' });
    expect(within(found).getAllByRole('option')).toHaveLength(7);
    expect(screen.getByRole('status')).toHaveTextContent(/146 results in 1 session/);
    expect(field.getAttribute('aria-activedescendant')).toBe(chosen().id);
    expect([chosen().querySelector('mark')!.textContent, chosen().textContent]).toEqual(['orders sche', expect.stringContaining('by words')]);
  });

  it('Enter during a new search does not open an old result', async () => {
    const { backend, app, field, user } = await panel();
    await user.type(field, 'orders');
    await screen.findByRole('group', { name: 'Orders to Postgres' });
    const before = app.conversation.sessionId;
    const release = backend.hold('search.everything');
    await user.type(field, ' rye{Enter}');
    expect(app.conversation.sessionId).toBe(before);
    expect(backend.calls.filter(({ name }) => name === 'search.everything').at(-1)?.args[0]).toMatchObject({ text: 'orders rye' });
    release();
    await waitFor(() => expect(app.search.searching).toBe(false));
    expect([app.conversation.sessionId, app.search.opened]).toEqual([before, '']);
  });

  it('keeps the row that was chosen by keyboard when the results change, and not the one under the pointer', async () => {
    const { app, field, chosen, user } = await panel();
    await user.type(field, 'slots');
    await screen.findByRole('group', { name: 'Orders to Postgres' });
    await user.keyboard('{ArrowDown}{ArrowDown}');
    const { id, textContent } = chosen();
    await app.search.run();
    expect([chosen().id, chosen().textContent]).toEqual([id, textContent]);
    await user.keyboard('{ArrowDown}');
    const next = chosen().id;
    expect(next).not.toBe(id);
    app.search.hover(next.slice(next.indexOf('-list-') + 6));
    await app.search.run();
    expect(chosen().id).not.toBe(next);
  });

  it('moves through all rows, and opens the turn in its branch with its words marked', async () => {
    const { app, field, chosen, user } = await panel();
    await user.type(field, '"slots survive"');
    await screen.findByRole('group', { name: 'Orders to Postgres' });
    const first = chosen().id;
    await user.keyboard('{ArrowDown}');
    expect(chosen().id).not.toBe(first);
    await user.keyboard('{ArrowUp}{Control>}{Enter}{/Control}');
    await waitFor(() => expect(app.conversation.session?.title).toBe('Orders to Postgres'));
    await waitFor(() => expect(app.conversation.intent.to).toBe('turn'));
    const { branchId, intent } = app.conversation;
    expect(['logical-replication', 'throttled-backfill', 'big-bang-window']).toContain(app.conversation.header!.branchLabel);
    expect(app.conversation.turns.find((turn) => turn.id === intent.turnId)?.branchId).toBe(branchId);
    expect([intent.marks?.terms, app.layout.searching]).toEqual([['Slots survive'], true]);
    expect(field).toHaveFocus();
    expect(chosen()).toHaveTextContent('open');
    await user.keyboard('{ArrowDown}{Enter}');
    await waitFor(() => expect(app.conversation.branchId).not.toBe(branchId));
    await waitFor(() => expect(field).not.toHaveFocus());
    expect(app.layout.searching).toBe(true);
  });

  it('closes if it covers the conversation, and is unchanged when it opens again', async () => {
    const { app, field, user } = await panel();
    app.layout.measured(56);
    await user.type(field, 'standby first');
    await screen.findByRole('group', { name: 'Orders to Postgres' });
    await user.keyboard('{Enter}');
    await waitFor(() => expect(app.layout.searching).toBe(false));
    app.search.show();
    expect([app.search.text, app.search.groups.length > 0, app.search.opened !== '']).toEqual(['standby first', true, true]);
  });

  it('loads all results of a session', async () => {
    const { app, field, chosen, user, calls } = await panel();
    await user.type(field, '"orders schema"');
    const found = await screen.findByRole('group', { name: 'Orders to Postgres' });
    await user.click(within(found).getByText('141 more results in this session'));
    await waitFor(() => expect(within(found).getAllByRole('option').length).toBe(147));
    expect(calls('search.everything').at(-1)).toMatchObject([{ sessionId: app.search.groups[0]!.sessionId }]);
    expect([chosen().id, screen.queryByText(/more results? in/)]).toEqual([within(found).getAllByRole('option')[6]!.id, null]);
  });

  it('never shows the results of an older query', async () => {
    const { app, backend, calls } = await panel();
    const release = backend.hold('search.everything');
    app.search.text = 'lofoten';
    const old = app.search.run();
    app.search.text = 'rota';
    release();
    await old;
    expect([app.search.result, app.search.searching]).toEqual([null, true]);
    await waitFor(() => expect(app.search.groups.map(({ title }) => title)).toEqual(['On-call rota for December']));
    expect(calls('search.everything').length).toBe(2);
  });

  it('shows an error with a retry', async () => {
    const { backend, field, user } = await panel();
    backend.failNext('search.everything', { message: 'The index is locked', hint: 'Wait a moment.' });
    await user.type(field, 'lofoten');
    expect(await screen.findByRole('alert')).toHaveTextContent('The index is locked');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('group', { name: 'Lofoten in February' })).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('explains empty results, and filters', async () => {
    const { field, user, calls } = await panel();
    await user.type(field, 'old shed');
    await user.clear(field);
    await user.type(field, 'plans shed');
    expect(await screen.findByText('No results for “plans shed”')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Search the archive too' }));
    expect(await screen.findByRole('group', { name: 'Old plans for the shed' })).toHaveTextContent('Archived');
    await user.click(screen.getByRole('button', { name: 'Similar text' }));
    await user.click(screen.getByRole('radio', { name: 'This session' }));
    await waitFor(() => expect(calls('search.everything').at(-1)).toMatchObject([{ archived: true, meaning: true, sessionId: expect.stringMatching(/^s/) }]));
    await user.click(screen.getByRole('button', { name: /^Filter/ }));
    await user.selectOptions(screen.getByLabelText('Who'), 'user');
    await user.type(screen.getByLabelText('To (inclusive)'), '1999-12-31');
    await waitFor(() => expect(calls('search.everything').at(-1)).toMatchObject([{ role: 'user', until: new Date('2000-01-01T00:00:00').getTime() }]));
    await user.click(screen.getAllByRole('button', { name: 'Clear filters' })[0]!);
    await waitFor(() => expect(calls('search.everything').at(-1)).toMatchObject([{ role: '', until: 0, archived: false, meaning: true }]));
  });

  it('closes with Esc', async () => {
    const { app, user } = await panel();
    await user.keyboard('{Escape}');
    expect(app.layout.searching).toBe(false);
  });
});

describe('rows of results', () => {
  it('have no link to more if everything is shown or only the title matches', () => {
    const hit = { turnId: 't', branchId: 'b', branchLabel: 'main', seq: 1, role: 'user', at: 0, snippet: '', marks: [], by: 'words', score: 1 };
    const kinds = (result: SearchGroup) => lineGroups([result])[0]!.lines.map((line) => line.kind);
    expect([kinds(group({ hits: [hit], more: 3 })), kinds(group({ hits: [hit] })), kinds(group({ more: 0 }))]).toEqual([['title', 'hit', 'more'], ['title', 'hit'], ['title']]);
  });

  it.each([['ArrowDown', 0, 3, 1], ['ArrowDown', 2, 3, 0], ['ArrowUp', 0, 3, 2], ['PageDown', 1, 30, 9], ['PageUp', 3, 30, 0], ['ArrowDown', -1, 0, -1], ['x', 0, 3, -1]])('%s from %i of %i leads to %i', (key, index, count, target) => expect(lineTarget(key, index, count)).toBe(target));

  it('counts in a sentence', () => {
    const result = { groups: [group()], hits: 0, truncated: false, warning: '', totalMs: 12 };
    expect(foundText(result)).toContain('1 session by title');
    expect(foundText({ ...result, hits: 3, truncated: true })).toContain('3 results in more than 1 session');
    expect(foundText({ ...result, groups: [] })).toBe('No results');
  });

  it('marks each word once', () => expect(wordsOf({ snippet: 'a rye and a rye', marks: [{ from: 2, to: 5 }, { from: 12, to: 15 }] })).toEqual(['rye']));
});
