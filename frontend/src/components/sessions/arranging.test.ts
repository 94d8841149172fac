import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import type { App } from '$lib/state/app.svelte';
import { SelectionState } from '$lib/state/selection.svelte';
import { mountIn, startedApp } from '../../test/mount';
import DeleteSeveralDialog from './DeleteSeveralDialog.svelte';
import DropZone from './DropZone.svelte';
import FolderDialog from './FolderDialog.svelte';
import FolderLine from './FolderLine.svelte';
import SelectionBar from './SelectionBar.svelte';
import { setDraggedSessions, getDraggedSessions } from './sessionDrag';
import SessionList from './SessionList.svelte';

describe('selecting several', () => {
  const order = ['a', 'b', 'c', 'd', 'e'];
  it('toggles one, extends from the last selected one in both directions, and selects all or none', () => {
    const selection = new SelectionState();
    selection.toggle('c');
    selection.extend(order, 'e');
    expect(selection.ids).toEqual(['c', 'd', 'e']);
    selection.extend(order, 'a');
    expect(selection.ids).toEqual(['a', 'b', 'c']);
    selection.toggle('b');
    expect(selection.ids).toEqual(['a', 'c']);
    selection.all(order);
    expect(selection.size).toBe(5);
    selection.clear();
    expect(selection.size).toBe(0);
  });

  it('begins a range at the focus if nothing was selected', () => {
    const selection = new SelectionState();
    selection.extend(order, 'd', 'b');
    expect(selection.ids).toEqual(['b', 'c', 'd']);
  });

  it('deselects what is no longer in the list', () => {
    const selection = new SelectionState();
    selection.all(order);
    selection.keep(['b', 'x']);
    expect(selection.ids).toEqual(['b']);
  });
});

/** A stub of DataTransfer, which jsdom does not have. */
function transfer(): DataTransfer {
  const data = new Map<string, string>();
  return { get types() { return [...data.keys()]; }, setData: (type: string, text: string) => void data.set(type, text), getData: (type: string) => data.get(type) ?? '', effectAllowed: 'all', dropEffect: 'none' } as unknown as DataTransfer;
}

describe('dragging sessions', () => {
  it('passes the ids to a drop in the list, and the titles elsewhere', () => {
    const event = { dataTransfer: transfer() } as unknown as DragEvent;
    setDraggedSessions(event, ['a', 'b'], 'Rye\nOats');
    expect([getDraggedSessions(event), event.dataTransfer!.getData('text/plain')]).toEqual([['a', 'b'], 'Rye\nOats']);
    expect(getDraggedSessions({ dataTransfer: transfer() } as unknown as DragEvent)).toEqual([]);
  });

  it('describes the effect of a drop, and performs it', async () => {
    const { app } = await startedApp();
    const dropped: string[][] = [];
    const children = createRawSnippet(() => ({ render: () => '<h2>Work</h2>' }));
    mountIn(app, DropZone, { label: 'Move here', ondropped: (ids: string[]) => void dropped.push(ids), children });
    const zone = screen.getByText('Work').parentElement!;
    const dataTransfer = transfer();
    await fireEvent(zone, dragEvent('dragenter', transfer()));
    expect(screen.queryByText('Move here')).toBeNull();
    setDraggedSessions({ dataTransfer } as unknown as DragEvent, ['a'], 'Rye');
    await fireEvent(zone, dragEvent('dragenter', dataTransfer));
    expect(screen.getByText('Move here')).toBeVisible();
    await fireEvent(zone, dragEvent('drop', dataTransfer));
    expect([dropped, screen.queryByText('Move here')]).toEqual([[['a']], null]);
  });
});

function dragEvent(name: string, dataTransfer: DataTransfer): Event {
  return Object.assign(new Event(name, { bubbles: true, cancelable: true }), { dataTransfer });
}

