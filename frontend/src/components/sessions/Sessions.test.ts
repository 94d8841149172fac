import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block, sessionRow } from '$lib/backend/fake/shapes';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountIn, startedApp } from '../../test/mount';
import { groupOf, groupSessions } from '$lib/state/sessionGroups';
import SessionLine from './SessionLine.svelte';
import Sessions from './Sessions.svelte';

const at = (text: string) => new Date(text).getTime();

describe('groups of sessions', () => {
  const now = at('2026-11-18T09:00:00');
  it.each([
    ['2026-11-18T00:00:00', 'Today'], ['2026-11-17T23:59:59', 'Yesterday'], ['2026-11-12T00:00:00', 'This week'], ['2026-11-11T23:59:00', 'November'],
    ['2026-10-31T12:00:00', 'October'], ['2025-11-20T12:00:00', 'November 2025'], ['2026-11-19T00:00:00', 'Today'],
  ])('%s is %s', (moment, group) => expect(groupOf(at(moment), now)).toBe(group));

  it('puts pinned ones first and one heading before each group', () => {
    const rows = [
      sessionRow({ id: 'a', pinned: true, updatedAt: at('2026-01-01T00:00:00') }), sessionRow({ id: 'b', updatedAt: now }),
      sessionRow({ id: 'c', updatedAt: now - 1 }), sessionRow({ id: 'd', updatedAt: at('2026-10-02T00:00:00') }),
    ];
    expect(groupSessions(rows, now).map((line) => (line.kind === 'heading' ? line.title : line.id))).toEqual(['Pinned', 'a', 'Today', 'b', 'c', 'October', 'd']);
    expect(groupSessions([], now)).toEqual([]);
  });

  it('sorts folders by name between pinned sessions and days; a collapsed one shows only its row', () => {
    const rows = [
      sessionRow({ id: 'p', pinned: true, folder: 'Work', updatedAt: now }), sessionRow({ id: 'a', folder: 'Work', updatedAt: now }), sessionRow({ id: 'b', updatedAt: now }),
      sessionRow({ id: 'c', folder: 'Garden', updatedAt: now - 1 }), sessionRow({ id: 'd', folder: 'Work', updatedAt: now - 2 }),
    ];
    const ids = (collapsed: string[]) => groupSessions(rows, now, new Set(collapsed)).map((line) => (line.kind === 'folder' ? `${line.name} ${line.count}` : line.id));
    expect(ids([])).toEqual(['heading:Pinned', 'p', 'Garden 1', 'c', 'Work 2', 'a', 'd', 'heading:Today', 'b']);
    expect(ids(['Work'])).toEqual(['heading:Pinned', 'p', 'Garden 1', 'c', 'Work 2', 'heading:Today', 'b']);
  });
});

