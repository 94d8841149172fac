import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { App } from './app.svelte';
import { maxLoaded } from './lineage';

let backend: FakeBackend;
let app: App;

beforeEach(async () => {
  vi.useFakeTimers();
  backend = fakeBackend({ data: 'rich', longest: 1_000 });
  app = new App(backend);
  await app.start();
  await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Ten thousand turns')!.row.id);
});

afterEach(() => {
  app.stop();
  backend.streams.stopAll();
  vi.useRealTimers();
  localStorage.clear();
});

const settled = () => vi.advanceTimersByTimeAsync(300);
const seqAt = () => app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq;

describe('find in the conversation', () => {
  it('moves between matches, wrapping around, and loads distant turns', async () => {
    app.find.show();
    app.find.text = 'Message 77';
    await settled();
    expect(app.find.result?.hits.map((hit) => hit.seq)).toEqual([77, ...Array.from({ length: 10 }, (_, i) => 770 + i)]);
    const total = app.find.result!.total;
    // One match in the user's message and one in an answer that repeats it.
    expect(app.find.position).toBe(1);
    expect(seqAt()).toBe(77);
    await app.find.step(-1);
    expect([app.find.position, seqAt()]).toEqual([total, 779]);
    expect(app.conversation.intent).toMatchObject({ quiet: true, marks: { terms: ['Message 77'], everywhere: true } });
    await app.find.step(1);
    expect([app.find.position, seqAt()]).toEqual([1, 77]);
  });

  it('matches the case on request, and reports no results', async () => {
    app.find.show('message 77');
    await settled();
    const allMatches = app.find.result!.total;
    app.find.matchCase = true;
    await settled();
    expect(app.find.result!.total).toBeLessThan(allMatches);
    app.find.text = 'nothing of the kind';
    await settled();
    expect([app.find.result!.total, app.find.position]).toEqual([0, 0]);
    await app.find.step(1);
    expect(app.find.position).toBe(0);
  });

  it('shows the results of the later of two queries, in whichever order they return', async () => {
    const release = backend.hold('search.find');
    app.find.show('Message 1');
    await settled();
    app.find.text = '';
    release();
    await settled();
    expect(app.find.result).toBeNull();
  });

  it('closes at the match, and gives the conversation the focus', async () => {
    const [before] = app.conversation.turns;
    let focused = 0;
    app.find.follow(() => before!.seq, () => focused++);
    app.find.show('Message 77');
    await settled();
    const { intent } = app.conversation;
    expect(intent).toMatchObject({ to: 'turn', quiet: true });
    expect(app.find.close()).toBe(true);
    await settled();
    expect(app.conversation.intent).toBe(intent);
    expect(focused).toBe(1);
    expect([app.find.marks, app.find.close()]).toEqual([null, false]);
  });

  it('shows an error, and runs the next query anyway', async () => {
    backend.failNext('search.find', { message: 'The history cannot be read' });
    app.find.show('Message 1');
    await settled();
    expect(app.find.error?.message).toBe('The history cannot be read');
    app.find.text = 'Message 2';
    await settled();
    expect([app.find.error, app.find.position]).toEqual([null, 1]);
  });
});

describe('going to any turn', () => {
  it('by number, percentage and day', async () => {
    await app.goTo.go('#500');
    expect(seqAt()).toBe(500);
    await app.goTo.go('100 %');
    expect(seqAt()).toBe(1_000);
    const target = backend.store.lineage(app.conversation.branchId)[300]!;
    const day = new Date(target.createdAt);
    const first = backend.store.lineage(app.conversation.branchId).find((turn) => turn.createdAt >= new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime())!;
    await app.goTo.go(`${day.getFullYear()}-${day.getMonth() + 1}-${day.getDate()}`);
    expect(seqAt()).toBe(first.seq);
    expect(await app.goTo.go('nowhere')).toBe(false);
    await app.conversation.jumpToFirst();
    expect(seqAt()).toBe(1);
  });

  it('marks the text that led there', async () => {
    const turn = backend.store.lineage(app.conversation.branchId)[3]!;
    await app.navigation.visitTurn(turn.id, ['goes on', '  ']);
    expect(app.conversation.intent.marks).toEqual({ terms: ['goes on'], matchCase: false, turnId: turn.id, nth: 0, everywhere: false });
  });

  it('of another session, and of another branch, as links in answers lead to them', async () => {
    const isOpen = app.conversation.sessionId;
    const elsewhere = [...backend.store.branches.values()].find((branch) => branch.sessionId !== isOpen && branch.turns.length > 0)!.turns[0]!;
    await app.navigation.visitTurn(elsewhere.id);
    expect(app.conversation.sessionId).toBe(backend.store.sessionOf(elsewhere).row.id);
    expect(app.conversation.turns.map((turn) => turn.id)).toContain(elsewhere.id);
    expect(app.conversation.intent).toMatchObject({ to: 'turn', turnId: elsewhere.id });
    const fork = await backend.sessions.fork(elsewhere.id, true, 'without it');
    await app.navigation.openSession(app.conversation.sessionId, fork.id);
    await app.navigation.visitTurn(elsewhere.id);
    expect([app.conversation.branchId, app.conversation.intent.turnId]).toEqual([elsewhere.branchId, elsewhere.id]);
  });

  it('the later of two jumps wins', async () => {
    const lineage = backend.store.lineage(app.conversation.branchId);
    const release = backend.hold('sessions.turn');
    const slow = app.conversation.jumpTo(lineage[5]!.id);
    await app.conversation.jumpToSeq(700);
    release();
    await slow;
    expect(seqAt()).toBe(700);
  });

  it('keeps only a few pages loaded, in either direction', async () => {
    const { conversation } = app;
    while (conversation.hasOlder) {
      await conversation.loadOlder();
      expect(conversation.turns.length).toBeLessThanOrEqual(maxLoaded);
    }
    expect([conversation.turns[0]!.seq, conversation.turns.at(-1)!.seq]).toEqual([1, maxLoaded]);
    while (conversation.hasNewer) {
      await conversation.loadNewer();
      expect(conversation.turns.length).toBeLessThanOrEqual(maxLoaded);
    }
    expect(conversation.turns.map((turn) => turn.seq)).toEqual(Array.from({ length: maxLoaded }, (_, i) => 1_000 - maxLoaded + 1 + i));
  });
});
