import { SvelteMap } from 'svelte/reactivity';
import type { Backend } from '$lib/backend/backend';
import type { ToolCallView, ToolDecisionRequest, ToolResolveRequest, ToolResultView, WaitingCallView } from '$lib/backend/types';
import type { Changes } from './changes';
import type { ConversationState } from './conversation.svelte';
import { Refresh } from './refresh';

/**
 * Calls of tools that wait for a person, in all sessions, and what one does about them. A call's own card follows from its
 * turn; the queue is beside it, and never takes the focus by itself.
 */
export class ToolsState {
  #waiting = $state.raw<readonly WaitingCallView[]>([]);
  #open = $state(false);
  /** Cards that were opened or closed by hand, for as long as the window lives. */
  readonly opened = new SvelteMap<string, boolean>();
  readonly #backend: Backend;
  readonly #conversation: ConversationState;
  readonly #offs: (() => void)[];
  readonly #refresh = new Refresh(() => this.#load());

  constructor(backend: Backend, changes: Changes, conversation: ConversationState) {
    this.#backend = backend;
    this.#conversation = conversation;
    this.#offs = [changes.on(['call', 'tools', 'sessions'], () => this.#refresh.soon())];
  }

  /** Oldest first. */
  get waiting(): readonly WaitingCallView[] {
    return this.#waiting;
  }

  /** The queue is shown. */
  get open(): boolean {
    return this.#open;
  }

  show(): void {
    this.#open = true;
    this.#refresh.soon();
  }

  close(): void {
    this.#open = false;
  }

  /** The call in the queue, with the definition that is to be judged; undefined: nothing waits. */
  entry(callId: string): WaitingCallView | undefined {
    return this.#waiting.find(({ call }) => call.id === callId);
  }

  load(): Promise<void> {
    return this.#refresh.now();
  }

  // What is done throws what went wrong: that has to stand where it was done.

  decide(call: ToolCallView, request: Omit<ToolDecisionRequest, 'callId'>): Promise<void> {
    return this.#on(call, () => this.#backend.tools.decide({ callId: call.id, ...request }));
  }

  resolve(call: ToolCallView, request: Omit<ToolResolveRequest, 'callId' | 'hash'>): Promise<void> {
    return this.#on(call, () => this.#backend.tools.resolve({ callId: call.id, hash: call.definition, ...request }));
  }

  cancel(call: ToolCallView): Promise<void> {
    return this.#on(call, () => this.#backend.tools.cancel(call.id));
  }

  /** Gives the turn up; what it had answered so far stays with it, discarded. */
  discard(call: ToolCallView): Promise<void> {
    return this.#on(call, () => this.#backend.chat.discard(call.turnId));
  }

  result(callId: string): Promise<ToolResultView> {
    return this.#backend.tools.result(callId);
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#refresh.cancel();
  }

  /** Also where it was refused it is looked at again: the refusal may be that it is settled already. */
  async #on(call: ToolCallView, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } finally {
      const shown = this.#conversation.turns.some((turn) => turn.id === call.turnId);
      await Promise.all([this.#refresh.now(), shown ? this.#conversation.refreshTurn(call.turnId) : undefined]);
    }
  }

  async #load(): Promise<void> {
    try {
      this.#waiting = (await this.#backend.tools.waitingCalls()).calls;
    } catch {
      // What is shown stays; the next change asks again.
    }
  }
}
