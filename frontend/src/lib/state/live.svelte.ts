import type { BlockView, ChatService, Frame, TurnView } from '$lib/backend/types';
import { StepStream } from './stream';

/** How long a gap in the frames may last before the step is fetched again: late frames are common, lost ones rare. */
const maxGapMs = 120;
/** When this many frames wait, the missing one is considered lost. */
const maxGapFrames = 12;

/** Where a step is fetched from after a gap. */
export type StepSource = Pick<ChatService, 'stream'>;

/** A streaming turn: what the transcript draws and the header counts. */
export class LiveTurn {
  readonly turnId: string;
  #blocks = $state.raw<readonly BlockView[]>([]);
  #displayed = $state(0);
  #durable = $state(0);
  #stream: StepStream;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #source: StepSource;

  constructor(source: StepSource, turn: TurnView) {
    this.#source = source;
    this.turnId = turn.id;
    this.#stream = new StepStream(turn);
    this.#publish();
  }

  get blocks(): readonly BlockView[] {
    return this.#blocks;
  }

  get displayed(): number {
    return this.#displayed;
  }

  get durable(): number {
    return this.#durable;
  }

  get step(): string {
    return this.#stream.step;
  }

  get seq(): number {
    return this.#stream.seq;
  }

  /** Applies a newer snapshot of the turn. An older one of the same step is ignored: the frames are ahead of it. */
  adopt(turn: TurnView): void {
    if (turn.liveStep === this.#stream.step) {
      if (turn.liveSeq > this.#stream.seq) void this.#refetch();
      return;
    }
    this.#clearGap();
    this.#stream = new StepStream(turn);
    this.#publish();
  }

  accept(frame: Frame): void {
    const accepted = this.#stream.accept(frame);
    if (accepted === 'ignored') return;
    if (accepted === 'gap') this.#watchGap();
    else this.#clearGap();
    this.#publish();
  }

  stop(): void {
    this.#clearGap();
  }

  #watchGap(): void {
    if (this.#stream.waiting >= maxGapFrames) void this.#refetch();
    else this.#timer ??= setTimeout(() => void this.#refetch(), maxGapMs);
  }

  #clearGap(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #refetch(): Promise<void> {
    this.#clearGap();
    const stream = this.#stream;
    try {
      stream.adopt(await this.#source.stream(stream.step));
    } catch {
      // The step may just have ended; the turn's own change event then delivers the final text.
      return;
    }
    if (stream === this.#stream) this.#publish();
  }

  #publish(): void {
    this.#blocks = this.#stream.blocks;
    this.#displayed = this.#stream.displayed;
    this.#durable = this.#stream.durable;
  }
}
