import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { block } from '$lib/backend/fake/shapes';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountWith } from '$shared/testing/harness';
import Turn from '../transcript/Turn.svelte';
import DeletionDialog from './DeletionDialog.svelte';
import { removedText } from './labels';

const user = userEvent.setup();
const sessionTitled = (backend: FakeBackend, title: string) => [...backend.store.sessions.values()].find((session) => session.row.title === title)!;
const dialog = () => screen.getByRole('dialog');
const button = (name: string) => within(dialog()).getByRole('button', { name });
const deletionCalls = (backend: FakeBackend) => backend.calls.filter((call) => call.name === 'storage.delete').map((call) => call.args);

const copy = (sessionId: string, title: string) => ({ sessionId, title, gone: false, turns: 12, own: 3 });

async function openDialog(kind: 'session' | 'turn', prepare: (backend: FakeBackend) => void = () => undefined) {
  const mounted = await mountWith(DeletionDialog, (app) => {
    if (kind === 'session') app.sessionActions.askToDelete(app.conversation.sessionId);
    else app.deletion.show({ kind, id: app.conversation.turns.at(-1)!.id, archivable: false });
    return {};
  }, {}, (backend) => {
    backend.program.startup.lastSession = sessionTitled(backend, 'Orders to Postgres').row.id;
    prepare(backend);
  });
  await waitFor(() => expect(mounted.app.deletion.preview ?? mounted.app.deletion.error).not.toBeNull());
  return mounted;
}

const prompt = 'To delete it permanently, type “delete”';

