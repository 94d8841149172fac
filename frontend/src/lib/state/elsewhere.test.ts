import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { App } from './app.svelte';

// Actions started in one conversation that end after the user has gone to another.

let backend: FakeBackend;
let app: App;
let other: string;

beforeEach(async () => {
  vi.useFakeTimers();
  backend = fakeBackend({ data: 'rich' });
  app = new App(backend);
  await app.start();
  other = app.sessions.list.find((row) => row.id !== app.conversation.sessionId && row.turns > 0)!.id;
});

afterEach(() => {
  app.stop();
  backend.streams.stopAll();
  vi.useRealTimers();
  localStorage.clear();
});

const settle = () => vi.advanceTimersByTimeAsync(1_000);
const shownTurns = () => app.conversation.turns.map((turn) => turn.id);

/** Goes to the other session while a call is delayed, then lets the call return. */
async function leaveDuring(name: string, action: () => Promise<unknown>): Promise<void> {
  const release = backend.hold(name);
  const running = action();
  await vi.advanceTimersByTimeAsync(10);
  await app.navigation.openSession(other);
  const shown = shownTurns();
  release();
  await running;
  await settle();
  expect(app.conversation.sessionId).toBe(other);
  expect(app.conversation.error).toBeNull();
  expect(shownTurns()).toEqual(shown);
  expect(app.toasts.list.filter((toast) => toast.tone === 'danger')).toEqual([]);
}

describe('the user stays in the conversation opened meanwhile', () => {
  it('after a fork', () => leaveDuring('sessions.fork', () => app.turnActions.fork(app.conversation.turns.at(-10)!)));

  it('after a fork in the tree', () => leaveDuring('sessions.fork', () => app.branches.fork(app.conversation.turns.at(-10)!.id, 1, '')));

  it('after a rollback to a turn', () => leaveDuring('branches.rollbackTo', () => app.branches.rollback(app.conversation.branchId, app.conversation.turns.at(-10)!.id, 1)));

  it('after a rollback to a state', () => leaveDuring('sessions.rollback', () => app.commands.run('rollback')));

  it('after switching a branch', () => leaveDuring('sessions.switch', () => app.branches.open(app.conversation.branches.find((branch) => branch.id !== app.conversation.branchId)!.id)));

  it('after regenerating an answer', () => leaveDuring('chat.retry', () => app.turnActions.regenerate(app.conversation.newest!)));

  it('also while the other session is still loading', async () => {
    const release = backend.hold('sessions.fork');
    const forked = app.turnActions.fork(app.conversation.turns.at(-10)!);
    const arrive = backend.hold('sessions.open');
    const opened = app.navigation.openSession(other);
    await vi.advanceTimersByTimeAsync(10);
    release();
    await vi.advanceTimersByTimeAsync(10);
    arrive();
    await Promise.all([forked, opened]);
    expect(app.conversation.sessionId).toBe(other);
  });

  it('and undoing a fork opens its own session', async () => {
    const { branchId, sessionId } = app.conversation;
    await app.turnActions.fork(app.conversation.turns.at(-10)!);
    const toast = app.toasts.list.at(-1)!;
    await app.navigation.openSession(other);
    app.toasts.act(toast.id);
    await settle();
    expect([app.conversation.sessionId, app.conversation.branchId]).toEqual([sessionId, branchId]);
  });
});

