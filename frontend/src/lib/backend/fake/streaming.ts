/** Running turns: everything between a message and its answer, slow enough to watch. */
import type { TurnView } from '../types';
import { answers } from './answers';
import { block, jobView, utf8Length } from './shapes';
import type { FakeStore } from './store';

export interface Pace {
  /** Time between two frames. */
  frameMs: number;
  /** Characters per frame. */
  chars: number;
  /** Time between accepting the message and the first frame. */
  prepareMs: number;
  /** Time between two fsyncs of the journal. */
  syncMs: number;
  /** Time between the end of an answer and the commit of its state. */
  commitMs: number;
}

export const watchable: Pace = { frameMs: 32, chars: 9, prepareMs: 700, syncMs: 900, commitMs: 2_500 };

interface Running {
  turn: TurnView;
  step: string;
  seq: number;
  rest: string;
  synced: number;
  timers: ReturnType<typeof setInterval>[];
}

export class Streams {
  readonly #store: FakeStore;
  readonly pace: Pace;
  readonly #running = new Map<string, Running>();
  #answer = 0;

  constructor(store: FakeStore, pace: Pace) {
    this.#store = store;
    this.pace = pace;
  }

  /** The part of a step written so far, as its journal would contain it. */
  find(step: string): Running | undefined {
    return [...this.#running.values()].find((run) => run.step === step);
  }

  start(turn: TurnView, text = answers[this.#answer++ % answers.length]!): void {
    Object.assign(turn, { state: 'accepted', phase: 'Accepted', outcome: '', live: false });
    this.#store.touch(turn);
    const run: Running = { turn, step: this.#store.id('p'), seq: 0, rest: text, synced: 0, timers: [] };
    this.#running.set(turn.id, run);
    run.timers.push(setTimeout(() => this.#prepare(run), this.pace.prepareMs / 3), setTimeout(() => this.#respond(run), this.pace.prepareMs));
  }

  stop(turnId: string): void {
    const run = this.#running.get(turnId);
    if (!run) return;
    if (utf8Length(run.turn.assistant[0]?.text ?? '') > 0) this.#finish(run, 'stopped');
    else this.#fail(run);
  }

  stopAll(): void {
    for (const run of this.#running.values()) for (const timer of run.timers) clearInterval(timer);
    this.#running.clear();
  }

  #prepare(run: Running): void {
    Object.assign(run.turn, { state: 'preparing', phase: 'ContextPrepared' });
    this.#store.touch(run.turn);
  }

  #respond(run: Running): void {
    const { turn } = run;
    Object.assign(turn, { state: 'responding', phase: 'Responding', live: true, liveStep: run.step, liveSeq: 0, assistant: [], displayed: 0, durable: 0 });
    this.#store.touch(turn);
    run.timers.push(setInterval(() => this.#frame(run), this.pace.frameMs), setInterval(() => this.#sync(run), this.pace.syncMs));
  }

  #frame(run: Running): void {
    const text = run.rest.slice(0, this.pace.chars);
    run.rest = run.rest.slice(this.pace.chars);
    if (text !== '') this.#emit(run, text);
    if (run.rest === '') this.#finish(run, 'completed');
  }

  #emit(run: Running, text: string): void {
    const { turn } = run;
    const written = (turn.assistant[0]?.text ?? '') + text;
    turn.assistant = [block('text', written)];
    turn.liveSeq = ++run.seq;
    turn.displayed = utf8Length(written);
    const session = this.#store.sessionOf(turn).row.id;
    this.#store.frame({
      session, branch: turn.branchId, turn: turn.id, step: run.step, attempt: turn.attempts, seq: run.seq,
      block: 0, kind: 'text', text, tool: '', displayed: turn.displayed, durable: turn.durable,
    });
  }

  #sync(run: Running): void {
    if (run.turn.durable === run.turn.displayed) return;
    run.turn.durable = run.turn.displayed;
    this.#emit(run, '');
  }

  #finish(run: Running, outcome: string): void {
    this.#end(run);
    const { turn } = run;
    Object.assign(turn, {
      state: 'pending', phase: 'ResponseFinalized', outcome, live: false, liveStep: '', durable: turn.displayed,
      inputTokens: 1_840, outputTokens: Math.ceil(turn.displayed / 4), durationMs: this.#store.now() - turn.createdAt,
      canContinue: outcome === 'stopped',
    });
    const session = this.#store.sessionOf(turn);
    this.#store.jobs.push(jobView({ id: this.#store.jobs.length + 1, turnId: turn.id, turnSeq: turn.seq, sessionId: session.row.id, session: session.row.title, updatedAt: this.#store.now() }));
    if (session.row.title === '') session.row.title = turn.user[0]!.text.slice(0, 48);
    this.#store.touch(turn);
    this.#store.changed('jobs', '', '');
    this.#store.changed('session', session.row.id, session.row.id);
    setTimeout(() => this.commit(turn), this.pace.commitMs);
    this.#sendQueued(turn.branchId, outcome);
  }

  /** Makes the turn's state the head, in order. */
  commit(turn: TurnView): void {
    if (turn.state !== 'pending') return;
    const lineage = this.#store.lineage(turn.branchId);
    if (lineage.some((other) => other.seq < turn.seq && other.state === 'pending')) return;
    for (const other of lineage) if (other.state === 'head') other.state = 'committed';
    Object.assign(turn, { state: 'head', phase: 'Done', indexStatus: 'ok', stateAfter: this.#store.id('01KAD3T9K') });
    this.#store.jobs = this.#store.jobs.filter((job) => job.turnId !== turn.id);
    this.#store.touch(turn);
    this.#store.changed('head', turn.branchId, this.#store.sessionOf(turn).row.id);
    this.#store.changed('jobs', '', '');
  }

  #fail(run: Running): void {
    this.#end(run);
    Object.assign(run.turn, {
      state: 'failed', phase: 'Failed', outcome: 'failed', live: false,
      error: { code: 'cancelled', op: 'turn', message: 'Stopped before the first word arrived', hint: 'Your message is saved. Retry sends it again.' },
    });
    this.#store.touch(run.turn);
  }

  #end(run: Running): void {
    for (const timer of run.timers) clearInterval(timer);
    this.#running.delete(run.turn.id);
  }

  /** Sends the next queued message after an answer, unless it was stopped. */
  #sendQueued(branchId: string, outcome: string): void {
    const branch = this.#store.branch(branchId);
    if (branch.queue.length === 0) return;
    if (outcome === 'stopped') branch.held = 'stop';
    this.#store.changed('queue', branchId, branch.sessionId);
    if (branch.held === '') this.sendNext(branchId);
  }

  sendNext(branchId: string): void {
    const branch = this.#store.branch(branchId);
    const next = branch.queue.shift();
    if (!next) return;
    const turn = this.#store.addTurn(branchId, { user: [block('text', next.message.text)], assistant: [], model: this.#store.session(branch.sessionId).model });
    this.#store.changed('queue', branchId, branch.sessionId);
    this.start(turn);
  }
}
