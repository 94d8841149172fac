/**
 * One step's stream, put together from frames (SPEC 5). Frames are trusted by their seq, never by their order of
 * arrival: what comes early waits, what comes twice is dropped, and a hole is reported so that the step can be
 * fetched again from its journal.
 */
import type { BlockView, Frame, StreamState, TurnView } from '$lib/backend/types';

export type Accepted = 'applied' | 'ignored' | 'gap';

/** Frames name kinds briefly; blocks say what they are. */
const blockKinds: Record<string, string> = { tool: 'tool_use' };

export class StepStream {
  readonly step: string;
  #seq: number;
  #displayed: number;
  #durable: number;
  /** What earlier steps wrote, which a continued answer goes on from. */
  #base: readonly BlockView[];
  #own: BlockView[];
  #blocks: readonly BlockView[];
  readonly #early = new Map<number, Frame>();

  /** From a turn as a snapshot holds it: frames after LiveSeq go on from there. */
  constructor(turn: TurnView) {
    const begun = turn.liveSeq > 0;
    this.step = turn.liveStep;
    this.#seq = turn.liveSeq;
    this.#displayed = turn.displayed;
    this.#durable = turn.durable;
    this.#base = begun ? [] : turn.assistant;
    this.#own = begun ? turn.assistant : [];
    this.#blocks = turn.assistant;
  }

  get seq(): number {
    return this.#seq;
  }

  /** A new array whenever a block changed; blocks themselves never change in place. */
  get blocks(): readonly BlockView[] {
    return this.#blocks;
  }

  get displayed(): number {
    return this.#displayed;
  }

  get durable(): number {
    return this.#durable;
  }

  /** Frames that wait for one that has not come. */
  get waiting(): number {
    return this.#early.size;
  }

  accept(frame: Frame): Accepted {
    if (frame.step !== this.step || frame.seq <= this.#seq) return 'ignored';
    if (frame.seq > this.#seq + 1) {
      this.#early.set(frame.seq, frame);
      return 'gap';
    }
    this.#apply(frame);
    this.#drain();
    return this.#early.size > 0 ? 'gap' : 'applied';
  }

  /** The step as its journal holds it. What arrived meanwhile and lies beyond it is kept. */
  adopt(state: StreamState): void {
    if (state.step !== this.step || state.seq < this.#seq) return;
    this.#seq = state.seq;
    this.#displayed = Math.max(this.#displayed, state.displayed);
    this.#durable = Math.max(this.#durable, state.durable);
    this.#own = state.blocks;
    this.#join();
    for (const seq of [...this.#early.keys()]) if (seq <= this.#seq) this.#early.delete(seq);
    this.#drain();
  }

  /**
   * Tells earlier steps' text from this one's, when the page was loaded in the middle of a continued answer: the
   * journal holds only what this step wrote, the turn holds both, joined.
   */
  locate(state: StreamState): void {
    if (state.step !== this.step || state.seq < this.#seq || this.#base.length > 0) return;
    this.#base = withoutTail(this.#own, state.blocks);
    this.adopt(state);
  }

  #drain(): void {
    for (let next = this.#early.get(this.#seq + 1); next; next = this.#early.get(this.#seq + 1)) {
      this.#early.delete(next.seq);
      this.#apply(next);
    }
  }

  #apply(frame: Frame): void {
    this.#seq = frame.seq;
    this.#displayed = Math.max(this.#displayed, frame.displayed);
    this.#durable = Math.max(this.#durable, frame.durable);
    if (frame.text === '') return;
    const own = [...this.#own];
    while (own.length <= frame.block) own.push(emptyBlock(blockKinds[frame.kind] ?? frame.kind));
    const block = own[frame.block]!;
    own[frame.block] = { ...block, text: block.text + frame.text };
    this.#own = own;
    this.#join();
  }

  #join(): void {
    const last = this.#base.at(-1);
    const first = this.#own[0];
    const joins = last?.kind === 'text' && first?.kind === 'text';
    this.#blocks = joins
      ? [...this.#base.slice(0, -1), { ...first, text: last.text + first.text }, ...this.#own.slice(1)]
      : [...this.#base, ...this.#own];
  }
}

/** What of `all` was there before `own` began; `own` may already be longer than the end of `all`. */
function withoutTail(all: readonly BlockView[], own: readonly BlockView[]): BlockView[] {
  const at = Math.max(0, all.length - own.length);
  const shared = all[at];
  const first = own[0];
  if (!shared || !first || shared.kind !== first.kind) return all.slice(0, at);
  let start = 0;
  while (start < shared.text.length && !first.text.startsWith(shared.text.slice(start))) start++;
  return start === 0 ? all.slice(0, at) : [...all.slice(0, at), { ...shared, text: shared.text.slice(0, start) }];
}

export function emptyBlock(kind: string): BlockView {
  return { kind, text: '', name: '', id: '', data: '', isError: false };
}
