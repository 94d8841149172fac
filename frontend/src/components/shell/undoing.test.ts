import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import PinList from '../inspector/PinList.svelte';
import { onWindowKey } from './keys';

async function started() {
  const { app, backend } = await startedApp({ data: 'rich' });
  const { row } = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!;
  await app.navigation.openSession(row.id);
  const undo = (target: EventTarget = document.body) => {
    const event = new KeyboardEvent('keydown', { key: 'z', ctrlKey: true, cancelable: true });
    Object.defineProperty(event, 'target', { value: target });
    onWindowKey(app, event);
    return event.defaultPrevented;
  };
  return { app, store: backend.store, row, undo };
}

it('F2 renames the open session wherever the focus is', async () => {
  const { app } = await startedApp({ data: 'rich' });
  const event = new KeyboardEvent('keydown', { key: 'F2', cancelable: true });
  onWindowKey(app, event);
  await waitFor(() => expect(app.branches.asking).toMatchObject({ kind: 'session', sessionId: app.conversation.sessionId }));
  expect(event.defaultPrevented).toBe(true);
});

describe('Ctrl+Z', () => {
  it('undoes the newest action first, and leaves undo in a text field to the field', async () => {
    const { app, store, row, undo } = await started();
    const other = app.conversation.branches.find((branch) => branch.id !== row.activeBranch)!;
    await app.sessions.rename(row.id, 'Cutover');
    await app.branches.rename(row.activeBranch, 'trunk');
    await app.branches.archive(other.id, true);
    await app.arranging.move([row.id], 'Work');
    expect(undo(document.createElement('textarea'))).toBe(false);
    const untouched = document.createElement('textarea'); // focused by the page when a deleted line had the focus
    untouched.dataset.untouched = '';
    expect(undo(untouched)).toBe(true);
    await waitFor(() => expect(row.folder).toBe(''));
    await waitFor(() => expect(app.undo.next).toContain('Archived'));
    undo();
    await waitFor(() => expect(store.branch(other.id).view.archived).toBe(false));
    await waitFor(() => expect(app.undo.next).toContain('trunk'));
    undo();
    await waitFor(() => expect(store.branch(row.activeBranch).view.label).toBe('dual-write'));
    await waitFor(() => expect(app.undo.next).toContain('Cutover'));
    undo();
    await waitFor(() => expect(row.title).toBe('Orders to Postgres'));
  });

  it('undoes changes of pinned facts, on their branch', async () => {
    const { app, store, row, undo } = await started();
    const pins = () => store.branch(row.activeBranch).pins.map((pin) => pin.text);
    const before = pins();
    const undoAndCheck = async () => {
      undo();
      await waitFor(() => expect(pins()).toEqual(before));
      await waitFor(() => expect(app.undo.next).toBe(''));
    };
    const list = mountIn(app, PinList, { branchId: row.activeBranch, pins: structuredClone(store.branch(row.activeBranch).pins), tokens: 20, onchanged: async () => undefined, onjump: () => undefined });
    await userEvent.click(screen.getByRole('button', { name: 'Edit fact 1' }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Edit fact 1' }), ' Ever.');
    await userEvent.click(screen.getByRole('button', { name: /Save as version/ }));
    await waitFor(() => expect(pins()[0]).toContain('Ever.'));
    await waitFor(() => expect(app.undo.next).toBe('Fact edited'));
    await undoAndCheck();
    screen.getByRole('button', { name: /^Move fact 1/ }).focus();
    await userEvent.keyboard('{ArrowDown}');
    await waitFor(() => expect(app.undo.next).toBe('Fact moved'));
    expect(pins()).toEqual([...before].reverse());
    await undoAndCheck();
    await userEvent.click(screen.getByRole('button', { name: 'Unpin fact 1' }));
    await waitFor(() => expect(app.undo.next).toBe('Fact unpinned'));
    expect(pins()).toEqual(before.slice(1));
    list.unmount();
    await undoAndCheck();
  });
});
