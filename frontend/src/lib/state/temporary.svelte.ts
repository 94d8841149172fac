import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { Change, Frame, ImageUpload, StreamState, TurnView } from '$lib/backend/types';
import type { Marks } from '$lib/find/ranges';
import { t } from '$lib/i18n/i18n.svelte';
import type { Changes } from './changes';
import { imagesOf, textOf } from './composer.svelte';
import type { ScrollIntent, TranscriptSource } from './conversation.svelte';
import { DraftState } from './draft.svelte';
import { isRunning } from './lineage';
import { LiveTurn } from './live.svelte';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';

/** Frames kept for a step that is not loaded yet; the rest is fetched with the turn. */
const earlyFrames = 256;

/**
 * A temporary chat (SPEC 12): its turns exist only in the memory of the running program. While it is open it replaces
 * the session in the window, and it is discarded when the user leaves it.
 */
export class TemporaryConversation implements TranscriptSource {
  #id = $state('');
  #starting = $state.raw<Promise<void> | null>(null);
  #turns = $state.raw<readonly TurnView[]>([]);
  #live = $state.raw<LiveTurn | null>(null);
  #model = $state('');
  #sending = $state(false);
  #error = $state.raw<BackendError | null>(null);
  #focusRequests = $state(0);
  #intent = $state.raw<ScrollIntent>({ to: 'end', turnId: '' });
  #asking = $state(false);
  #answer: (leave: boolean) => void = () => undefined;
  #early: Frame[] = [];
  readonly #backend: Backend;
  readonly #toasts: ToastsState;
  readonly #offs: (() => void)[];
  readonly #refresh = new Refresh(() => this.#load(), 16);
  /** The message being written. It belongs to no branch, so this draft is never saved. */
  readonly draft: DraftState;

  // Always loaded completely.
  readonly written = false;
  readonly hasOlder = false;
  readonly hasNewer = false;
  readonly prepending = false;
  readonly run = 0;

  constructor(backend: Backend, changes: Changes, toasts: ToastsState) {
    this.#backend = backend;
    this.#toasts = toasts;
    this.draft = new DraftState(backend);
    this.#offs = [backend.onFrame((frame) => this.#onFrame(frame)), changes.on(['turn'], (change) => this.#onChange(change))];
  }

  /** Shown from the moment it is requested: text typed from then on is not saved either. */
  get active(): boolean {
    return this.#id !== '' || this.#starting !== null;
  }

  get id(): string {
    return this.#id;
  }

  get turns(): readonly TurnView[] {
    return this.#turns;
  }

  get newest(): TurnView | undefined {
    return this.#turns.at(-1);
  }

  get running(): boolean {
    return isRunning(this.newest);
  }

  get intent(): ScrollIntent {
    return this.#intent;
  }

  get model(): string {
    return this.#model;
  }

  /** The model for the next answers. */
  set model(name: string) {
    this.#model = name;
  }

  get sending(): boolean {
    return this.#sending;
  }

  /** Why the last message could not be sent. The text is still in the composer. */
  get error(): BackendError | null {
    return this.#error;
  }

  /** Changes each time the composer should take the focus. */
  get focusRequests(): number {
    return this.#focusRequests;
  }

  get canSend(): boolean {
    return this.active && !this.#sending && !this.running && !this.draft.isEmpty;
  }

