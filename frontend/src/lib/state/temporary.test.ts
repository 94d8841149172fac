import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { answers } from '$lib/backend/fake/answers';
import type { Frame } from '$lib/backend/types';
import { App } from './app.svelte';

let backend: FakeBackend;
let app: App;

beforeEach(async () => {
  vi.useFakeTimers();
  backend = fakeBackend({ data: 'rich', longest: 3, pace: { frameMs: 10, chars: 4, prepareMs: 30 } });
  app = new App(backend);
  await app.start();
  await app.navigation.newTemporary();
  backend.calls.length = 0;
});

afterEach(() => {
  app.stop();
  backend.streams.stopAll();
  vi.useRealTimers();
  localStorage.clear();
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !condition(); i++) await vi.advanceTimersByTimeAsync(5);
  expect(condition()).toBe(true);
}

const called = (name: string) => backend.calls.filter((call) => call.name === name);

const shown = () => {
  const turn = app.temporary.newest;
  return turn ? (app.temporary.live(turn.id)?.blocks ?? turn.assistant).map((block) => block.text).join('') : '';
};

async function send(text: string): Promise<void> {
  app.temporary.draft.text = text;
  await app.temporary.send();
}

/** Tracks whether an action that may ask whether to leave has ended. */
function track(leaving: Promise<unknown>): { done: boolean } {
  const progress = { done: false };
  void leaving.then(() => (progress.done = true));
  return progress;
}

describe('a temporary chat', () => {
  it('uses the model of the session it replaces, and answers in memory', async () => {
    expect(app.temporary.model).toBe(app.conversation.model);
    await send('Hello');
    await until(() => shown().length > 40);
    expect([app.temporary.newest?.state, app.temporary.running, app.temporary.draft.isEmpty]).toEqual(['responding', true, true]);
    await until(() => !app.temporary.running);
    expect([shown(), app.temporary.newest?.state]).toEqual([answers[0], 'not kept']);
  });

  it('saves nothing: no draft, no turn, no row in the list', async () => {
    const session = app.conversation.sessionId;
    const turns = app.conversation.turns.length;
    app.temporary.draft.text = 'A secret';
    await vi.advanceTimersByTimeAsync(2_000);
    await app.temporary.send();
    await until(() => !app.temporary.running);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(called('chat.temporarySend').map((call) => (call.args[1] as { text: string }).text)).toEqual(['A secret']);
    expect(backend.calls.filter((call) => /saveDraft|chat\.send|create|setModel/.test(call.name))).toEqual([]);
    expect([app.conversation.sessionId, app.conversation.turns.length]).toEqual([session, turns]);
    expect(app.sessions.list.some((row) => row.id.startsWith('temporary:'))).toBe(false);
  });

  it('never calls a byte durable', async () => {
    await send('Hello');
    await until(() => shown().length > 40);
    const live = app.temporary.live(app.temporary.newest!.id)!;
    expect([live.displayed > 40, live.durable, app.temporary.written]).toEqual([true, 0, false]);
  });

  it('handles lost, duplicated and reordered frames, without a journal', async () => {
    const deliver = backend.store.frame.bind(backend.store);
    let count = 0;
    let late: Frame | undefined;
    backend.store.frame = (frame) => {
      count++;
      if (count % 5 === 0) return; // lost
      if (count % 3 === 0) return void (late = frame);
      deliver(frame);
      if (late) deliver(late);
      deliver(frame); // duplicated
    };
    await send('Hello');
    await until(() => shown().length > 200);
    expect(answers[0]!.startsWith(shown())).toBe(true);
    expect(called('chat.stream')).toEqual([]);
    await until(() => !app.temporary.running);
    expect(shown()).toBe(answers[0]);
  });

  it('sends one message at a time, and the next one to the model chosen meanwhile', async () => {
    await send('One');
    await send('Two');
    expect(app.temporary.draft.text).toBe('Two');
    app.temporary.model = 'recall';
    await until(() => !app.temporary.running);
    await app.temporary.send();
    expect(called('chat.temporarySend').map((call) => (call.args[1] as { text: string; model: string }))).toMatchObject([{ text: 'One' }, { text: 'Two', model: 'recall' }]);
    expect(app.temporary.turns.map((turn) => turn.seq)).toEqual([1, 2]);
  });

  it('keeps the part that arrived when it is stopped', async () => {
    await send('Hello');
    await until(() => shown().length > 20);
    await app.temporary.stop();
    await until(() => !app.temporary.running);
    expect(shown().length).toBeGreaterThan(20);
    expect([answers[0]!.startsWith(shown()), app.temporary.live(app.temporary.newest!.id)]).toEqual([true, undefined]);
  });

  it('sends a message without an answer again', async () => {
    await send('Hello');
    await app.temporary.stop();
    await until(() => app.temporary.newest?.state === 'failed');
    await app.temporary.again(app.temporary.newest!);
    await until(() => app.temporary.newest?.state === 'not kept');
    expect(app.temporary.turns.map((turn) => [turn.user[0]!.text, turn.state])).toEqual([['Hello', 'failed'], ['Hello', 'not kept']]);
  });

  it('keeps the text when it cannot be sent', async () => {
    backend.failNext('chat.temporarySend', { message: 'The provider has no key', hint: 'Add one.' });
    await send('Hello');
    expect([app.temporary.error?.message, app.temporary.draft.text, app.temporary.turns.length]).toEqual(['The provider has no key', 'Hello', 0]);
  });
});

