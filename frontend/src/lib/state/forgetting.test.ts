import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeBackend, type FakeBackend } from '$lib/backend/fake';
import { block } from '$lib/backend/fake/shapes';
import { App } from './app.svelte';

// Loaded data that is no longer valid.

let backend: FakeBackend;
let app: App;
let other: string;
const settle = () => vi.advanceTimersByTimeAsync(2_000);

beforeEach(async () => {
  vi.useFakeTimers();
  backend = fakeBackend({ data: 'rich' });
  app = new App(backend);
  await app.start();
  other = app.sessions.list.find((row) => row.id !== app.conversation.sessionId && row.turns > 0)!.id;
  await settle();
});

afterEach(() => {
  app.stop();
  backend.streams.stopAll();
  vi.useRealTimers();
  localStorage.clear();
});

/** Gives a turn of the open session a text that occurs in no other session, and returns the id of the turn. */
function writeUniqueText(): string {
  const turn = backend.store.lineage(app.conversation.branchId).at(-2)!;
  turn.user = [block('text', 'the word is xylophone')];
  return turn.id;
}

async function deletePermanently(turnId: string): Promise<void> {
  app.deletion.show({ kind: 'turn', id: turnId, archivable: false });
  await settle();
  app.deletion.typed = app.deletion.preview!.confirm;
  await app.deletion.delete();
}

describe('a search in this session', () => {
  const sessionsFound = () => app.search.groups.map((group) => group.sessionId);

  it('runs again in another session', async () => {
    const { sessionId } = app.conversation;
    writeUniqueText();
    app.search.show('xylophone');
    app.search.narrow({ here: true });
    await settle();
    expect(sessionsFound()).toEqual([sessionId]);
    await app.navigation.openSession(other);
    expect(sessionsFound()).toEqual([]);
    await settle();
    expect(app.search.result).not.toBeNull();
    expect(sessionsFound()).toEqual([]);
    await app.navigation.openSession(sessionId);
    await settle();
    expect(sessionsFound()).toEqual([sessionId]);
  });

  it('runs again when visible, not behind a closed panel', async () => {
    writeUniqueText();
    app.search.show('xylophone');
    app.search.narrow({ here: true });
    await settle();
    app.search.close();
    await app.navigation.openSession(other);
    const searches = () => backend.calls.filter((call) => call.name === 'search.everything').length;
    const before = searches();
    await settle();
    expect([searches(), app.search.result]).toEqual([before, null]);
    app.search.show();
    await settle();
    expect(searches()).toBe(before + 1);
  });

  it('of all sessions is unchanged', async () => {
    const { sessionId } = app.conversation;
    writeUniqueText();
    app.search.show('xylophone');
    await settle();
    const found = app.search.result;
    await app.navigation.openSession(other);
    await settle();
    expect(app.search.result).toBe(found);
    expect(sessionsFound()).toEqual([sessionId]);
  });
});

describe('permanently deleted data', () => {
  it('is dropped at once from everything loaded before', async () => {
    const turnId = writeUniqueText();
    backend.store.touch(backend.store.turn(turnId));
    app.branches.follow(app.conversation.sessionId);
    app.search.show('xylophone');
    await settle();
    expect(app.search.groups).toHaveLength(1);
    app.memory.open('chunk');
    app.documents.read({ id: 'f', name: 'f' });
    const count = app.deletion.count;
    const release = backend.hold('search.everything');
    const tree = backend.hold('branches.tree');
    await deletePermanently(turnId);
    expect([app.search.result, app.branches.tree, app.memory.opened, app.documents.reading]).toEqual([null, null, '', null]);
    expect(app.deletion.count).toBe(count + 1);
    release();
    tree();
    await settle();
    expect(app.search.groups).toHaveLength(0);
    expect(app.branches.tree).not.toBeNull();
    expect(app.conversation.turns.find((turn) => turn.id === turnId)!.deletedAt).toBeGreaterThan(0);
    expect(app.deletion.count).toBe(count + 1); // the list of receipts reports the same deletion
  });

  it('by the command line is dropped when it is reported', async () => {
    const { count } = app.deletion;
    backend.disk.receipts = [{ id: 'elsewhere', kind: 'session', subject: 's', at: 1, parts: [], backups: [], copies: [], included: [] }];
    backend.store.changed('sessions', '', '');
    await settle();
    expect(app.deletion.count).toBe(count + 1);
  });
});