describe('arranging sessions', () => {
  let app: App;
  let backend: FakeBackend;
  beforeEach(async () => {
    ({ app, backend } = await startedApp({ data: 'rich' }));
  });
  const row = (title: string) => app.sessions.list.find((candidate) => candidate.title === title)!;
  const folder = (title: string) => [...backend.store.sessions.values()].find((session) => session.row.title === title)!.row.folder;
  const undo = () => app.undo.undo();

  it('moves several into a folder, and undo restores the folder of each', async () => {
    await app.arranging.move([row('Invoice number formats').id], 'Work');
    const ids = [row('Invoice number formats').id, row('On-call rota for December').id];
    expect(await app.arranging.move(ids, ' Office ')).toBe(true);
    expect([folder('Invoice number formats'), folder('On-call rota for December'), row('On-call rota for December').folder]).toEqual(['Office', 'Office', 'Office']);
    expect(await undo()).toBe(true);
    await waitFor(() => expect([folder('Invoice number formats'), folder('On-call rota for December')]).toEqual(['Work', '']));
  });

  it('does nothing if all are already in the folder', async () => {
    const before = backend.calls.length;
    expect(await app.arranging.move([row('Invoice number formats').id], '')).toBe(true);
    expect(backend.calls.length).toBe(before);
  });

  it('shows why it failed, and keeps the selection', async () => {
    backend.failNext('sessions.setFolder', { message: 'The disk is full' });
    app.arranging.selection.toggle(row('Invoice number formats').id);
    expect(await app.arranging.move(app.arranging.selection.ids, 'Work')).toBe(false);
    expect([app.toasts.list.at(-1)?.text, app.arranging.selection.size, folder('Invoice number formats')]).toEqual(['The disk is full', 1, '']);
  });

  it('renames a folder with its archived sessions', async () => {
    const shed = [...backend.store.sessions.values()].find((session) => session.row.archived)!;
    shed.row.folder = 'Work';
    await app.arranging.move([row('Invoice number formats').id], 'Work');
    await app.arranging.renameFolder('Work', 'Office');
    expect([folder('Invoice number formats'), shed.row.folder]).toEqual(['Office', 'Office']);
    expect(await undo()).toBe(true);
    await waitFor(() => expect([folder('Invoice number formats'), shed.row.folder]).toEqual(['Work', 'Work']));
  });

  it('archives several including the open one: another opens, and undo restores all', async () => {
    const open = app.conversation.sessionId;
    const ids = [open, row('Invoice number formats').id];
    await app.sessionActions.archiveAll(ids, true);
    const archived = () => ids.map((id) => backend.store.session(id).row.archived);
    expect([archived(), app.conversation.sessionId === open]).toEqual([[true, true], false]);
    expect(await undo()).toBe(true);
    await waitFor(() => expect(archived()).toEqual([false, false]));
  });

  it('opens a copy and says what it does not contain', async () => {
    await app.sessionActions.duplicate(row('Every state of a turn').id);
    const copy = backend.store.session(app.conversation.sessionId).row;
    expect(copy.title).toBe('Every state of a turn (copy)');
    expect(app.toasts.list.at(-1)?.hint).toBe('2 turns are still open in the original and not in the copy.');
  });

  it('remembers collapsed folders, and expands one that something is moved into', async () => {
    app.arranging.collapse('Work', true);
    expect(localStorage.getItem('contextinfinity.folders.collapsed')).toBe('["Work"]');
    await app.arranging.move([row('Invoice number formats').id], 'Work');
    expect(app.arranging.collapsed.has('Work')).toBe(false);
  });

  it('applies an action on a selected row to the whole selection, otherwise only to that row', () => {
    app.arranging.selection.all(['a', 'b']);
    expect([app.arranging.targets('a'), app.arranging.targets('z')]).toEqual([['a', 'b'], ['z']]);
  });

  it('offers the actions of the bar', async () => {
    const ids = [row('Invoice number formats').id, row('On-call rota for December').id];
    app.arranging.selection.all(ids);
    mountIn(app, SelectionBar, {});
    expect(screen.getByRole('status')).toHaveTextContent('2 sessions selected');
    await userEvent.click(screen.getByRole('button', { name: /Move to a folder/ }));
    expect(app.arranging.asking).toEqual(ids);
    await userEvent.click(screen.getByRole('button', { name: /^Archive/ }));
    await waitFor(() => expect(ids.every((id) => backend.store.session(id).row.archived)).toBe(true));
  });

  it('selects a folder: an existing one with the arrows, a new one by name', async () => {
    const id = row('Invoice number formats').id;
    await app.arranging.move([row('On-call rota for December').id], 'Work');
    app.arranging.askFolder([id]);
    const { unmount } = mountIn(app, FolderDialog, { ids: [id] });
    const existing = await screen.findByRole('button', { name: /Work/ });
    await userEvent.click(screen.getByRole('textbox'));
    await userEvent.keyboard('{ArrowDown}');
    expect(existing).toHaveFocus();
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect([folder('Invoice number formats'), app.arranging.asking]).toEqual(['Work', null]));
    unmount();
    mountIn(app, FolderDialog, { ids: [id] });
    await userEvent.type(screen.getByRole('textbox'), 'Taxes{Enter}');
    await waitFor(() => expect(folder('Invoice number formats')).toBe('Taxes'));
  });

  it('uses the existing folder if its name differs only in case', async () => {
    const id = row('Invoice number formats').id;
    await app.arranging.move([row('On-call rota for December').id], 'Work');
    mountIn(app, FolderDialog, { ids: [id] });
    await screen.findByRole('button', { name: /Work/ });
    await userEvent.type(screen.getByRole('textbox'), 'work{Enter}');
    await waitFor(() => expect(folder('Invoice number formats')).toBe('Work'));
  });

  it('collapses, expands and empties a folder from its row', async () => {
    await app.arranging.move([row('Invoice number formats').id, row('On-call rota for December').id], 'Work');
    const onrename = vi.fn();
    mountIn(app, FolderLine, { id: 'folder:Work', name: 'Work', count: 2, open: true, reachable: true, onrename, onfocus: () => undefined });
    await userEvent.click(screen.getByRole('button', { name: /^Work 2 sessions/ }));
    expect(app.arranging.collapsed.has('Work')).toBe(true);
    await userEvent.click(screen.getByRole('button', { name: 'Actions for the folder Work' }));
    await userEvent.click(within(screen.getByRole('menu')).getByRole('menuitem', { name: /Move all sessions out/ }));
    await waitFor(() => expect([folder('Invoice number formats'), folder('On-call rota for December')]).toEqual(['', '']));
    expect(await fireEvent.contextMenu(screen.getByRole('button', { name: /^Work/ }), { clientX: 5, clientY: 6 })).toBe(false); // the system's menu is suppressed
    expect(within(screen.getByRole('menu')).getByRole('menuitem', { name: /Rename/ })).toBeVisible();
    await userEvent.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(screen.getByRole('button', { name: /^Work/ })).toHaveFocus();
    expect(onrename).not.toHaveBeenCalled();
  });

  it('does everything with the keyboard', async () => {
    mountIn(app, SessionList, {});
    const { selection } = app.arranging;
    const list = screen.getByRole('group', { name: 'Sessions' });
    const press = (key: string, more: KeyboardEventInit = {}) => fireEvent.keyDown(list, { key, ...more });
    const title = () => selection.ids.map((id) => app.sessions.find(id)?.title);
    await press('Home');
    await press('ArrowDown', { shiftKey: true });
    expect(title()).toEqual(['Orders to Postgres', 'Lofoten in February']);
    await press('Escape');
    expect(selection.size).toBe(0);
    await press('a', { ctrlKey: true });
    expect(selection.size).toBe(app.sessions.list.length);
    await press('Escape');
    await press(' ', { ctrlKey: true });
    expect(title()).toEqual(['Lofoten in February']);
    await press('m');
    expect(app.arranging.asking).toEqual(selection.ids);
    app.arranging.closeFolder();
    const id = selection.ids[0]!;
    await fireEvent.click(list, { detail: 1 }); // after a click, letters go into the message
    await press('m');
    expect(app.arranging.asking).toBeNull();
    await press('Home');
    await press('ArrowDown');
    await press('m');
    expect(app.arranging.asking).not.toBeNull();
    app.arranging.closeFolder();
    await press('Delete');
    await waitFor(() => expect([backend.store.session(id).row.archived, selection.size]).toEqual([true, 0]));
  });

  it('moves into a folder, collapses it with Left and expands it with Right', async () => {
    await app.arranging.move([row('Invoice number formats').id, row('On-call rota for December').id], 'Work');
    mountIn(app, SessionList, {});
    const press = (key: string) => fireEvent.keyDown(screen.getByRole('group', { name: 'Sessions' }), { key });
    await press('Home');
    for (let i = 0; i < 3; i++) await press('ArrowDown'); // past two pinned sessions and the folder, to its first session
    await press('ArrowLeft'); // to the folder
    await press('ArrowLeft'); // which collapses
    expect([...app.arranging.collapsed]).toEqual(['Work']);
    await press('ArrowRight');
    expect([...app.arranging.collapsed]).toEqual([]);
    await press('F2');
    expect(screen.getByRole('heading', { name: 'Rename the folder “Work”' })).toBeInTheDocument();
  });
});

