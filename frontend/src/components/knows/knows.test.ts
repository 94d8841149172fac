import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import KnowsPage from './KnowsPage.svelte';
import Settings from '../settings/Settings.svelte';
import { withoutEmptySections } from './summary';
import ComposerNotices from '../composer/ComposerNotices.svelte';

async function opened() {
  const started = await startedApp({ data: 'rich' });
  const { app, backend } = started;
  const { row } = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!;
  await app.navigation.openSession(row.id);
  const calls = (name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...started, calls, row, user: userEvent.setup() };
}

describe('a summary', () => {
  it('has no headings without text, outside of code', () => {
    expect(withoutEmptySections('# State\n\n## Facts\n\n## Decisions\n- Friday\n\n### When\n\n## Open\n')).toBe('# State\n\n## Decisions\n- Friday');
    expect(withoutEmptySections('## Facts\n```sh\n# one\n# two\n```')).toBe('## Facts\n```sh\n# one\n# two\n```');
    expect(withoutEmptySections('## Facts\n## Decisions\n')).toBe('');
    expect(withoutEmptySections('#5 is right')).toBe('#5 is right');
  });
});

describe('what the program knows', () => {
  it('lists pinned facts with their source, corrects and removes them', async () => {
    const { app, backend, calls, row, user } = await opened();
    const pin = await backend.inspect.addPin(row.activeBranch, 'I live in Bern');
    mountIn(app, KnowsPage, {});
    const entry = await screen.findByRole('article', { name: 'I live in Bern' });
    expect(within(entry).getByRole('button', { name: /^Pinned in Orders to Postgres · turn #\d+$/ })).toBeVisible();
    await user.click(within(entry).getByRole('button', { name: 'Edit' }));
    const dialog = screen.getByRole('dialog', { name: 'Edit pinned fact' });
    await user.clear(within(dialog).getByRole('textbox', { name: 'Text' }));
    await user.type(within(dialog).getByRole('textbox', { name: 'Text' }), 'I live in Rome');
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect(calls('inspect.editPin')).toEqual([[row.activeBranch, pin.id, 'I live in Rome']]);
    await user.click(within(await screen.findByRole('article', { name: 'I live in Rome' })).getByRole('button', { name: 'Remove' }));
    await user.click(within(screen.getByRole('dialog', { name: 'Remove this pinned fact?' })).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(screen.queryByRole('article', { name: 'I live in Rome' })).toBeNull());
  });

  it('Esc clears the filter first, and then closes the settings', async () => {
    const { app, backend, row, user } = await opened();
    await backend.inspect.addPin(row.activeBranch, 'I live in Bern');
    app.layout.openSettings('knows');
    mountIn(app, Settings, {});
    const field = await screen.findByRole('searchbox', { name: 'Find in what it knows' });
    await user.type(field, 'no such fact');
    expect(await screen.findByText(/no such fact/)).toBeVisible();
    await user.keyboard('{Escape}');
    expect([field, app.layout.view]).toEqual([expect.objectContaining({ value: '' }), 'settings']);
    expect(await screen.findByRole('article', { name: 'I live in Bern' })).toBeVisible();
    await user.keyboard('{Escape}');
    expect(app.layout.view).toBe('chat');
  });

  it('names the project of a fact, which is changed in the project', async () => {
    const { app, backend } = await opened();
    const item = { kind: 'pin' as const, id: 'f1', project: 'Bakery', sessionId: '', sessionTitle: '', archived: false, branchId: '', turnId: '', turnSeq: 0, at: 0, text: 'The oven is Hildegard' };
    backend.memory.known = () => Promise.resolve({ total: 1, items: [item] });
    mountIn(app, KnowsPage, {});
    const entry = await screen.findByRole('article', { name: 'The oven is Hildegard' });
    expect(entry).toHaveTextContent('Project Bakery');
    expect(within(entry).queryByRole('button')).toBeNull();
  });

  it('lists instructions and summaries, and explains how to correct a summary', async () => {
    const { app, backend, calls, row, user } = await opened();
    await backend.sessions.setSessionSettings(row.id, { systemPrompt: 'Be very brief.', temperature: '1', effort: '' });
    mountIn(app, KnowsPage, {});
    await user.click(screen.getByRole('radio', { name: /^Instructions/ }));
    await user.click(within(await screen.findByRole('article', { name: 'Be very brief.' })).getByRole('button', { name: 'Remove' }));
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(calls('sessions.setSessionSettings').at(-1)).toEqual([row.id, { systemPrompt: '', temperature: '1', effort: '' }]));
    await user.click(screen.getByRole('radio', { name: /^Summaries/ }));
    await waitFor(() => expect(screen.getAllByRole('button', { name: 'Pin a correction' }).length).toBeGreaterThan(0));
    expect(screen.getAllByRole('heading').length).toBeGreaterThan(0);
    expect(document.body).not.toHaveTextContent('## ');
    await user.click(screen.getAllByRole('button', { name: 'Pin a correction' })[0]!);
    await user.type(screen.getByRole('textbox', { name: 'The right fact' }), 'It is Friday');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(calls('inspect.addPin').at(-1)?.[1]).toBe('It is Friday'));
    await user.type(screen.getByRole('searchbox', { name: 'Find in what it knows' }), 'nowhere at all');
    expect(await screen.findByText('No results for “nowhere at all”')).toBeVisible();
  });

  it('opens the first list that has entries, counts all, and a search opens one with matches', async () => {
    const { app, backend, row, user } = await opened();
    for (const branch of backend.store.branches.values()) Object.assign(branch, { pins: [], suggested: [] });
    const branch = backend.store.branches.get(row.activeBranch)!;
    await backend.sessions.setSessionSettings(row.id, { systemPrompt: 'I prefer metric units.', temperature: '1', effort: '' });
    mountIn(app, KnowsPage, {});
    expect(await screen.findByRole('radio', { name: 'Instructions (1)' })).toBeChecked();
    expect(screen.getByRole('radio', { name: 'Pinned facts (0)' })).not.toBeChecked();

    const pin = await backend.inspect.addPin(row.activeBranch, 'The mill is on the Aare');
    expect(branch.pins).toHaveLength(1);
    await user.click(await screen.findByRole('radio', { name: 'Pinned facts (1)' }));
    const find = screen.getByRole('searchbox', { name: 'Find in what it knows' });
    await user.type(find, 'metric');
    expect(await screen.findByRole('article', { name: 'I prefer metric units.' })).toBeVisible();
    expect(screen.getByRole('radio', { name: 'Instructions (1)' })).toBeChecked();
    // A list that the user opens stays open for this search.
    await user.click(screen.getByRole('radio', { name: 'Pinned facts (0)' }));
    await backend.inspect.editPin(row.activeBranch, pin.id, 'The mill is on the Rhine');
    expect(await screen.findByText('No results for “metric”')).toBeVisible();
    await new Promise((resolve) => setTimeout(resolve, 300)); // longer than a change takes to be shown
    expect(screen.getByRole('radio', { name: 'Pinned facts (0)' })).toBeChecked();
  });
});

describe('the scope of memory', () => {
  it('is asked once, before the first message of a conversation, if there are other conversations', async () => {
    const { app, backend, calls, user } = await opened();
    mountIn(app, ComposerNotices, {});
    expect(screen.queryByText('May earlier sessions help here?')).toBeNull();
    await app.navigation.newSession();
    expect(await screen.findByText('May earlier sessions help here?')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'All my sessions' }));
    await waitFor(() => expect(screen.queryByText('May earlier sessions help here?')).toBeNull());
    expect(calls('settings.set')).toEqual([['retrieval.scope', 'all']]);
    await backend.sessions.create('another');
    await app.navigation.newSession();
    expect(screen.queryByText('May earlier sessions help here?')).toBeNull();
  });

  it('is asked after the settings changed, and not asked while recall answers, which sends nothing', async () => {
    const { app, backend, calls } = await opened();
    mountIn(app, ComposerNotices, {});
    await backend.settings.set('retrieval.scope', 'all');
    await app.navigation.newSession();
    await waitFor(() => expect(calls('settings.settings').length).toBeGreaterThan(0));
    expect(screen.queryByText('May earlier sessions help here?')).toBeNull();
    await backend.settings.reset('retrieval.scope');
    expect(await screen.findByText('May earlier sessions help here?')).toBeVisible();
    await backend.chat.setModel(app.conversation.sessionId, 'recall');
    await waitFor(() => expect(screen.queryByText('May earlier sessions help here?')).toBeNull());
  });
});