describe('an edit', () => {
  const hasMessage = (text: string) => app.conversation.turns.some((turn) => turn.user.some((block) => block.text === text));

  it('leaves the earlier draft on its branch after sending', async () => {
    const before = app.conversation.branchId;
    app.draft.text = 'a thought';
    await settle();
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    await settle(); // saved, like everything in the field
    await app.composer.send();
    await settle();
    expect(hasMessage('other words')).toBe(true);
    expect(app.draft.isEmpty).toBe(true);
    await app.branches.open(before);
    expect(app.draft.text).toBe('a thought');
  });

  it('leaves the earlier draft on its branch if it is sent from elsewhere', async () => {
    const { branchId, sessionId } = app.conversation;
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    const release = backend.hold('sessions.fork');
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    await app.navigation.openSession(other);
    release();
    await sent;
    await settle();
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.composer.editing]).toEqual(['a thought', null]);
  });

  it('is still open after another session, and after the same one was opened again', async () => {
    const { branchId, sessionId } = app.conversation;
    app.draft.text = 'a thought';
    const turn = app.conversation.turns.at(-5)!;
    app.turnActions.edit(turn);
    app.draft.text = 'other words';
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.composer.editing]).toEqual(['other words', { turnId: turn.id, seq: turn.seq }]);
    await app.navigation.openSession(other);
    expect([app.draft.text, app.composer.editing]).toEqual(['', null]);
    await app.navigation.newSession();
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.composer.editing]).toEqual(['other words', { turnId: turn.id, seq: turn.seq }]);
    app.composer.cancelEdit();
    await settle();
    await app.navigation.openSession(other);
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.composer.editing]).toEqual(['a thought', null]);
  });

  it('moves to its fork if it cannot be sent there', async () => {
    const { branchId, sessionId } = app.conversation;
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    backend.failNext('chat.send', { message: 'No' });
    await app.composer.send();
    await settle();
    expect(app.conversation.branchId).not.toBe(branchId);
    expect([app.draft.text, app.composer.editing, app.composer.error?.message]).toEqual(['other words', null, 'No']);
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.composer.editing]).toEqual(['a thought', null]);
  });

  it('that was not changed ends when a fork opens, without moving the text', async () => {
    const before = app.conversation.branchId;
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    await settle();
    await app.turnActions.fork(app.conversation.turns.at(-10)!);
    await settle();
    expect(app.composer.editing).toBeNull();
    expect(app.draft.isEmpty).toBe(true);
    await app.branches.open(before);
    expect(app.draft.text).toBe('a thought');
  });

  it('that cannot be sent after leaving keeps its text where it was written', async () => {
    const { branchId, sessionId } = app.conversation;
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    const release = backend.hold('sessions.fork');
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    await app.navigation.openSession(other);
    app.draft.text = 'written elsewhere';
    backend.failNext('chat.send', { message: 'No' });
    release();
    await sent;
    await settle();
    expect(app.draft.text).toBe('written elsewhere');
    await app.navigation.openSession(sessionId, branchId);
    expect([app.draft.text, app.draft.before.text]).toEqual(['other words', 'a thought']);
    expect(app.composer.editing).not.toBeNull();
  });

  it.each([
    ['changed', 'other words', ['other words', 'a thought', true]],
    ['unchanged', null, ['a thought', '', false]],
  ])('loses nothing when the program ends during it: %s', async (_, text, found) => {
    app.draft.text = 'a thought';
    await settle();
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    if (text) app.draft.text = text;
    await settle();
    const restarted = new App(backend); // the first one does not get to save its draft
    await restarted.start();
    expect([restarted.draft.text, restarted.draft.before.text, restarted.composer.editing !== null]).toEqual(found);
    restarted.stop();
  });

  describe('that was changed', () => {
    const [first, second] = [-5, -7];
    const edit = (index: number) => app.turnActions.edit(app.conversation.turns.at(index)!);
    const field = () => [app.draft.text, app.draft.before.text, app.composer.editing?.turnId];
    beforeEach(() => {
      app.draft.text = 'a thought';
      edit(first);
      app.draft.text = 'other words';
    });

    it('comes back with undo after it was cancelled', async () => {
      const { turnId, seq } = app.composer.editing!;
      app.composer.cancelEdit();
      expect(field()).toEqual(['a thought', '', undefined]);
      expect(app.undo.next).toBe(`Discarded the edit of #${seq}`);
      await app.undo.undo();
      expect(field()).toEqual(['other words', 'a thought', turnId]);
      await settle();
      expect(backend.store.branch(app.conversation.branchId).draft).toMatchObject({ text: 'a thought', edit: { turnId, text: 'other words' } });
    });

    it('comes back with undo after another message was edited, whose edit comes back in turn', async () => {
      const { turnId } = app.composer.editing!;
      edit(second);
      app.draft.text = 'still other words';
      await app.undo.undo();
      expect(field()).toEqual(['other words', 'a thought', turnId]);
      await app.undo.undo();
      expect(field()).toEqual(['still other words', 'a thought', app.conversation.turns.at(second)!.id]);
    });

    it('stays as it is when Edit is chosen again', () => {
      edit(first);
      expect(field()).toEqual(['other words', 'a thought', app.conversation.turns.at(first)!.id]);
      expect(app.undo.next).toBe('');
    });

    it('comes back on its branch if undone from elsewhere', async () => {
      const { branchId, sessionId } = app.conversation;
      const { turnId } = app.composer.editing!;
      edit(second);
      app.draft.text = 'still other words';
      await app.navigation.openSession(other);
      await app.undo.undo();
      expect(app.draft.text).toBe('');
      await app.navigation.openSession(sessionId, branchId);
      expect(field()).toEqual(['other words', 'a thought', turnId]);
      await app.undo.undo();
      expect(app.draft.text).toBe('still other words');
    });

    it('does not come back after it was sent', async () => {
      const { branchId, sessionId } = app.conversation;
      const release = backend.hold('sessions.fork');
      const sent = app.composer.send();
      await app.navigation.openSession(other);
      await app.navigation.openSession(sessionId, branchId); // where it is still in the field
      release();
      await sent;
      await settle();
      expect([...field(), app.undo.next]).toEqual(['a thought', '', undefined, '']);
    });

    it('does not come back after something was permanently deleted, which it may repeat, nor does a queued message', async () => {
      app.composer.cancelEdit();
      const { branchId } = app.conversation;
      await backend.chat.restoreQueued(branchId, { text: 'other words', images: [], files: [], memories: [] }, 0);
      await settle();
      await app.conversation.queue.remove(app.conversation.queue.messages[0]!.id, app.undo, app.toasts);
      expect(app.conversation.queue.messages).toEqual([]);
      edit(first);
      app.draft.text = 'still other words';
      await settle();
      app.deletion.show({ kind: 'turn', id: app.conversation.turns.at(first)!.id, archivable: false });
      await settle();
      app.deletion.typed = app.deletion.preview!.confirm;
      await app.deletion.delete();
      await settle();
      expect(app.conversation.turns.at(first)!.deletedAt).toBeGreaterThan(0);
      expect(app.composer.editing).toBeNull();
      expect(app.undo.next).toBe('');
      expect(app.toasts.list.some((toast) => toast.action)).toBe(false);
    });
  });

  it('without changes leaves nothing to undo', () => {
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.turnActions.edit(app.conversation.turns.at(-7)!);
    app.composer.cancelEdit();
    expect(app.undo.next).toBe('');
  });

  it('is unchanged when its branch is read again', async () => {
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    await settle();
    backend.store.changed('draft', app.conversation.branchId, app.conversation.sessionId);
    await settle();
    await app.conversation.open(app.conversation.sessionId);
    expect(app.draft.text).toBe('other words');
    app.composer.cancelEdit();
    expect(app.draft.text).toBe('a thought');
  });
});

