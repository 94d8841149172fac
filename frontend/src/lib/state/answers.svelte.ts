import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { AnswerColumn, AnswerSet, Frame, TurnView } from '$lib/backend/types';
import type { Changes } from './changes';
import { LiveTurn } from './live.svelte';
import { Refresh } from './refresh';

/** Frames kept for a column that is not loaded yet; the rest is fetched with its turn. */
const earlyFrames = 256;

/** The answers to one message, each on its own branch, while they stream side by side. */
export class AnswersState {
  #set = $state.raw<AnswerSet | null>(null);
  #error = $state.raw<BackendError | null>(null);
  #live = $state.raw<ReadonlyMap<string, LiveTurn>>(new Map());
  readonly #early = new Map<string, Frame[]>();
  readonly #turnId: string;
  readonly #sessionId: string;
  readonly #backend: Backend;
  readonly #offs: (() => void)[];
  readonly #refresh = new Refresh(() => this.#load(), 32);

  constructor(backend: Backend, changes: Changes, sessionId: string, turnId: string) {
    this.#backend = backend;
    this.#sessionId = sessionId;
    this.#turnId = turnId;
    this.#offs = [
      backend.onFrame((frame) => this.#onFrame(frame)),
      changes.on(['turn', 'call', 'head', 'session'], (change) => {
        if (change.session === this.#sessionId) this.#refresh.soon();
      }),
    ];
    void this.#refresh.now();
  }

  /** Null until loaded. */
  get set(): AnswerSet | null {
    return this.#set;
  }

  get columns(): readonly AnswerColumn[] {
    return this.#set?.columns ?? [];
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** The streaming answer, if it streams. */
  live(turnId: string): LiveTurn | undefined {
    return this.#live.get(turnId);
  }

  refresh(): Promise<void> {
    return this.#refresh.now();
  }

  stop(): void {
    for (const off of this.#offs) off();
    for (const live of this.#live.values()) live.stop();
    this.#refresh.cancel();
  }

  #onFrame(frame: Frame): void {
    if (frame.session !== this.#sessionId) return;
    const live = this.#live.get(frame.turn);
    if (live?.step === frame.step) return live.accept(frame);
    // A step that is not known yet: the turns are read again. The frame may belong to an answer whose change is still
    // to arrive, or to none of this set.
    const early = this.#early.get(frame.turn) ?? [];
    if (early.length < earlyFrames) this.#early.set(frame.turn, [...early, frame]);
    if (this.columns.some(({ turn }) => turn.id === frame.turn)) this.#refresh.soon();
  }

  async #load(): Promise<void> {
    try {
      this.#set = await this.#backend.branches.answers(this.#turnId);
      this.#error = null;
    } catch (error) {
      this.#error = toBackendError(error);
      return;
    }
    const shown = new Set(this.columns.map(({ turn }) => turn.id));
    const live = new Map([...this.#live].filter(([id]) => shown.has(id)));
    for (const [id, gone] of this.#live) if (!shown.has(id)) gone.stop();
    for (const { turn } of this.columns) this.#follow(live, turn);
    this.#live = live;
    this.#early.clear(); // frames of the session's other branches are not needed
  }

  /** Starts, replaces or ends the live view of a turn. */
  #follow(live: Map<string, LiveTurn>, turn: TurnView): void {
    const known = live.get(turn.id);
    if (!turn.live || turn.liveStep === '') {
      known?.stop();
      live.delete(turn.id);
      return;
    }
    if (known) known.adopt(turn);
    else live.set(turn.id, new LiveTurn(this.#backend.chat, turn));
    for (const frame of this.#early.get(turn.id) ?? []) live.get(turn.id)?.accept(frame);
  }
}