  /** Something would be lost by leaving. */
  get hasContent(): boolean {
    return this.active && (this.#turns.length > 0 || !this.draft.isEmpty);
  }

  /** The user is being asked whether to leave. */
  get asking(): boolean {
    return this.#asking;
  }

  live(turnId: string): LiveTurn | undefined {
    return this.#live?.turnId === turnId ? this.#live : undefined;
  }

  focus(): void {
    this.#focusRequests++;
  }

  dismissError(): void {
    this.#error = null;
  }

  /** Starts an empty one and discards the previous one. A message can be typed immediately. */
  async start(model: string): Promise<void> {
    if (this.#starting) return this.#starting;
    const ended = this.end();
    this.#model = model;
    this.#starting = this.#begin(ended);
    await this.#starting;
  }

  async #begin(ended: Promise<void>): Promise<void> {
    try {
      this.#id = await this.#backend.chat.temporaryStart();
      await ended;
    } finally {
      this.#starting = null;
    }
  }

  /** Asks whether to leave, if anything would be lost. A second question replaces the first. */
  async mayLeave(): Promise<boolean> {
    this.answer(false);
    if (!this.hasContent) return true;
    this.#asking = true;
    return new Promise((resolve) => (this.#answer = resolve));
  }

  answer(leave: boolean): void {
    this.#asking = false;
    this.#answer(leave);
  }

  /** Discards it, here and in the program. */
  async end(): Promise<void> {
    if (this.#starting) await this.#starting.catch(() => undefined);
    const id = this.#id;
    if (id === '') return;
    this.#id = '';
    this.#turns = [];
    this.#follow(undefined);
    this.#early = [];
    this.#error = null;
    this.#refresh.cancel();
    this.draft.clear();
    await this.#quietly(async () => {
      await this.#backend.chat.temporaryEnd(id).catch(unlessGone);
    });
  }

  async send(): Promise<void> {
    if (!this.canSend) return;
    const { text, images } = this.draft;
    if ((await this.#ask(text, images)) && this.draft.text === text) this.draft.clear();
  }

  /** Sends the message of a turn without an answer again, as a new turn. */
  async again(turn: TurnView): Promise<void> {
    if (!this.running && !this.#sending) await this.#ask(textOf(turn.user), imagesOf(turn.user));
  }

  async stop(): Promise<void> {
    await this.#quietly(() => this.#backend.chat.temporaryStop(this.#id));
    this.#refresh.soon();
  }

  async jumpToLatest(): Promise<void> {
    this.#intent = { to: 'end', turnId: '' };
  }

  async jumpToFirst(): Promise<void> {
    this.#intent = { to: 'turn', turnId: this.#turns[0]?.id ?? '' };
  }

  /** Scrolls to a search result while the search continues. */
  async jumpToFind(marks: Marks): Promise<void> {
    this.#intent = { to: 'turn', turnId: marks.turnId, marks, quiet: true };
  }

  // Everything is always loaded, so the transcript never calls these.
  async loadOlder(): Promise<void> {}
  async loadNewer(): Promise<void> {}

  /** Called when the window closes. */
  close(): void {
    for (const off of this.#offs) off();
    this.#refresh.cancel();
    void this.end();
  }

  async #ask(text: string, images: readonly ImageUpload[]): Promise<boolean> {
    this.#sending = true;
    this.#error = null;
    await this.#starting?.catch(() => undefined); // the caller that started it reports why it failed
    const id = this.#id;
    try {
      if (id === '') return false;
      await this.#backend.chat.temporarySend(id, { sessionId: '', branchId: '', text, images: [...images], files: [], memories: [], model: this.#model, effort: '', incomplete: '' });
    } catch (error) {
      if (id === this.#id) this.#error = toBackendError(error);
      return false;
    } finally {
      this.#sending = false;
    }
    if (id !== this.#id) return false;
    await this.#refresh.now();
    await this.jumpToLatest();
    return true;
  }

  async #load(): Promise<void> {
    const id = this.#id;
    if (id === '') return;
    try {
      const turns = await this.#backend.chat.temporaryTurns(id);
      if (id !== this.#id) return;
      this.#turns = turns;
      this.#follow(turns.find((turn) => turn.live && turn.liveStep !== ''));
    } catch {
      // The displayed data stays; the next change asks again.
    }
  }

  /** Starts, replaces or ends the live view of the only turn that can stream. */
  #follow(turn: TurnView | undefined): void {
    if (!turn || this.#live?.turnId !== turn.id) {
      this.#live?.stop();
      this.#live = turn ? new LiveTurn({ stream: (step) => this.#stream(step) }, turn) : null;
    } else this.#live.adopt(turn);
    if (!turn) return;
    for (const frame of this.#early) this.#live?.accept(frame);
    this.#early = [];
  }

  /** Reads the current content of a step from memory; there is no journal. */
  async #stream(step: string): Promise<StreamState> {
    const turn = (await this.#backend.chat.temporaryTurns(this.#id)).find((candidate) => candidate.liveStep === step);
    if (!turn) throw new Error(t('state.stepEnded'));
    return { step, attempt: turn.attempts, seq: turn.liveSeq, blocks: turn.assistant, displayed: turn.displayed, durable: 0, live: true };
  }

  #onFrame(frame: Frame): void {
    if (!this.active || frame.session !== this.#id) return;
    if (this.#live?.step === frame.step) return this.#live.accept(frame);
    if (this.#early.length < earlyFrames) this.#early.push(frame);
    this.#refresh.soon();
  }

  #onChange(change: Change): void {
    if (this.active && change.session === this.#id) this.#refresh.soon();
  }

  async #quietly(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#toasts.error(error);
    }
  }
}

/** If the program has already discarded the chat, there is nothing left to do. */
function unlessGone(error: unknown): void {
  if (toBackendError(error).code !== 'not_found') throw error;
}