describe('text typed ahead', () => {
  it('is in the new session once it is open, and not sent elsewhere', async () => {
    const before = app.conversation.branchId;
    app.draft.text = 'a thought';
    const release = backend.hold('sessions.create');
    for (const row of app.sessions.list.filter((row) => row.turns === 0)) await app.sessionActions.archive(row.id, true);
    const opening = app.navigation.newSession();
    await settle();
    expect(app.draft.text).toBe('');
    app.draft.typed = 'first wor';
    await settle();
    await app.composer.submit();
    app.draft.typed = 'first words';
    release();
    await opening;
    await settle();
    expect(app.conversation.branchId).not.toBe(before);
    expect(app.draft.text).toBe('first words');
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(false);
    expect(backend.store.branch(app.conversation.branchId).draft.text).toBe('first words');
    expect(backend.store.branch(before).draft.text).toBe('a thought');
  });

  it('accepts no document before there is a session, and says so', async () => {
    const release = backend.hold('sessions.create');
    const opening = app.navigation.newSession();
    await settle();
    expect(await app.documents.attach(new File(['words'], 'notes.md'))).toBe(false);
    expect(app.documents.error?.message).toBe('notes.md was not attached: the session is still opening.');
    expect(backend.calls.some((call) => call.name === 'chat.attach')).toBe(false);
    release();
    await opening;
  });

  it.each(['sessions.create', 'sessions.open'])('returns to the earlier conversation when opening fails: %s', async (call) => {
    const before = app.conversation.branchId;
    app.draft.text = 'a thought';
    const release = backend.hold(call);
    const opened = call === 'sessions.open' ? app.navigation.openSession(other) : app.navigation.newSession();
    await settle();
    app.draft.typed = 'and more';
    backend.failNext(call, { message: 'No' });
    release();
    await opened;
    await settle();
    expect([app.conversation.branchId, app.draft.branchId, app.draft.text]).toEqual([before, before, 'a thought\n\nand more']);
  });

  it('stays in the field while a message is sent, which contains only the earlier text', async () => {
    const release = backend.hold('chat.send');
    app.draft.text = 'One thing';
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    app.draft.typed = 'One thing and another';
    release();
    await sent;
    await settle();
    expect(app.draft.text).toBe('and another');
    expect(app.conversation.newest?.user.at(-1)?.text).toBe('One thing');
    expect(backend.store.branch(app.conversation.branchId).draft.text).toBe('and another');
  });
});
