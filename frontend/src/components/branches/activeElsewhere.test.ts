import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import ActiveElsewhere from './ActiveElsewhere.svelte';

/** The window shows the active branch of a session with two; `activate` makes another one active, as a command does. */
async function started() {
  const { app, backend } = await startedApp({ data: 'rich' });
  const { row } = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!;
  await app.navigation.openSession(row.id);
  mountIn(app, ActiveElsewhere, {});
  const shown = row.activeBranch;
  const other = app.conversation.branches.find((branch) => branch.id !== shown)!;
  const activate = (branchId: string) => {
    row.activeBranch = branchId;
    backend.store.changed('session', row.id, row.id);
  };
  return { app, backend, row, shown, other, activate };
}

type Started = Awaited<ReturnType<typeof started>>;

const line = () => screen.queryByRole('button', { name: 'Switch to it' });
const appears = () => waitFor(() => expect(line()).not.toBeNull(), { timeout: 3_000 });
const disappears = () => waitFor(() => expect(line()).toBeNull(), { timeout: 3_000 });

describe('a branch that became the active one elsewhere', () => {
  it('is reported, and opened on request', async () => {
    const { app, other, activate } = await started();
    expect(line()).toBeNull();
    activate(other.id);
    await appears();
    expect(screen.getByRole('status')).toHaveTextContent(other.label);
    await userEvent.click(line()!);
    await waitFor(() => expect(app.conversation.branchId).toBe(other.id));
    await disappears();
  });

  it('stays reported while the session is read again', async () => {
    const { app, row, other, activate } = await started();
    activate(other.id);
    await appears();
    const button = line();
    row.title = 'Another title';
    activate(other.id);
    await waitFor(() => expect(app.conversation.session?.title).toBe('Another title'));
    await tick();
    expect(line()).toBe(button);
  });

  it('is not reported again after staying, until the active branch changes again', async () => {
    const { shown, other, activate } = await started();
    activate(other.id);
    await appears();
    await userEvent.click(screen.getByRole('button', { name: 'Stay here' }));
    await disappears();
    activate(shown);
    await new Promise((resolve) => setTimeout(resolve, 200));
    activate(other.id);
    await appears();
  });

  it('is no longer reported when a message is written here, which makes this branch the active one', async () => {
    const { app, row, shown, other, activate } = await started();
    activate(other.id);
    await appears();
    app.draft.text = 'Go on';
    await app.composer.send();
    await disappears();
    expect([row.activeBranch, app.conversation.branchId]).toEqual([shown, shown]);
  });

  it('is not reported when this window chose it', async () => {
    const { app } = await started();
    await app.turnActions.fork(app.conversation.turns.at(-10)!);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(line()).toBeNull();
  });

  it('is not reported for a branch that was opened beside the active one', async () => {
    const { app, row, other } = await started();
    await app.navigation.openSession(row.id, other.id);
    app.conversation.refreshHeader();
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(app.conversation.branchId).toBe(other.id);
    expect(line()).toBeNull();
  });

  /** Another computer continues the open branch after a turn, and its message arrives. */
  function continueElsewhere({ app, backend, row, shown, activate }: Started, seq: number) {
    const branch = backend.store.addBranch(row.id, 'main · desk', shown, seq);
    Object.assign(branch.view, { continues: shown, machine: 'desk', foreign: true });
    const turn = backend.store.addTurn(branch.view.id);
    expect(app.conversation.branchId).toBe(shown);
    activate(branch.view.id);
    return { branchId: branch.view.id, turnId: turn.id };
  }

  it('is followed without a word if another computer continued where the open one ends and the reader waits there', async () => {
    const all = await started();
    const { branchId, turnId } = continueElsewhere(all, all.app.conversation.lastSeq);
    await waitFor(() => expect(all.app.conversation.branchId).toBe(branchId), { timeout: 3_000 });
    expect(all.app.conversation.newest?.id).toBe(turnId);
    expect(line()).toBeNull();
  });

  it.each([
    ['something is typed', ({ app }: Started) => void (app.draft.text = 'Half a sentence')],
    ['a fact is being written', () => document.body.append(Object.assign(document.createElement('textarea'), { value: 'Half a fact' }))],
    ['something is sought', ({ app }: Started) => app.find.show()],
  ])('is not followed while %s', async (_, begin) => {
    const all = await started();
    begin(all);
    continueElsewhere(all, all.app.conversation.lastSeq);
    await appears();
    expect(screen.getByRole('status')).toHaveTextContent('continued on another computer');
    expect(all.app.conversation.branchId).toBe(all.shown);
    for (const field of document.body.querySelectorAll(':scope > textarea')) field.remove();
  });

  it('takes what is typed along on request if another computer continued the open one', async () => {
    const all = await started();
    const { app, backend, shown } = all;
    app.draft.text = 'Half a sentence';
    const { branchId } = continueElsewhere(all, app.conversation.lastSeq);
    await appears();
    await userEvent.click(line()!);
    await waitFor(() => expect([app.draft.branchId, app.draft.text]).toEqual([branchId, 'Half a sentence']));
    await waitFor(async () => expect((await backend.sessions.draft(branchId)).text).toBe('Half a sentence'));
    await waitFor(async () => expect((await backend.sessions.draft(shown)).text).toBe(''));
  });

  it('is reported if another computer continued before the end of the open one', async () => {
    const all = await started();
    continueElsewhere(all, all.app.conversation.lastSeq - 1);
    await appears();
    expect(all.app.conversation.branchId).toBe(all.shown);
  });

  it('is reported while a message of the open one is being rewritten', async () => {
    const all = await started();
    const { id, seq } = all.app.conversation.turns.at(-1)!;
    all.app.draft.beginEdit({ turnId: id, seq }, { text: 'Rewritten', images: [], files: [], memories: [] });
    continueElsewhere(all, all.app.conversation.lastSeq);
    await appears();
    expect(all.app.draft.text).toBe('Rewritten');
  });
});