describe('deleting several permanently', () => {
  it('asks once, deletes each, and says which could not be deleted', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    mountIn(app, SessionList, {});
    const press = (key: string, more: KeyboardEventInit = {}) => fireEvent.keyDown(screen.getByRole('group', { name: 'Sessions' }), { key, ...more });
    await press('Home');
    await press('ArrowDown', { shiftKey: true });
    await press('ArrowDown', { shiftKey: true });
    const ids = [...app.arranging.selection.ids];
    await press('Delete', { shiftKey: true });
    await waitFor(() => expect(app.deletingSeveral.word).toBe('delete'));
    mountIn(app, DeleteSeveralDialog, { sessions: app.deletingSeveral.sessions! });
    expect(ids).toHaveLength(3);
    expect(screen.getByRole('dialog', { name: 'Delete 3 sessions permanently' })).toBeVisible();
    const button = screen.getByRole('button', { name: 'Delete permanently' });
    expect(button).toBeDisabled();
    await userEvent.type(screen.getByRole('textbox'), 'delete');
    backend.failNext('storage.delete', { message: 'A task uses it', hint: '' });
    await userEvent.click(button);
    await waitFor(() => expect(app.deletingSeveral.busy).toBe(false));
    expect(app.deletingSeveral.sessions?.map(({ id, error }) => [id, error?.message])).toEqual([[ids[0], 'A task uses it']]);
    expect(backend.calls.filter(({ name }) => name === 'storage.delete').map(({ args }) => args[1])).toEqual(ids);
    expect(app.sessions.list.filter(({ id }) => ids.includes(id)).map(({ id }) => id)).toEqual([ids[0]]);
    expect(app.arranging.selection.size).toBe(0);
    expect(app.deletingSeveral.ready).toBe(false); // again only with the word typed again
  });

  it('asks about a single one in its own dialog', async () => {
    const { app } = await startedApp({ data: 'rich' });
    await app.deletingSeveral.ask([app.sessions.list[0]!.id]);
    expect([app.deletingSeveral.sessions, app.deletion.target?.id]).toEqual([null, app.sessions.list[0]!.id]);
  });
});
