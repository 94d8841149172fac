import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { App } from './app.svelte';

// What was begun in one conversation, when one has gone to another before it was done.

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

/** Goes to the other session while a call is held, then lets the call answer. */
async function leaveDuring(name: string, act: () => Promise<unknown>): Promise<void> {
  const release = backend.hold(name);
  const done = act();
  await vi.advanceTimersByTimeAsync(10);
  await app.openSession(other);
  const shown = shownTurns();
  release();
  await done;
  await settle();
  expect(app.conversation.sessionId).toBe(other);
  expect(app.conversation.error).toBeNull();
  expect(shownTurns()).toEqual(shown);
  expect(app.toasts.list.filter((toast) => toast.tone === 'danger')).toEqual([]);
}

describe('one who went elsewhere stays there', () => {
  it('when a fork is made', () => leaveDuring('sessions.fork', () => app.turnActions.fork(app.conversation.turns.at(-10)!)));

  it('when a fork is made in the tree', () => leaveDuring('sessions.fork', () => app.branches.fork(app.conversation.turns.at(-10)!.id, 1, '')));

  it('when it was rolled back to a turn', () => leaveDuring('branches.rollbackTo', () => app.branches.rollback(app.conversation.branchId, app.conversation.turns.at(-10)!.id, 1)));

  it('when it was rolled back to a state', () => leaveDuring('sessions.rollback', () => app.commands.run('rollback')));

  it('when a branch is switched to', () => leaveDuring('sessions.switch', () => app.branches.open(app.conversation.branches.find((branch) => branch.id !== app.conversation.branchId)!.id)));

  it('when an answer is asked for anew', () => leaveDuring('chat.retry', () => app.turnActions.regenerate(app.conversation.newest!)));

  it('also while the other session is still on its way', async () => {
    const release = backend.hold('sessions.fork');
    const forked = app.turnActions.fork(app.conversation.turns.at(-10)!);
    const arrive = backend.hold('sessions.open');
    const opened = app.openSession(other);
    await vi.advanceTimersByTimeAsync(10);
    release();
    await vi.advanceTimersByTimeAsync(10);
    arrive();
    await Promise.all([forked, opened]);
    expect(app.conversation.sessionId).toBe(other);
  });

  it('and the way back of a fork leads to its own session', async () => {
    const { branchId, sessionId } = app.conversation;
    await app.turnActions.fork(app.conversation.turns.at(-10)!);
    const toast = app.toasts.list.at(-1)!;
    await app.openSession(other);
    app.toasts.act(toast.id);
    await settle();
    expect([app.conversation.sessionId, app.conversation.branchId]).toEqual([sessionId, branchId]);
  });
});

describe('an edit', () => {
  const words = (text: string) => app.conversation.turns.some((turn) => turn.user.some((block) => block.text === text));

  it('leaves what was written before it on its branch, after it was sent', async () => {
    const before = app.conversation.branchId;
    app.draft.text = 'a thought';
    await settle();
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    await settle(); // saved, as everything in the field is
    await app.composer.send();
    await settle();
    expect(words('other words')).toBe(true);
    expect(app.draft.isEmpty).toBe(true);
    await app.branches.open(before);
    expect(app.draft.text).toBe('a thought');
  });

  it('ends when a fork opens, and takes nothing along', async () => {
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

  it('that cannot be sent after one has left keeps its words where they were written', async () => {
    const { branchId, sessionId } = app.conversation;
    app.draft.text = 'a thought';
    app.turnActions.edit(app.conversation.turns.at(-5)!);
    app.draft.text = 'other words';
    const release = backend.hold('sessions.fork');
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    await app.openSession(other);
    app.draft.text = 'written elsewhere';
    backend.failNext('chat.send', { message: 'No' });
    release();
    await sent;
    await settle();
    expect(app.draft.text).toBe('written elsewhere');
    await app.openSession(sessionId, branchId);
    expect(app.draft.text).toBe('a thought\n\nother words');
  });
});
