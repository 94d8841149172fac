/** Running turns: everything between a message and its answer, slow enough to watch. */
import type { TurnView } from '../types';
import { answers } from './answers';
import { block, jobView, utf8Length } from './shapes';
import type { World } from './world';

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
  readonly #world: World;
  readonly pace: Pace;
  readonly #running = new Map<string, Running>();
  #answer = 0;

  constructor(world: World, pace: Pace) {
    this.#world = world;
    this.pace = pace;
  }

  /** The part of a step written so far, as its journal would contain it. */
  find(step: string): Running | undefined {
    return [...this.#running.values()].find((run) => run.step === step);
  }

  start(turn: TurnView, text = answers[this.#answer++ % answers.length]!): void {
    Object.assign(turn, { state: 'accepted', phase: 'Accepted', outcome: '', live: false });
    this.#world.touch(turn);
    const run: Running = { turn, step: this.#world.id('p'), seq: 0, rest: text, synced: 0, timers: [] };
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
    this.#world.touch(run.turn);
  }

  #respond(run: Running): void {
    const { turn } = run;
    Object.assign(turn, { state: 'responding', phase: 'Responding', live: true, liveStep: run.step, liveSeq: 0, assistant: [], displayed: 0, durable: 0 });
    this.#world.touch(turn);
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
    const session = this.#world.sessionOf(turn).row.id;
    this.#world.frame({
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
      inputTokens: 1_840, outputTokens: Math.ceil(turn.displayed / 4), durationMs: this.#world.now() - turn.createdAt,
      canContinue: outcome === 'stopped',
    });
    const session = this.#world.sessionOf(turn);
    this.#world.jobs.push(jobView({ id: this.#world.jobs.length + 1, turnId: turn.id, turnSeq: turn.seq, sessionId: session.row.id, session: session.row.title, updatedAt: this.#world.now() }));
    if (session.row.title === '') session.row.title = turn.user[0]!.text.slice(0, 48);
    this.#world.touch(turn);
    this.#world.changed('jobs', '', '');
    this.#world.changed('session', session.row.id, session.row.id);
    setTimeout(() => this.commit(turn), this.pace.commitMs);
    this.#sendQueued(turn.branchId, outcome);
  }

  /** Makes the turn's state the head, in order. */
  commit(turn: TurnView): void {
    if (turn.state !== 'pending') return;
    const lineage = this.#world.lineage(turn.branchId);
    if (lineage.some((other) => other.seq < turn.seq && other.state === 'pending')) return;
    for (const other of lineage) if (other.state === 'head') other.state = 'committed';
    Object.assign(turn, { state: 'head', phase: 'Done', indexStatus: 'ok', stateAfter: this.#world.id('01KAD3T9K') });
    this.#world.jobs = this.#world.jobs.filter((job) => job.turnId !== turn.id);
    this.#world.touch(turn);
    this.#world.changed('head', turn.branchId, this.#world.sessionOf(turn).row.id);
    this.#world.changed('jobs', '', '');
  }

  #fail(run: Running): void {
    this.#end(run);
    Object.assign(run.turn, {
      state: 'failed', phase: 'Failed', outcome: 'failed', live: false,
      error: { code: 'cancelled', op: 'turn', message: 'Stopped before the first word arrived', hint: 'Your message is saved. Retry sends it again.' },
    });
    this.#world.touch(run.turn);
  }

  #end(run: Running): void {
    for (const timer of run.timers) clearInterval(timer);
    this.#running.delete(run.turn.id);
  }

  /** Sends the next queued message after an answer, unless it was stopped. */
  #sendQueued(branchId: string, outcome: string): void {
    const branch = this.#world.branch(branchId);
    if (branch.queue.length === 0) return;
    if (outcome === 'stopped') branch.held = 'stop';
    this.#world.changed('queue', branchId, branch.sessionId);
    if (branch.held === '') this.sendNext(branchId);
  }

  sendNext(branchId: string): void {
    const branch = this.#world.branch(branchId);
    const next = branch.queue.shift();
    if (!next) return;
    const turn = this.#world.addTurn(branchId, { user: [block('text', next.message.text)], assistant: [], model: this.#world.session(branch.sessionId).model });
    this.#world.changed('queue', branchId, branch.sessionId);
    this.start(turn);
  }
}