describe('a temporary chat that starts slowly', () => {
  it('accepts text and sends it, and the session gets none of it', async () => {
    await app.navigation.leaveTemporary();
    const begin = backend.hold('chat.temporaryStart');
    const started = app.navigation.newTemporary();
    await vi.advanceTimersByTimeAsync(0);
    expect(app.temporary.active).toBe(true);
    app.temporary.draft.text = 'A secret';
    const sent = app.temporary.send();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(called('chat.temporarySend')).toEqual([]);
    begin();
    await Promise.all([started, sent]);
    expect(called('chat.temporarySend').map((call) => call.args[0])).toEqual([app.temporary.id]);
    expect([app.temporary.turns.length, app.temporary.draft.isEmpty]).toEqual([1, true]);
    expect(backend.calls.filter((call) => /saveDraft|chat\.send$/.test(call.name))).toEqual([]);
  });

  it('returns to the session if it cannot start, and keeps the text for the next one', async () => {
    await app.navigation.leaveTemporary();
    const begin = backend.hold('chat.temporaryStart');
    backend.failNext('chat.temporaryStart', { message: 'The program is closing' });
    const started = app.navigation.newTemporary();
    await vi.advanceTimersByTimeAsync(0);
    app.temporary.draft.text = 'A secret';
    const sent = app.temporary.send();
    begin();
    await Promise.all([started, sent]);
    expect([app.temporary.active, app.temporary.sending, app.draft.isEmpty]).toEqual([false, false, true]);
    expect(app.toasts.list.map((toast) => toast.text)).toContain('The program is closing');
    await app.navigation.newTemporary();
    expect(app.temporary.draft.text).toBe('A secret');
  });

  it('is discarded if it is left before it started', async () => {
    await app.navigation.leaveTemporary();
    backend.calls.length = 0;
    const begin = backend.hold('chat.temporaryStart');
    const started = app.navigation.newTemporary();
    await vi.advanceTimersByTimeAsync(0);
    const leaving = app.navigation.newSession();
    begin();
    await Promise.all([started, leaving]);
    expect([app.temporary.active, called('chat.temporaryEnd').length]).toEqual([false, 1]);
  });
});

describe('leaving a temporary chat', () => {
  it('asks nothing if it is empty', async () => {
    const id = app.temporary.id;
    await app.navigation.newSession();
    expect([app.temporary.active, app.temporary.asking]).toEqual([false, false]);
    expect(called('chat.temporaryEnd').map((call) => call.args)).toEqual([[id]]);
  });

  it('asks once if it has turns, stays if the user cancels, and discards it otherwise', async () => {
    await send('Hello');
    const other = app.sessions.list.find((row) => row.id !== app.conversation.sessionId)!.id;
    const id = app.temporary.id;
    let leaving = app.navigation.openSession(other);
    expect(app.temporary.asking).toBe(true);
    app.temporary.answer(false);
    await leaving;
    expect([app.temporary.id, app.temporary.turns.length, app.conversation.sessionId === other]).toEqual([id, 1, false]);
    leaving = app.navigation.openSession(other);
    app.temporary.answer(true);
    await leaving;
    expect([app.temporary.active, app.temporary.turns.length, app.conversation.sessionId]).toEqual([false, 0, other]);
    expect(called('chat.temporaryEnd').map((call) => call.args)).toEqual([[id]]);
    await expect(backend.chat.temporaryTurns(id)).rejects.toThrow('has ended');
  });

  it('asks about unsent text, and before another temporary chat', async () => {
    app.temporary.draft.text = 'Half a thought';
    const id = app.temporary.id;
    const leaving = app.navigation.newTemporary();
    expect(app.temporary.asking).toBe(true);
    app.temporary.answer(true);
    await leaving;
    expect([app.temporary.active, app.temporary.id === id, app.temporary.draft.isEmpty]).toEqual([true, false, true]);
  });

  it('lets a second question replace the first', async () => {
    await send('Hello');
    const { sessionId } = app.conversation;
    const first = track(app.navigation.openSession('gone'));
    const second = app.navigation.openSession(sessionId);
    await vi.advanceTimersByTimeAsync(0);
    expect([first.done, app.temporary.asking]).toEqual([true, true]);
    app.temporary.answer(true);
    await second;
    expect([app.temporary.active, app.conversation.sessionId, app.conversation.error]).toEqual([false, sessionId, null]);
  });

  it('reports nothing if the program has already discarded it', async () => {
    backend.failNext('chat.temporaryEnd', { code: 'not_found' });
    await app.navigation.leaveTemporary();
    expect([app.temporary.active, app.toasts.list.filter((toast) => toast.tone === 'danger')]).toEqual([false, []]);
  });

  it('ends it with the window', async () => {
    await send('Hello');
    const { id } = app.temporary;
    app.stop();
    await vi.advanceTimersByTimeAsync(0);
    expect(called('chat.temporaryEnd').map((call) => call.args)).toEqual([[id]]);
  });
});
