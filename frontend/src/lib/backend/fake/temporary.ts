/** Temporary chats of the fake program: their turns belong to no session and stream at the usual pace. */
import type { ChatService, SendRequest, SendResult, TurnView } from '../types';
import { BackendError } from '../errors';
import { answers } from './answers';
import { block, errorView, turnView, utf8Length } from './shapes';
import type { Pace } from './streaming';
import type { FakeStore } from './store';

interface Chat {
  id: string;
  turns: TurnView[];
  rest: string;
  timer: ReturnType<typeof setTimeout> | undefined;
}

type TemporaryMethods = Pick<ChatService, 'temporaryStart' | 'temporarySend' | 'temporaryTurns' | 'temporaryStop' | 'temporaryEnd'>;

export function temporaryChats(store: FakeStore, pace: Pace): TemporaryMethods {
  const chats = new TemporaryChats(store, pace);
  return {
    temporaryStart: async () => chats.start(),
    temporarySend: async (id, request) => chats.send(id, request),
    temporaryTurns: async (id) => chats.turns(id),
    temporaryStop: async (id) => chats.stop(id),
    temporaryEnd: async (id) => chats.end(id),
  };
}

class TemporaryChats {
  readonly chats = new Map<string, Chat>();
  readonly #store: FakeStore;
  readonly #pace: Pace;
  #answer = 0;

  constructor(store: FakeStore, pace: Pace) {
    this.#store = store;
    this.#pace = pace;
  }

  start(): string {
    const id = this.#store.id('temporary:');
    this.chats.set(id, { id, turns: [], rest: '', timer: undefined });
    return id;
  }

  turns(id: string): TurnView[] {
    return this.#chat(id).turns;
  }

  send(id: string, request: SendRequest): SendResult {
    const chat = this.#chat(id);
    if (chat.timer !== undefined) throw new BackendError(errorView('The answer before is still arriving', 'Stop it first.', 'busy'));
    const images = request.images.map((image) => block('image', image.name, { name: image.mediaType, data: `data:${image.mediaType};base64,${image.data}` }));
    const now = this.#store.now();
    const turn = turnView({
      id: this.#store.id('t'), branchId: id, seq: chat.turns.length + 1, phase: 'Responding', outcome: '', state: 'responding',
      user: [...images, block('text', request.text)], assistant: [], displayed: 0, durable: 0, model: request.model, inputTokens: 0, outputTokens: 0,
      indexStatus: '', createdAt: now, updatedAt: now,
    });
    chat.turns.push(turn);
    chat.rest = answers[this.#answer++ % answers.length]!;
    chat.timer = setTimeout(() => this.#respond(chat, turn), this.#pace.prepareMs);
    this.#store.changed('turn', turn.id, id);
    return { sessionId: id, branchId: id, turnId: turn.id, queued: false };
  }

  stop(id: string): void {
    const chat = this.#chat(id);
    const turn = chat.turns.at(-1);
    if (!turn || chat.timer === undefined) return;
    if (turn.displayed > 0) this.#finish(chat, turn, { state: 'not kept', phase: 'ResponseFinalized', outcome: 'stopped' });
    else this.#finish(chat, turn, { state: 'failed', phase: 'Failed', outcome: 'failed', error: errorView('Stopped before the first word arrived', '', 'cancelled') });
  }

  end(id: string): void {
    clearTimeout(this.chats.get(id)?.timer);
    this.chats.delete(id);
  }

  #respond(chat: Chat, turn: TurnView): void {
    Object.assign(turn, { live: true, liveStep: this.#store.id('p'), liveSeq: 0 });
    this.#store.changed('turn', turn.id, chat.id);
    this.#next(chat, turn);
  }

  #next(chat: Chat, turn: TurnView): void {
    const text = chat.rest.slice(0, this.#pace.chars);
    chat.rest = chat.rest.slice(this.#pace.chars);
    if (text === '') return this.#finish(chat, turn, { state: 'not kept', phase: 'ResponseFinalized', outcome: 'completed' });
    const written = (turn.assistant[0]?.text ?? '') + text;
    Object.assign(turn, { assistant: [block('text', written)], liveSeq: turn.liveSeq + 1, displayed: utf8Length(written) });
    this.#store.frame({
      session: chat.id, branch: chat.id, turn: turn.id, step: turn.liveStep, attempt: 1, seq: turn.liveSeq,
      block: 0, kind: 'text', text, tool: '', displayed: turn.displayed, durable: 0,
    });
    chat.timer = setTimeout(() => this.#next(chat, turn), this.#pace.frameMs);
  }

  #finish(chat: Chat, turn: TurnView, result: Partial<TurnView>): void {
    clearTimeout(chat.timer);
    chat.timer = undefined;
    Object.assign(turn, {
      live: false, liveStep: '', inputTokens: 120, outputTokens: Math.ceil(turn.displayed / 4), updatedAt: this.#store.now(),
      durationMs: this.#store.now() - turn.createdAt, ...result,
    });
    this.#store.changed('turn', turn.id, chat.id);
  }

  #chat(id: string): Chat {
    const chat = this.chats.get(id);
    if (!chat) throw new BackendError(errorView('That temporary chat has ended', 'Begin a new one.', 'not_found'));
    return chat;
  }
}
