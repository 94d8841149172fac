import type { TurnState } from '../types';
import { block } from './shapes';
import type { FakeStore } from './store';

const topics = ['partial index', 'logical replication', 'read replica', 'outbox table', 'feature flag', 'shadow traffic', 'blue and green', 'sequence gap', 'clock skew', 'retry budget'];
const minute = 60_000;

/**
 * A session with this many forks, as heavy experimenting produces it: a long trunk, forks of forks, several forks of
 * one turn, some archived, empty or waiting. The same count gives the same session.
 */
export function seedForks(store: FakeStore, count: number): void {
  const session = store.addSession('Three hundred ways');
  const trunk = session.row.activeBranch;
  const random = numbers(7);
  const addTurn = (branchId: string, text: string, at: number, state: TurnState = 'committed') =>
    store.addTurn(branchId, { user: [block('text', text)], assistant: [block('text', `On ${text.toLowerCase()}: it can be done, at a price. ${'There is more to say about it. '.repeat(2)}`)], createdAt: at, updatedAt: at, state });
  const began = store.epoch - (count + 200) * 30 * minute;
  for (let i = 1; i <= 120; i++) addTurn(trunk, `Step ${i} of the migration plan`, began + i * minute, i === 120 ? 'head' : 'committed');
  const ids = [trunk];
  for (let i = 1; i <= count; i++) {
    const at = began + (200 + i) * 30 * minute;
    const parent = store.branch(random() < 0.55 ? trunk : ids[Math.floor(random() * ids.length)]!);
    const length = store.lineage(parent.view.id).length;
    const after = Math.max(1, parent.view.forkSeq + 1, Math.floor(random() ** 0.5 * length));
    const topic = topics[i % topics.length]!;
    const fork = store.addBranch(session.row.id, `${topic} ${i}`, parent.view.id, Math.min(after, length));
    Object.assign(fork.view, { archived: i % 17 === 0, updatedAt: at });
    fork.createdAt = at;
    ids.push(fork.view.id);
    const turns = i % 23 === 0 ? 0 : 1 + Math.floor(random() * 14);
    for (let n = 1; n <= turns; n++) addTurn(fork.view.id, n === 1 ? `What if we used a ${topic}?` : `And then, ${topic}, part ${n}?`, at + n * minute, n < turns ? 'committed' : i % 9 === 0 ? 'pending' : i % 31 === 0 ? 'incomplete' : 'head');
  }
  session.row.updatedAt = store.epoch - minute;
}

/** Reproducible pseudo-random numbers from 0 to 1 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