describe('the sessions column', () => {
  it('keeps the place in the text when the open session is clicked', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    const { intent } = app.conversation;
    backend.calls.length = 0;
    await userEvent.click(document.querySelector('[data-session][aria-current]')!);
    await new Promise((resolve) => setTimeout(resolve, 20)); // opening it again would begin after the draft is saved
    expect([backend.calls.filter((call) => call.name === 'sessions.open'), app.conversation.intent === intent]).toEqual([[], true]);
  });

  it('clears the search with Esc, then closes its drawer, or focuses the message', async () => {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    const field = screen.getByRole('textbox', { name: 'Search sessions and messages' });
    app.layout.measured(40);
    app.layout.reveal('sessions');
    await userEvent.type(field, 'rota{Escape}');
    expect(field).toHaveValue('');
    expect(app.layout.isOpen('sessions')).toBe(true);
    const requestsBefore = app.composer.focusRequests;
    await userEvent.keyboard('{Escape}');
    expect([app.layout.isOpen('sessions'), app.composer.focusRequests]).toEqual([false, requestsBefore]);
    await userEvent.keyboard('{Escape}');
    expect(app.composer.focusRequests).toBeGreaterThan(requestsBefore);
  });

  it.each([['en', '1 running, 13 queued'], ['de', '1 in Arbeit, 13 wartend'], ['zh-CN', '1 进行中，13 排队']])('shows the background work in full, on two lines if needed (%s)', async (language, text) => {
    const { app, backend } = await startedApp({ data: 'rich' });
    const activity = await backend.inspect.activity(app.conversation.branchId);
    backend.inspect.activity = async () => ({ ...activity, running: 1, queued: 13 });
    await app.jobs.load(app.conversation.branchId);
    await chooseLanguage(language, []);
    mountIn(app, Sessions, {});
    const shown = screen.getByText(text);
    expect(shown).not.toHaveClass('truncate');
    expect(shown.closest('button')!.title.split('\n')[0]!.replaceAll('\u00a0', ' ')).toBe(text);
    await chooseLanguage('en', []);
  });

  it('says that there are older sessions if the list has its maximum length', async () => {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    expect(screen.queryByText(/Search finds older ones/)).toBeNull();
    app.startup.info!.maxSessions = app.sessions.list.length;
    mountIn(app, Sessions, {});
    expect(screen.getByText(/Search finds older ones/)).toBeInTheDocument();
  });

  it('searches by title', async () => {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    await userEvent.type(screen.getByRole('textbox', { name: 'Search sessions and messages' }), 'rota');
    await waitFor(() => expect(app.sessions.list.map((row) => row.title)).toEqual(['On-call rota for December']));
    await userEvent.type(screen.getByRole('textbox', { name: 'Search sessions and messages' }), 'xyz');
    expect(await screen.findByText(/Nothing found for/)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Clear the search' }));
    await waitFor(() => expect(app.sessions.list.length).toBeGreaterThan(10));
  });

  it('finds messages too, below the sessions, and opens the place', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    const field = screen.getByRole('textbox', { name: 'Search sessions and messages' });
    await userEvent.type(field, 's');
    await waitFor(() => expect(app.sessions.filter).toBe('s'));
    await userEvent.type(field, 'lots');
    await waitFor(() => expect(app.sessions.passages.length).toBeGreaterThan(0));
    expect(backend.calls.filter(({ name }) => name === 'search.everything').map(({ args }) => (args[0] as { text: string }).text)).not.toContain('s');
    const { hits, sessionId } = app.sessions.passages[0]!;
    await app.navigation.openSession(app.sessions.list.find(({ id }) => id !== sessionId)?.id ?? (await backend.sessions.list(false, '')).find(({ id }) => id !== sessionId)!.id);
    await userEvent.type(field, '{Enter}');
    await waitFor(() => expect(app.conversation.sessionId).toBe(sessionId));
    await waitFor(() => expect(app.conversation.intent).toMatchObject({ turnId: hits[0]!.turnId }));
    // What was found in the list stays out of the archive, and the other way round.
    app.sessions.archived = true;
    await waitFor(() => expect(app.sessions.passages).toEqual([]));
  });

  it('an emptied search shows no passages, even if those of before arrive later', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    const release = backend.hold('search.everything');
    app.sessions.filter = 'slots';
    const asked = () => backend.calls.filter(({ name }) => name === 'search.everything').length;
    await waitFor(() => expect(asked()).toBe(1));
    app.sessions.filter = '';
    release();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([asked(), app.sessions.passages]).toEqual([1, []]);
  });

  it('shows the archive and goes back', async () => {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Sessions, {});
    await userEvent.click(screen.getByRole('button', { name: 'Archive' }));
    await waitFor(() => expect(app.sessions.list.map((row) => row.title)).toEqual(['Old plans for the shed']));
    await userEvent.click(screen.getByRole('button', { name: 'Back to the list' }));
    await waitFor(() => expect(app.sessions.list.length).toBeGreaterThan(10));
  });

  it('archives with undo, and opens another session', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    const id = app.conversation.sessionId;
    await app.sessionActions.archive(id, true);
    expect([backend.store.session(id).row.archived, app.conversation.sessionId === id]).toEqual([true, false]);
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(backend.store.session(id).row.archived).toBe(false));
  });
});

