import { goalOf, seqOfDay, type Goal } from '$lib/find/goal';
import type { ConversationState } from './conversation.svelte';

/** Going to a turn by number, percentage or day. */
export class GoToState {
  #open = $state(false);
  readonly #conversation: ConversationState;

  constructor(conversation: ConversationState) {
    this.#conversation = conversation;
  }

  get open(): boolean {
    return this.#open;
  }

  show(): void {
    this.#open = this.#conversation.turns.length > 0;
  }

  close(): void {
    this.#open = false;
  }

  goal(typed: string): Goal {
    const { firstSeq, lastSeq } = this.#conversation;
    return goalOf(typed, firstSeq, lastSeq, new Date());
  }

  /** False: there is no such place. */
  async go(typed: string): Promise<boolean> {
    const { branchId, firstSeq, lastSeq } = this.#conversation;
    const goal = this.goal(typed);
    if (goal.kind === 'none') return false;
    const momentOf = async (seq: number) => (await this.#conversation.turnAt(seq))?.createdAt ?? Infinity;
    const seq = goal.kind === 'seq' ? goal.seq : await seqOfDay(goal.at, firstSeq, lastSeq, momentOf);
    if (branchId === this.#conversation.branchId) await this.#conversation.jumpToSeq(seq);
    return true;
  }
}