describe('deleting a session permanently', () => {
  it('shows what is removed, which sessions quoted it, which backups contain it, and what is kept', async () => {
    await openDialog('session', (backend) => (backend.disk.backups = [backend.disk.backup('daily', backend.store.epoch + 1000)]));
    expect(dialog()).toHaveAccessibleName('Delete “Orders to Postgres” permanently');
    expect(dialog()).toHaveTextContent('This cannot be undone.');
    expect(dialog()).toHaveTextContent(/153 messages with their answers, 2 documents, .* stored requests and .* related records\./);
    expect(within(screen.getByRole('list', { name: 'Sessions that quoted it' })).getAllByRole('listitem')).toHaveLength(2);
    expect(screen.getByRole('list', { name: 'Copies that contain it' })).toHaveTextContent(/^backups\/contextinfinity-.*-daily\.db$/);
    expect(dialog()).toHaveTextContent('A receipt: the time, the identifier');
    await user.click(screen.getByText('By store'));
    expect(screen.getByRole('row', { name: 'Messages and answers 153' })).toBeVisible();
  });

  it.each(['session', 'turn'] as const)('says that other computers delete a %s too, if the vault has it', async (kind) => {
    await openDialog(kind);
    expect(dialog()).not.toHaveTextContent('your other computers');
    await user.click(button('Cancel'));
    await openDialog(kind, (backend) => (backend.disk.everywhere = true));
    expect(screen.getAllByRole('dialog').at(-1)).toHaveTextContent('It is in the vault: your other computers delete it too');
  });

  it('lists the copies of the session, in the receipt too', async () => {
    const { backend } = await openDialog('session', (fake) => (fake.disk.copies = [copy('s-copy', 'Orders, to try things in')]));
    expect(screen.getByRole('list', { name: 'Sessions with the same messages' })).toHaveTextContent('Orders, to try things in');
    await user.type(screen.getByLabelText(prompt), 'delete');
    await user.click(button('Delete permanently'));
    await waitFor(() => expect(deletionCalls(backend)).toHaveLength(1));
    expect(dialog()).toHaveTextContent('1 other session contained the same messages, as a copy, and was not changed: Orders, to try things in');
  });

  it('focuses the field for the confirmation word', async () => {
    await openDialog('session');
    await waitFor(() => expect(screen.getByLabelText(prompt)).toHaveFocus());
  });

  it('deletes the listed copies too, and opens another session if the open one is among them', async () => {
    const { app, backend } = await openDialog('session', (fake) => {
      fake.disk.copies = [copy('s-copy', 'Orders, to try things in'), copy(sessionTitled(fake, 'Orders to Postgres').row.id, 'Orders, third copy')];
    });
    const open = app.conversation.sessionId;
    app.deletion.close();
    app.deletion.show({ kind: 'session', id: [...backend.store.sessions.keys()].find((id) => id !== open)!, archivable: false });
    await waitFor(() => expect(app.deletion.preview).not.toBeNull());
    const box = await screen.findByRole('checkbox', { name: 'Delete all 2 copies too' });
    const copies = screen.getByRole('list', { name: 'Sessions with the same messages' });
    expect(copies).toHaveTextContent('Orders, to try things in 12 messages, 3 of them only in it');
    await user.type(screen.getByLabelText(prompt), 'delete');
    await user.click(box);
    expect(screen.getByLabelText(prompt)).toHaveValue(''); // the word must be typed again, because more will be deleted
    await waitFor(() => expect(app.deletion.preview?.included).toHaveLength(2));
    expect(box).toBeChecked();
    expect(screen.getByRole('list', { name: 'Sessions with the same messages' })).toHaveTextContent('Orders, third copy');
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByRole('list', { name: 'Copies that were deleted too' })).toHaveTextContent('Orders, to try things in');
    expect(deletionCalls(backend)[0]![3]).toEqual(['s-copy', open]);
    await waitFor(() => expect(app.conversation.sessionId).not.toBe(open));
  });

  it('leaves the copies out again if the box is cleared', async () => {
    const { app, backend } = await openDialog('session', (fake) => (fake.disk.copies = [copy('s-copy', 'Orders, to try things in')]));
    await user.click(screen.getByRole('checkbox', { name: 'Delete the whole copy too' }));
    await waitFor(() => expect(app.deletion.preview?.included).toHaveLength(1));
    await user.click(screen.getByRole('checkbox', { name: 'Delete the whole copy too' }));
    await waitFor(() => expect(app.deletion.preview?.included).toHaveLength(0));
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    await waitFor(() => expect(deletionCalls(backend)).toHaveLength(1));
    expect(deletionCalls(backend)[0]![3]).toEqual([]);
  });

  it('stays disabled until exactly the confirmation word is typed', async () => {
    const { backend } = await openDialog('session');
    const field = screen.getByLabelText(prompt);
    for (const almost of ['delet', 'Orders to Postgres', 'delete it']) {
      await user.clear(field);
      await user.type(field, `${almost}{Enter}`);
      expect(button('Delete permanently')).toBeDisabled();
    }
    expect(deletionCalls(backend)).toEqual([]);
  });

  it('shows the receipt, and opens another session in place of the deleted one', async () => {
    const { app, backend } = await openDialog('session');
    const deletedId = app.conversation.sessionId;
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByText('It is gone from the data directory.')).toBeVisible();
    expect(dialog()).toHaveTextContent(deletedId);
    await waitFor(() => expect(button('Done')).toHaveFocus());
    await waitFor(() => expect(app.conversation.sessionId).not.toBe(deletedId));
    expect(app.sessions.find(deletedId)).toBeUndefined();
    expect(app.conversation.error).toBeNull();
    expect(deletionCalls(backend)).toEqual([['session', deletedId, 'delete', []]]);
    await user.click(button('Done'));
    expect(app.deletion.target).toBeNull();
  });

  it('does not claim that the session is gone from the data directory while backups there contain it', async () => {
    await openDialog('session', (backend) => (backend.disk.backups = [backend.disk.backup('daily', backend.store.epoch + 1000)]));
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByText('It is gone from the database. 1 copy in the data directory still contains it.')).toBeVisible();
    expect(screen.queryByText(/gone from the data directory/)).toBeNull();
  });

  it('saves drafts before the deletion, not after it', async () => {
    const { app, backend } = await openDialog('session');
    app.draft.text = 'half a thought';
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    await screen.findByText('It is gone from the data directory.');
    await waitFor(() => expect(app.conversation.session?.title).not.toBe('Orders to Postgres'));
    const names = backend.calls.map((call) => call.name);
    expect(names.indexOf('sessions.saveDraft')).toBeGreaterThan(-1);
    expect(names.lastIndexOf('sessions.saveDraft')).toBeLessThan(names.indexOf('storage.delete'));
    expect(app.toasts.list).toEqual([]);
  });

  it('asks for the same word if the session has no title', async () => {
    const { app, backend } = await openDialog('session', (fake) => (sessionTitled(fake, 'Orders to Postgres').row.title = ''));
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    await screen.findByText('It is gone from the data directory.');
    expect(deletionCalls(backend)[0]?.[2]).toBe('delete');
    expect(app.deletion.receipt?.kind).toBe('session');
  });

  it('is not possible while an answer streams, until a new check succeeds', async () => {
    const { backend } = await openDialog('session', (fake) => (fake.store.lineage(sessionTitled(fake, 'Orders to Postgres').row.activeBranch).at(-1)!.live = true));
    expect(dialog()).toHaveTextContent('An answer in this session is being written; nothing was deleted.');
    expect(screen.queryByLabelText(prompt)).toBeNull();
    expect(button('Delete permanently')).toBeDisabled();
    backend.store.lineage(sessionTitled(backend, 'Orders to Postgres').row.activeBranch).at(-1)!.live = false;
    await user.click(button('Check again'));
    expect(await screen.findByLabelText(prompt)).toBeVisible();
  });

  it('shows an error beside the button, keeps the session, and can be tried again', async () => {
    const { app, backend } = await openDialog('session');
    backend.failNext('storage.delete', { message: 'The disk is full', hint: 'Nothing was deleted.' });
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    expect(app.conversation.session?.title).toBe('Orders to Postgres');
    expect(app.deletion.receipt).toBeNull();
    await user.click(button('Delete permanently'));
    expect(await screen.findByText('It is gone from the data directory.')).toBeVisible();
  });

  it('updates the window even if the call reports a failure', async () => {
    const { app, backend } = await openDialog('session');
    const deletedId = app.conversation.sessionId;
    const { store } = backend;
    backend.failNext('storage.delete', { message: 'It was deleted, with a receipt, but could not be overwritten on the disk yet.' });
    for (const branch of store.session(deletedId).branchIds) store.branches.delete(branch);
    store.sessions.delete(deletedId);
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('It was deleted, with a receipt');
    await waitFor(() => expect(app.conversation.sessionId).not.toBe(deletedId));
  });

  it('offers archiving instead', async () => {
    const { app, backend } = await openDialog('session');
    const id = app.conversation.sessionId;
    await user.click(button('Archive instead'));
    await waitFor(() => expect(backend.store.session(id).row.archived).toBe(true));
    expect(app.deletion.target).toBeNull();
    expect(deletionCalls(backend)).toEqual([]);
  });

  it('clears the typed word when it is cancelled', async () => {
    const { app } = await openDialog('session');
    await user.type(screen.getByLabelText(prompt), 'Orders');
    await user.click(button('Cancel'));
    expect([app.deletion.target, app.deletion.typed]).toEqual([null, '']);
  });
});

