import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { block } from '$lib/backend/fake/shapes';
import type { Frame } from '$lib/backend/types';
import { App } from './app.svelte';
import { RecoveryNews } from './recoveryNews.svelte';

const pace = { frameMs: 10, chars: 4, prepareMs: 30, syncMs: 40, commitMs: 50 };
let backend: FakeBackend;
let app: App;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  app.stop();
  backend.streams.stopAll();
  vi.useRealTimers();
  localStorage.clear();
});

async function started(options: Parameters<typeof fakeBackend>[0] = {}): Promise<void> {
  backend = fakeBackend({ data: 'empty', pace, ...options });
  app = new App(backend);
  await app.start();
}

/** Advances the timers until the condition holds; fails if it never does. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !condition(); i++) await vi.advanceTimersByTimeAsync(5);
  expect(condition()).toBe(true);
}

const shown = () => {
  const turn = app.conversation.newest;
  return turn ? (app.conversation.live(turn.id)?.blocks ?? turn.assistant).map((block) => block.text).join('') : '';
};

async function send(text: string): Promise<void> {
  app.draft.text = text;
  await app.composer.send();
}

describe('a conversation', () => {
  it('streams a message to its end and shows exactly the answer', async () => {
    await started();
    await send('Hello');
    await until(() => shown().length > 20);
    expect(app.conversation.newest?.state).toBe('responding');
    await until(() => app.conversation.newest?.state === 'head');
    expect(shown()).toBe(backend.store.lineage(app.conversation.branchId)[0]!.assistant[0]!.text);
    expect(app.conversation.header?.coveredSeq).toBe(1);
    expect(app.draft.isEmpty).toBe(true);
  });

  it('shows the end of an answer even if fetching it failed at first', async () => {
    await started();
    await send('Hello');
    await until(() => app.conversation.newest?.state === 'responding');
    const turn = vi.spyOn(backend.sessions, 'turn').mockRejectedValue(new Error('the database is busy'));
    await until(() => backend.store.lineage(app.conversation.branchId)[0]?.live === false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(app.conversation.newest?.state).toBe('responding');
    expect(turn.mock.calls.length).toBeLessThan(100);
    turn.mockRestore();
    await until(() => app.conversation.newest?.live === false);
  });

  it('continues in the middle of a stream after the page was reloaded', async () => {
    await started();
    await send('Hello');
    await until(() => shown().length > 40);
    const sessionId = app.conversation.sessionId;
    app.stop();
    app = new App(backend);
    await app.start();
    await app.navigation.openSession(sessionId);
    expect(shown().length).toBeGreaterThan(40);
    await until(() => app.conversation.newest?.state === 'pending');
    expect(shown()).toBe(backend.store.lineage(app.conversation.branchId)[0]!.assistant[0]!.text);
  });

  it('handles lost, duplicated and reordered frames', async () => {
    await started();
    const deliver = backend.store.frame.bind(backend.store);
    const delayed: Frame[] = [];
    let count = 0;
    backend.store.frame = (frame) => {
      count++;
      if (count % 5 === 0) return; // lost
      if (count % 3 === 0) return void delayed.push(frame);
      deliver(frame);
      for (const late of delayed.splice(0).reverse()) deliver(late);
      if (count % 4 === 0) deliver(frame); // duplicated
    };
    await send('Hello');
    await until(() => shown().length > 200);
    const answerText = backend.store.lineage(app.conversation.branchId)[0]!.assistant[0]!.text;
    expect(answerText.startsWith(shown())).toBe(true);
    await until(() => app.conversation.newest?.state === 'head');
    expect(shown()).toBe(backend.store.lineage(app.conversation.branchId)[0]!.assistant[0]!.text);
    expect(backend.calls.some((call) => call.name === 'chat.stream')).toBe(true);
  });

  it('ignores changes that its snapshot already contains', async () => {
    await started({ data: 'rich' });
    await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id);
    await vi.advanceTimersByTimeAsync(500);
    const before = backend.calls.filter((call) => call.name === 'sessions.turn').length;
    const turn = app.conversation.newest!;
    backend.store.rev -= 1; // the next change has the same revision as the snapshot
    backend.store.changed('turn', turn.id, app.conversation.sessionId);
    await vi.advanceTimersByTimeAsync(500);
    expect(backend.calls.filter((call) => call.name === 'sessions.turn').length).toBe(before);
    backend.store.changed('turn', turn.id, app.conversation.sessionId);
    await vi.advanceTimersByTimeAsync(500);
    expect(backend.calls.filter((call) => call.name === 'sessions.turn').length).toBe(before + 1);
  });

  it('opens at its end and loads older and newer turns by pages', async () => {
    await started({ data: 'rich', longest: 10_000 });
    await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Ten thousand turns')!.row.id);
    const { conversation } = app;
    expect([conversation.turns.length, conversation.turns.at(-1)!.seq, conversation.hasOlder]).toEqual([60, 10_000, true]);
    await conversation.loadOlder();
    expect([conversation.turns.length, conversation.turns[0]!.seq]).toEqual([120, 9_881]);
    const far = backend.store.lineage(conversation.branchId)[4_999]!;
    await conversation.jumpTo(far.id);
    expect([conversation.turns[0]!.seq, conversation.turns.at(-1)!.seq, conversation.hasNewer, conversation.intent.turnId]).toEqual([4_970, 5_030, true, far.id]);
    await conversation.loadNewer();
    expect(conversation.turns.map((turn) => turn.seq)).toEqual(Array.from({ length: 121 }, (_, i) => 4_970 + i));
    await conversation.jumpToLatest();
    expect([conversation.turns.at(-1)!.seq, conversation.hasNewer]).toEqual([10_000, false]);
  });

  it('shows the later of two openings, in whichever order they return', async () => {
    await started({ data: 'rich' });
    const [first, second] = [...backend.store.sessions.keys()];
    const release = backend.hold('sessions.open');
    const slow = app.conversation.open(first!);
    await vi.advanceTimersByTimeAsync(1);
    release();
    const latest = app.conversation.open(second!);
    await Promise.all([slow, latest]);
    expect(app.conversation.sessionId).toBe(second);
  });

  const queued = () => app.conversation.queue.messages.map((message) => message.text);

  it('queues messages while an answer arrives, in any order, and sends them one after another', async () => {
    await started();
    await send('First');
    await until(() => shown() !== '');
    for (const text of ['Second', 'Third', 'Fourth']) await send(text);
    expect([queued(), app.draft.text]).toEqual([['Second', 'Third', 'Fourth'], '']);
    const { queue } = app.conversation;
    await queue.move(queue.messages[2]!.id, 0);
    expect(queued()).toEqual(['Fourth', 'Second', 'Third']);
    app.draft.typed = 'and more';
    await queue.edit(queue.messages[1]!.id, app.draft);
    expect([queued(), app.draft.text]).toEqual([['Fourth', 'Third'], 'Second\n\nand more']);
    await queue.remove(queue.messages[0]!.id, app.undo, app.toasts);
    expect(queued()).toEqual(['Third']);
    await app.undo.undo();
    expect(queued()).toEqual(['Fourth', 'Third']);
    await until(() => app.conversation.lastSeq === 3);
    expect([app.conversation.turns.map((turn) => turn.user[0]?.text), queued(), app.draft.text]).toEqual([['First', 'Fourth', 'Third'], [], 'Second\n\nand more']);
  });

  it('holds the queue when the answer is stopped, and sends it on request', async () => {
    await started();
    await send('First');
    await until(() => shown() !== '');
    await send('Second');
    await app.turnActions.stop(app.conversation.newest!);
    await until(() => app.conversation.queue.holdReason === 'stop');
    const { sessionId } = app.conversation;
    await app.navigation.newSession();
    expect(queued()).toEqual([]);
    await app.conversation.open(sessionId);
    expect([queued(), app.conversation.lastSeq]).toEqual([['Second'], 1]);
    await app.conversation.queue.send();
    await until(() => app.conversation.newest?.user[0]?.text === 'Second');
    expect(queued()).toEqual([]);
  });

  it('keeps the text and shows why when a message cannot be sent', async () => {
    await started();
    backend.failNext('chat.send', { message: 'The disk is full', hint: 'Free some space.' });
    await send('Precious words');
    expect([app.composer.error?.message, app.composer.error?.hint, app.draft.text]).toEqual(['The disk is full', 'Free some space.', 'Precious words']);
  });

  it('sends an edit on a new branch before the turn and keeps the old one', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const before = app.conversation.branchId;
    app.draft.text = 'half a thought';
    app.turnActions.edit(app.conversation.newest!);
    expect(app.draft.text).toBe('First');
    await send('First, better');
    expect(app.conversation.branchId).not.toBe(before);
    expect(app.conversation.turns.map((turn) => turn.user[0]!.text)).toEqual(['First, better']);
    expect(backend.store.lineage(before).map((turn) => turn.user[0]!.text)).toEqual(['First']);
    expect(app.composer.editing).toBeNull();
    expect(app.conversation.header?.branchLabel).toBe('from #1: First, better');
  });

  it('makes the branch of an edit the active one when it is sent, so that no other message comes before it', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const { branchId, sessionId } = app.conversation;
    const active = () => backend.store.session(sessionId).row.activeBranch;
    app.turnActions.edit(app.conversation.newest!);
    const release = backend.hold('chat.send');
    const sending = send('First, better');
    await until(() => app.conversation.branchId !== branchId);
    expect(active()).toBe(branchId);
    release();
    await sending;
    expect(active()).toBe(app.conversation.branchId);
  });

  it('shows the branch of an edit that was refused the next time', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const { branchId, sessionId } = app.conversation;
    app.turnActions.edit(app.conversation.newest!);
    backend.failNext('chat.send', { message: 'The disk is full' });
    await send('First, better');
    expect(app.conversation.branchId).not.toBe(branchId);
    expect(backend.store.session(sessionId).row.activeBranch).toBe(app.conversation.branchId);
    expect(app.draft.text).toBe('First, better');
  });

  it('regenerates on a fork before the turn', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const before = app.conversation.branchId;
    await app.turnActions.regenerate(app.conversation.newest!);
    expect(app.conversation.branchId).not.toBe(before);
    expect(app.conversation.turns.map((turn) => [turn.user[0]!.text, turn.retryOf !== ''])).toEqual([['First', true]]);
  });

  it('restores the draft when an edit is cancelled', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    app.draft.text = 'half a thought';
    app.turnActions.edit(app.conversation.newest!);
    app.composer.cancelEdit();
    expect(app.draft.text).toBe('half a thought');
  });

  it('asks what to do with an incomplete answer before another message follows', async () => {
    await started();
    backend.store.addTurn(app.conversation.branchId, { state: 'incomplete', phase: 'Responding', outcome: 'incomplete', assistant: [block('text', 'half')] });
    await app.navigation.openSession(app.conversation.sessionId);
    expect(app.composer.blocked).toBe(true);
    app.draft.text = 'Next';
    await app.composer.send();
    expect(app.composer.error?.code).toBe('incomplete');
    await app.composer.send('keep');
    expect(app.conversation.turns.map((turn) => turn.outcome)[0]).toBe('kept');
    expect(app.conversation.lastSeq).toBe(2);
  });

  it('reuses an empty conversation', async () => {
    await started();
    await app.navigation.newSession();
    await app.navigation.newSession();
    expect(backend.store.sessions.size).toBe(1);
  });

  it('hides the recovery notice when everything is resolved', async () => {
    await started({ data: 'rich' });
    const { items } = app.jobs.recovery!;
    const settle = (turnId: string) => {
      backend.store.turn(turnId).state = 'head';
      backend.store.changed('turn', turnId, '');
    };
    settle(items[0]!.turnId);
    await until(() => app.recovery.text === items[1]!.message);
    settle(items[1]!.turnId);
    await until(() => app.recovery.text === '');
  });

  it('does not repeat above the conversation what the card of its newest turn says', async () => {
    await started({ data: 'rich' });
    localStorage.clear();
    const [item] = app.jobs.recovery!.items;
    const news = new RecoveryNews({ recovery: { ...app.jobs.recovery!, items: [{ ...item!, kind: 'failed' }] } }, localStorage);
    news.show(item!.turnId);
    expect(news.text).toBe('');
    app.recovery.dismiss();
  });

  it('shows once at the start what recovery found', async () => {
    await started({ data: 'rich' });
    expect(app.recovery.text).toBe('2 problems were found and handled.');
    app.stop();
    app = new App(backend); // the page is reloaded
    await app.start();
    expect(app.recovery.text).toBe('');
  });
});

describe('a slow program', () => {
  const saves = () => backend.calls.filter((call) => call.name === 'sessions.saveDraft').length;
  const sends = () => backend.calls.filter((call) => call.name === 'chat.send').length;

  it('saves no draft while the message is being queued', async () => {
    await started();
    await send('First');
    await until(() => shown() !== '');
    const branch = backend.store.branch(app.conversation.branchId);
    const answer = backend.hold('chat.send');
    app.draft.typed = 'Second';
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(1_000);
    await app.draft.flush(); // the window is hidden
    expect([sends(), saves()]).toEqual([2, 0]);
    answer();
    await sent;
    await vi.advanceTimersByTimeAsync(400);
    expect(saves()).toBe(0);
    await until(() => app.conversation.lastSeq === 2);
    expect([branch.draft.text, app.draft.text]).toEqual(['', '']);
  });

  it('sends only after a running save', async () => {
    await started();
    const save = backend.hold('sessions.saveDraft');
    app.draft.typed = 'Hello';
    await vi.advanceTimersByTimeAsync(400);
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([saves(), sends()]).toEqual([1, 0]);
    save();
    await sent;
    expect([saves(), sends(), backend.store.branch(app.conversation.branchId).draft.text]).toEqual([1, 1, '']);
  });

  it('saves in the order of typing', async () => {
    await started();
    const save = backend.hold('sessions.saveDraft');
    app.draft.typed = 'One';
    await vi.advanceTimersByTimeAsync(400);
    app.draft.typed = 'One and two';
    await vi.advanceTimersByTimeAsync(400);
    expect(saves()).toBe(1);
    save();
    await vi.advanceTimersByTimeAsync(0);
    expect([saves(), backend.store.branch(app.conversation.branchId).draft.text]).toEqual([2, 'One and two']);
  });

  it.each([true, false])('keeps text that is typed while another branch is opened, which succeeds: %s', async (succeeds) => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const { branchId: before } = app.conversation;
    const other = await backend.sessions.fork(app.conversation.newest!.id, false, '');
    app.draft.typed = 'for the first branch';
    const answer = backend.hold('sessions.switch');
    const switched = app.conversation.switchBranch(other.id);
    await vi.advanceTimersByTimeAsync(400);
    app.draft.typed = 'for the other one';
    if (!succeeds) backend.failNext('sessions.switch', { message: 'The database is busy' });
    answer();
    await (succeeds ? switched : expect(switched).rejects.toThrow('The database is busy'));
    await vi.advanceTimersByTimeAsync(400);
    const draftOf = (branch: string) => backend.store.branch(branch).draft.text;
    const want = succeeds ? ['for the other one', 'for the first branch', 'for the other one'] : ['for the first branch\n\nfor the other one', 'for the first branch\n\nfor the other one', ''];
    expect([app.draft.text, draftOf(before), draftOf(other.id)]).toEqual(want);
  });

  it('reads the draft of a branch that could not be left only when it is saved', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const other = await backend.sessions.fork(app.conversation.newest!.id, false, '');
    const saved = backend.hold('sessions.saveDraft');
    app.draft.typed = 'being saved';
    await vi.advanceTimersByTimeAsync(400);
    backend.failNext('sessions.switch', { message: 'The database is busy' });
    const switched = expect(app.conversation.switchBranch(other.id)).rejects.toThrow('The database is busy');
    await vi.advanceTimersByTimeAsync(400);
    saved();
    await switched;
    expect(app.draft.text).toBe('being saved');
  });

  it('opens a fork that was requested while another branch is opened, in whichever order they return', async () => {
    for (const first of ['sessions.switch', 'sessions.fork'] as const) {
      await started();
      await send('First');
      await until(() => app.conversation.newest?.state === 'head');
      const turn = app.conversation.newest!;
      const other = await backend.sessions.fork(turn.id, false, 'other');
      const answers = { 'sessions.switch': backend.hold('sessions.switch'), 'sessions.fork': backend.hold('sessions.fork') };
      const switched = app.conversation.switchBranch(other.id);
      const forked = app.turnActions.fork(turn, 'fork');
      await vi.advanceTimersByTimeAsync(50);
      app.draft.typed = 'written meanwhile';
      answers[first]();
      await (first === 'sessions.switch' ? switched : forked);
      answers[first === 'sessions.switch' ? 'sessions.fork' : 'sessions.switch']();
      await Promise.all([switched, forked]);
      const branch = app.conversation.branches.find(({ id }) => id === app.conversation.branchId);
      expect(branch?.label).toBe('fork');
      app.stop();
    }
  });

  it('keeps text that is typed while a queued message is taken back', async () => {
    await started();
    await send('First');
    await until(() => shown() !== '');
    await send('Second');
    const { queue } = app.conversation;
    const answer = backend.hold('chat.editQueued');
    const edited = queue.edit(queue.messages[0]!.id, app.draft);
    await vi.advanceTimersByTimeAsync(400);
    app.draft.typed = 'typed since';
    answer();
    await edited;
    await vi.advanceTimersByTimeAsync(400);
    expect([app.draft.text, backend.store.branch(app.conversation.branchId).draft.text]).toEqual(['Second\n\ntyped since', 'Second\n\ntyped since']);
  });

  it.each([
    ['sent', false, 'chat.send', ''], ['not sent', true, 'chat.send', 'Hello'],
  ] as const)('clears no other branch, and loses no text, when the branch is left before the message is %s', async (_, fails, name, restoredText) => {
    await started();
    const { branchId } = app.conversation;
    const other = await backend.sessions.create('Other');
    const answer = backend.hold(name);
    if (fails) backend.failNext(name, { message: 'The disk is full' });
    app.draft.typed = 'Hello';
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    app.draft.typed = 'Hello and more';
    await app.navigation.openSession(other.id);
    app.draft.typed = 'Something else';
    answer();
    await sent;
    await vi.advanceTimersByTimeAsync(400);
    expect(app.draft.text).toBe('Something else');
    expect(backend.store.branch(branchId).draft.text).toBe(`${restoredText} and more`.trim());
  });

  it('keeps an edit that was started before the message was sent', async () => {
    await started();
    await send('First');
    await until(() => app.conversation.newest?.state === 'head');
    const answer = backend.hold('chat.send');
    app.draft.typed = 'Second';
    const sent = app.composer.send();
    await vi.advanceTimersByTimeAsync(10);
    app.draft.typed = 'Second and more';
    const turn = app.conversation.newest!;
    app.turnActions.edit(turn);
    app.draft.typed = 'First, in other words';
    answer();
    await sent;
    expect([app.composer.editing?.turnId, app.draft.text, app.draft.before.text]).toEqual([turn.id, 'First, in other words', 'and more']);
  });

  it('does not overwrite typed text while a changed draft is read', async () => {
    await started();
    const { branchId, sessionId } = app.conversation;
    const read = backend.hold('sessions.draft');
    backend.store.changed('draft', branchId, sessionId);
    await vi.advanceTimersByTimeAsync(10);
    app.draft.typed = 'Typed';
    await vi.advanceTimersByTimeAsync(400); // saved, so that nothing is unsaved when the old text arrives
    backend.store.branch(branchId).draft = { text: 'Older', images: [], files: [], memories: [] };
    read();
    await vi.advanceTimersByTimeAsync(10);
    expect(app.draft.text).toBe('Typed');
  });

  it('notices changes of a session while its snapshot was being read', async () => {
    await started();
    const first = app.conversation.sessionId;
    await send('First');
    await until(() => shown() !== '');
    const snapshot = await backend.sessions.open(first, '');
    const other = await backend.sessions.create('Other');
    await app.navigation.openSession(other.id);
    let arrive = () => {};
    const late = new Promise<typeof snapshot>((resolve) => (arrive = () => resolve(snapshot)));
    backend.sessions.open = () => late;
    const opening = app.navigation.openSession(first);
    await until(() => backend.store.lineage(snapshot.header.branchId)[0]!.state === 'head');
    arrive();
    await opening;
    expect(app.conversation.newest?.state).toBe('responding');
    await until(() => app.conversation.newest?.state === 'head');
    expect(shown()).toBe(backend.store.lineage(app.conversation.branchId)[0]!.assistant[0]!.text);
  });
});

describe('a draft', () => {
  it('is saved a moment after typing, and at once when the branch is left', async () => {
    await started();
    const branch = backend.store.branch(app.conversation.branchId);
    app.draft.typed = 'H';
    app.draft.typed = 'Hello';
    expect(branch.draft.text).toBe('');
    await vi.advanceTimersByTimeAsync(400);
    expect(branch.draft.text).toBe('Hello');
    expect(backend.calls.filter((call) => call.name === 'sessions.saveDraft').length).toBe(1);
    app.draft.typed = 'Hello again';
    const other = await backend.sessions.create('Other');
    await app.navigation.openSession(other.id);
    expect([branch.draft.text, app.draft.text]).toEqual(['Hello again', '']);
    await app.navigation.openSession(branch.sessionId);
    expect(app.draft.text).toBe('Hello again');
  });

  it('is saved again after a failure', async () => {
    await started();
    backend.failNext('sessions.saveDraft', { message: 'The disk is full' });
    app.draft.typed = 'Hello';
    await vi.advanceTimersByTimeAsync(400);
    expect(app.draft.unsavedWhy?.message).toBe('The disk is full');
    await vi.advanceTimersByTimeAsync(3_000); // without any further typing
    expect(backend.store.branch(app.conversation.branchId).draft.text).toBe('Hello');
    expect(app.draft.unsavedWhy).toBeNull();
  });

  it('keeps the unsaved text of a branch that was left', async () => {
    await started();
    const { branchId, sessionId } = app.conversation;
    const other = await backend.sessions.create('Other');
    app.draft.typed = 'Hello';
    backend.failNext('sessions.saveDraft', { message: 'The disk is full' });
    const opens = backend.hold('sessions.open');
    const opened = app.navigation.openSession(other.id);
    await vi.advanceTimersByTimeAsync(50);
    expect([app.draft.text, app.draft.unsavedWhy?.message]).toEqual(['', 'The disk is full']);
    backend.failNext('sessions.saveDraft', { message: 'The disk is full' });
    opens();
    await opened;
    backend.failNext('sessions.saveDraft', { message: 'The disk is full' });
    await vi.advanceTimersByTimeAsync(3_000);
    await app.navigation.openSession(sessionId);
    expect(app.draft.text).toBe('Hello');
    await vi.advanceTimersByTimeAsync(3_000);
    expect([backend.store.branch(branchId).draft.text, app.draft.unsavedWhy]).toEqual(['Hello', null]);
  });

  it('is not replaced by an older one when the branch is read again', async () => {
    await started();
    app.draft.typed = 'Hello';
    backend.failNext('sessions.saveDraft', { message: 'The disk is full' });
    await app.navigation.openSession(app.conversation.sessionId);
    expect(app.draft.text).toBe('Hello');
  });

  it('keeps a megabyte beside the field, and sends it completely', async () => {
    await started();
    const book = 'word '.repeat(210_000);
    app.draft.typed = 'Read this:';
    app.draft.addLongText(book);
    expect([app.draft.typed, app.draft.text.length]).toEqual(['Read this:', book.length + 12]);
    await app.composer.send();
    expect(app.conversation.newest?.user[0]?.text).toBe(`Read this:\n\n${book}`);
  });

  it('is counted in tokens, and warns when it is too long', async () => {
    await started();
    app.draft.typed = 'x'.repeat(400);
    app.composer.changed();
    await vi.advanceTimersByTimeAsync(400);
    expect([app.composer.tokens, app.composer.overBudget]).toEqual([100, false]);
    backend.store.tokenFactor = 1.3; // learned: the model counts more
    backend.store.changed('settings', '', '');
    await until(() => app.composer.tokens === 130);
    app.draft.addLongText('x'.repeat(400_000));
    app.composer.changed();
    await vi.advanceTimersByTimeAsync(400);
    expect(app.composer.overBudget).toBe(true);
  });
});