async function line(more = {}) {
  const { app, backend } = await startedApp();
  const renamed: (string | null)[] = [];
  const chosen: string[] = [];
  const row = sessionRow({ id: 's9', title: 'Rye loaf', ...more });
  const props = { row, open: false, reachable: true, renaming: false, onrename: () => undefined, onrenamed: (title: string | null) => void renamed.push(title), onfocus: () => undefined, onchoose: (mode: string) => void chosen.push(mode) };
  return { app, backend, chosen, renamed, props };
}

describe('the row of a session', () => {
  it.each([['streaming', 'an answer is arriving'], ['incomplete', 'an answer is incomplete'], ['failed', 'the last turn failed'], ['unsent', 'a message was not sent'], ['pending', 'turns are pending']])('shows that it is %s', async (status, text) => {
    const { app, props } = await line({ status });
    mountIn(app, SessionLine, props);
    expect(screen.getByRole('button', { name: new RegExp(`Rye loaf.*${text}`) })).toBeVisible();
  });

  it('renames in place: Enter accepts the title, Esc cancels', async () => {
    const { app, renamed, props } = await line();
    mountIn(app, SessionLine, { ...props, renaming: true });
    const field = screen.getByRole('textbox', { name: 'New title of Rye loaf' });
    expect(field).toHaveFocus();
    await userEvent.type(field, ' 2{Escape}');
    await userEvent.type(field, '{Control>}a{/Control}Wheat{Enter}');
    expect(renamed).toEqual([null, 'Wheat']);
  });

  it.each([['{Control>}', 'one'], ['{Shift>}', 'range']])('is selected, not opened, by a click with %s', async (modifier, mode) => {
    const { app, chosen, props } = await line();
    const before = app.conversation.sessionId;
    mountIn(app, SessionLine, props);
    const user = userEvent.setup();
    await user.keyboard(modifier);
    await user.click(screen.getByRole('button', { name: 'Rye loaf' }));
    expect([chosen, app.conversation.sessionId]).toEqual([[mode], before]);
  });

  it('suggests a title from the conversation; Tab accepts it, Enter saves it', async () => {
    const { app, backend, renamed, props } = await line();
    const session = backend.store.addSession('Rye loaf');
    backend.store.addTurn(session.row.activeBranch, { user: [block('text', 'How wet is a rye dough? I have 500 g.')] });
    mountIn(app, SessionLine, { ...props, row: { ...props.row, id: session.row.id }, renaming: true });
    expect(await screen.findByText('How wet is a rye dough')).toBeInTheDocument();
    await userEvent.keyboard('{Tab}');
    expect(screen.getByRole('textbox')).toHaveValue('How wet is a rye dough');
    await userEvent.keyboard('{Enter}');
    expect(renamed).toEqual(['How wet is a rye dough']);
  });

  it('renames without a suggestion if there is none', async () => {
    const { app, backend, renamed, props } = await line();
    backend.failNext('sessions.suggestTitle', { message: 'The disk is full' });
    mountIn(app, SessionLine, { ...props, renaming: true });
    await userEvent.type(screen.getByRole('textbox'), ' 2{Enter}');
    expect([renamed, app.toasts.list]).toEqual([['Rye loaf 2'], []]);
  });
});

it('a load during another one ends with the result for the last text', async () => {
  const { app, backend } = await startedApp();
  backend.store.addSession('About harbours');
  backend.store.addSession('About gardens');
  await app.sessions.load();
  const release = backend.hold('sessions.list');
  app.sessions.filter = 'gard';
  const first = app.sessions.load();
  app.sessions.filter = 'harb';
  const last = app.sessions.load();
  release();
  await first;
  expect(app.sessions.list.map((row) => row.title)).toEqual(['About harbours']);
  await last;
  expect(app.sessions.list.map((row) => row.title)).toEqual(['About harbours']);
});

it('does not say that all is saved while a temporary chat is open', async () => {
  const { app } = await startedApp();
  mountIn(app, Sessions, {});
  expect(screen.getByRole('button', { name: 'All saved' })).toBeInTheDocument();
  await app.navigation.newTemporary();
  expect(await screen.findByRole('button', { name: 'Nothing here is saved to disk' })).toBeInTheDocument();
});
