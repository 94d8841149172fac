import { SvelteMap } from 'svelte/reactivity';
import type { Backend } from '$lib/backend/backend';
import type { ToolCallView, ToolDecisionRequest, ToolResolveRequest, ToolResultView, WaitingCallView } from '$lib/backend/types';
import type { Changes } from './changes';
import type { ConversationState } from './conversation.svelte';
import { Refresh } from './refresh';

/**
 * Tool calls that wait for a decision, in all sessions, and the actions on them. The call's card is part of its turn;
 * the queue is separate, and never takes the focus on its own.
 */
export class ToolsState {
  #waiting = $state.raw<readonly WaitingCallView[]>([]);
  #open = $state(false);
  /** Cards that the user opened or closed, until the window closes. */
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

  /** The queue is open. */
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

  /** The call in the queue with the definition to review; undefined if nothing waits. */
  entry(callId: string): WaitingCallView | undefined {
    return this.#waiting.find(({ call }) => call.id === callId);
  }

  load(): Promise<void> {
    return this.#refresh.now();
  }

  // The actions throw their errors, because an error is shown where the action was started.

  decide(call: ToolCallView, request: Omit<ToolDecisionRequest, 'callId'>): Promise<void> {
    return this.#on(call, () => this.#backend.tools.decide({ callId: call.id, ...request }));
  }

  resolve(call: ToolCallView, request: Omit<ToolResolveRequest, 'callId' | 'hash'>): Promise<void> {
    return this.#on(call, () => this.#backend.tools.resolve({ callId: call.id, hash: call.definition, ...request }));
  }

  cancel(call: ToolCallView): Promise<void> {
    return this.#on(call, () => this.#backend.tools.cancel(call.id));
  }

  /** Gives up the turn; the answer so far stays with it, discarded. */
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

  /** Reloaded even after a refusal: the reason may be that the call is already decided. */
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
      // The displayed data stays; the next change reads it again.
    }
  }
}