describe('deleting a turn permanently', () => {
  it('replaces the text of the turn, records the time, and keeps the session', async () => {
    const { app, backend } = await openDialog('turn');
    const { id } = app.deletion.target!;
    expect(backend.store.turn(id).user[0]?.text).not.toBe('[erased]');
    await user.type(screen.getByLabelText(prompt), 'delete{Enter}');
    expect(await screen.findByText('Its content is gone from the data directory.')).toBeVisible();
    await waitFor(() => expect(app.conversation.turns.at(-1)!.user[0]?.text).toBe('[erased]'));
    expect(app.conversation.turns.at(-1)!.deletedAt).toBe(app.deletion.receipt!.at);
    expect(app.conversation.session?.title).toBe('Orders to Postgres');
  });

  it.each([['en', 'Delete #150 of “Orders to Postgres” permanently'], ['de', '#150 aus „Orders to Postgres“ endgültig löschen'], ['zh-CN', '永久删除“Orders to Postgres”中的 #150']])('names the turn in the title (%s)', async (language, title) => {
    await openDialog('turn');
    await chooseLanguage(language, []);
    await waitFor(() => expect(dialog()).toHaveAccessibleName(title));
    await chooseLanguage('en', []);
  });

  it('draws a placeholder with the date, without actions that need the text', async () => {
    await mountWith(Turn, (app) => ({ turn: app.conversation.turns.at(-1)!, index: 0 }), {}, (backend) => {
      const session = sessionTitled(backend, 'Orders to Postgres');
      backend.program.startup.lastSession = session.row.id;
      const turn = backend.store.lineage(session.row.activeBranch).at(-1)!;
      Object.assign(turn, { user: [block('text', '[erased]')], assistant: [block('text', '[erased]')], deletedAt: Date.UTC(2026, 10, 3, 12) });
    });
    const placeholder = screen.getByRole('article', { name: /deleted$/ });
    expect(placeholder).toHaveTextContent(/permanently deleted on 3 Nov 2026/);
    expect(placeholder).not.toHaveTextContent('[erased]');
    expect(within(placeholder).queryByRole('button', { name: /Edit and resend|Copy the answer|Delete this turn|Regenerate/ })).toBeNull();
    expect(within(placeholder).getByRole('button', { name: 'Fork from here' })).toBeInTheDocument();
  });

  it('treats the text “[erased]” as ordinary text in turns that were not deleted', async () => {
    await mountWith(Turn, (app) => ({ turn: app.conversation.turns.at(-1)!, index: 0 }), {}, (backend) => {
      const session = sessionTitled(backend, 'Orders to Postgres');
      backend.program.startup.lastSession = session.row.id;
      backend.store.lineage(session.row.activeBranch).at(-1)!.user = [block('text', '[erased]')];
      backend.disk.receipts = [{ id: 'r1', kind: 'turn', subject: 'other', at: Date.UTC(2026, 10, 3, 12), parts: [], backups: [], copies: [], included: [] }];
    });
    expect(screen.getByRole('article')).toHaveTextContent('[erased]');
  });
});

describe('the words for what is removed', () => {
  it('name the main records and count the rest', () => {
    const part = (store: string, count: number) => ({ store, label: store, count });
    expect(removedText([part('turns', 1)])).toBe('1 message with its answer');
    expect(removedText([part('steps', 1), part('turns', 2), part('chunks', 3)])).toBe('2 messages with their answers, 3 memories and 1 related record');
    expect(removedText([part('events', 4)])).toBe('4 records');
    expect(removedText([part('turns', 2), part('files', 2), part('chunks', 3), part('states', 1)], 'project')).toBe('2 documents, 3 memories and 3 related records');
  });
});

