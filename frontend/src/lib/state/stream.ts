/**
 * The stream of one step, assembled from frames (SPEC 5). Frames are ordered by seq, not by arrival: an early frame
 * waits, a duplicate is dropped, and a gap is reported so that the step can be fetched again from its journal. Frames
 * and journal number the blocks of the whole answer, so a continued answer continues in the last block of the previous
 * step.
 */
import type { BlockKind, BlockView, Frame, StreamState, TurnView } from '$lib/backend/types';

export type Accepted = 'applied' | 'ignored' | 'gap';

/** Frames use short names for kinds; blocks use the full ones. */
const blockKinds: Record<string, BlockKind> = { text: 'text', reasoning: 'reasoning', refusal: 'refusal', tool: 'tool_use' };

export class StepStream {
  readonly step: string;
  #seq: number;
  #blocks: readonly BlockView[];
  #displayed: number;
  #durable: number;
  readonly #early = new Map<number, Frame>();

  /** Starts with the turn of a snapshot: frames after LiveSeq follow. */
  constructor(turn: TurnView) {
    this.step = turn.liveStep;
    this.#seq = turn.liveSeq;
    this.#blocks = turn.assistant;
    this.#displayed = turn.displayed;
    this.#durable = turn.durable;
  }

  get seq(): number {
    return this.#seq;
  }

  /** A new array whenever a block changed; the blocks themselves are immutable. */
  get blocks(): readonly BlockView[] {
    return this.#blocks;
  }

  get displayed(): number {
    return this.#displayed;
  }

  get durable(): number {
    return this.#durable;
  }

  /** The number of frames that wait for a missing earlier one. */
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

  /** Applies the step as its journal contains it. Newer frames that arrived meanwhile are kept. */
  adopt(state: StreamState): void {
    if (state.step !== this.step || state.seq < this.#seq) return;
    this.#seq = state.seq;
    this.#blocks = state.blocks;
    this.#displayed = Math.max(this.#displayed, state.displayed);
    this.#durable = Math.max(this.#durable, state.durable);
    for (const seq of [...this.#early.keys()]) if (seq <= this.#seq) this.#early.delete(seq);
    this.#drain();
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
    if (frame.text === '' && frame.tool === '') return;
    const blocks = [...this.#blocks];
    while (blocks.length <= frame.block) blocks.push(emptyBlock(blockKinds[frame.kind] ?? 'unknown'));
    const block = blocks[frame.block]!;
    blocks[frame.block] = { ...block, name: frame.tool || block.name, text: block.text + frame.text };
    this.#blocks = blocks;
  }
}

export function emptyBlock(kind: BlockKind): BlockView {
  return { kind, text: '', name: '', id: '', data: '', isError: false, tokens: 0, whole: false };
}
