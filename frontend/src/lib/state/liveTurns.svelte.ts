import type { Backend } from '$lib/backend/backend';
import type { Frame, TurnView } from '$lib/backend/types';
import { LiveTurn } from './live.svelte';

/** Frames kept for a turn that is not loaded yet; the rest is fetched with the turn. */
export const earlyFrames = 256;

/** The streaming turns among the loaded ones. */
export class LiveTurns {
  #live = $state.raw<ReadonlyMap<string, LiveTurn>>(new Map());
  readonly #early = new Map<string, Frame[]>();
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get(turnId: string): LiveTurn | undefined {
    return this.#live.get(turnId);
  }

  /** Follows these turns only. */
  keep(turns: readonly TurnView[]): void {
    const kept = new Set(turns.map((turn) => turn.id));
    const live = new Map([...this.#live].filter(([id]) => kept.has(id)));
    for (const [id, gone] of this.#live) if (!kept.has(id)) gone.stop();
    this.#live = live;
    for (const turn of turns) this.follow(turn);
  }

  /** Starts, replaces or ends the live view of a turn. */
  follow(turn: TurnView): void {
    const known = this.#live.get(turn.id);
    if (!turn.live || turn.liveStep === '') {
      if (!known) return;
      known.stop();
      this.#live = new Map([...this.#live].filter(([id]) => id !== turn.id));
      return;
    }
    if (known) known.adopt(turn);
    else this.#live = new Map(this.#live).set(turn.id, new LiveTurn(this.#backend.chat, turn));
    for (const frame of this.#early.get(turn.id) ?? []) this.#live.get(turn.id)?.accept(frame);
    this.#early.delete(turn.id);
  }

  /** False: its step is not known yet, as of a new turn or a new attempt. The frame is kept until its turn is loaded. */
  accept(frame: Frame): boolean {
    const live = this.#live.get(frame.turn);
    if (live?.step === frame.step) {
      live.accept(frame);
      return true;
    }
    const early = this.#early.get(frame.turn) ?? [];
    if (early.length < earlyFrames) this.#early.set(frame.turn, [...early, frame]);
    return false;
  }

  /** Discards the kept frames, because another branch is shown. */
  forgetEarly(): void {
    this.#early.clear();
  }

  stop(): void {
    for (const live of this.#live.values()) live.stop();
  }
}
