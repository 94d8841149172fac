import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { FindResult } from '$lib/backend/types';
import { findIn } from '$lib/find/local';
import type { Marks } from '$lib/find/ranges';
import type { Changes } from './changes';
import type { ConversationState } from './conversation.svelte';
import { Refresh } from './refresh';
import type { TemporaryConversation } from './temporary.svelte';
import type { ToastsState } from './toasts.svelte';

export interface FindParts {
  backend: Backend;
  changes: Changes;
  conversation: ConversationState;
  temporary: TemporaryConversation;
  toasts: ToastsState;
}

/** The delay while the user types. */
const typingMs = 120;
/** The minimum time between searches that are repeated because turns changed. */
const changedMs = 1_000;

/** Finding text in the open conversation: the query, the results, and the current result. */
export class FindState {
  #open = $state(false);
  #text = $state('');
  #matchCase = $state(false);
  #result = $state.raw<FindResult | null>(null);
  #error = $state.raw<BackendError | null>(null);
  /** The turn among the hits, and the match in that turn. -1: none yet. */
  #at = $state(-1);
  #nth = $state(0);
  #focusRequests = $state(0);
  #serial = 0;
  /** The question that the current result belongs to. */
  #answeredQuestion = '';
  /** The number of the turn at which the search was opened. */
  #from = 0;
  #where: () => number | null = () => null;
  #read: () => void = () => undefined;
  readonly #parts: FindParts;
  readonly #typing = new Refresh(() => this.#search(true), typingMs);
  readonly #changed = new Refresh(() => this.#search(false), changedMs);
  readonly #off: () => void;

  constructor(parts: FindParts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['turn'], () => this.#open && this.#text !== '' && this.#changed.soon());
  }

  get open(): boolean {
    return this.#open;
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    if (text.trim() === '') this.#clear();
    else this.#typing.soon();
  }

  get matchCase(): boolean {
    return this.#matchCase;
  }

  set matchCase(on: boolean) {
    this.#matchCase = on;
    this.#typing.soon();
  }

  /** Null until loaded. */
  get result(): FindResult | null {
    return this.#result;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** The number of the current match among all, from 1; 0 for none. */
  get position(): number {
    if (!this.#result || this.#at < 0) return 0;
    return this.#result.hits.slice(0, this.#at).reduce((sum, hit) => sum + hit.count, 0) + this.#nth + 1;
  }

  /** Changes each time the field should take the focus. */
  get focusRequests(): number {
    return this.#focusRequests;
  }

  /** What the transcript marks during the search. */
  get marks(): Marks | null {
    if (!this.#open || this.#text.trim() === '') return null;
    return { terms: [this.#text], matchCase: this.#matchCase, turnId: this.#result?.hits[this.#at]?.turnId ?? '', nth: this.#nth, everywhere: true };
  }

  /**
   * The transcript registers how to get the number of the turn at its upper edge, and how it takes the focus. Returns a
   * function that unregisters it.
   */
  follow(where: () => number | null, read: () => void): () => void {
    this.#where = where;
    this.#read = read;
    return () => {
      if (this.#where !== where) return;
      this.#where = () => null;
      this.#read = () => undefined;
    };
  }

  show(text = ''): void {
    if (!this.#open) this.#from = this.#where() ?? 0;
    this.#open = true;
    this.#focusRequests++;
    if (text !== '') this.text = text;
    else if (this.#text !== '' && !this.#result) this.#typing.soon();
  }

  /**
   * Closes the search at the match that was found: it is what the reader looked for. The conversation gets the focus.
   * Returns whether there was anything to close.
   */
  close(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#clear();
    this.#read();
    return true;
  }

  /** Another conversation is shown, so the results no longer apply. */
  moved(): void {
    if (!this.#open) return;
    this.#clear();
    if (this.#text.trim() !== '') this.#typing.soon();
  }

  /** Goes to the next or previous match, wrapping around. */
  async step(delta: 1 | -1): Promise<void> {
    if (!this.#open) return this.show();
    const answered = this.#answeredQuestion;
    await this.#typing.now();
    // Stop if the latest text is still being searched, or if its first match was only now shown.
    if (answered !== this.#answeredQuestion || answered !== this.#question) return;
    const hits = this.#result?.hits ?? [];
    if (hits.length === 0) return;
    this.#nth += delta;
    if (this.#at < 0 || this.#nth < 0 || this.#nth >= hits[this.#at]!.count) {
      this.#at = (Math.max(this.#at, delta > 0 ? -1 : 0) + delta + hits.length) % hits.length;
      this.#nth = delta > 0 ? 0 : hits[this.#at]!.count - 1;
    }
    await this.#visit();
  }

  stop(): void {
    this.#off();
    this.#typing.cancel();
    this.#changed.cancel();
  }

  get #source(): ConversationState | TemporaryConversation {
    return this.#parts.temporary.active ? this.#parts.temporary : this.#parts.conversation;
  }

  get #id(): string {
    return this.#parts.temporary.active ? this.#parts.temporary.id : this.#parts.conversation.branchId;
  }

  get #question(): string {
    return JSON.stringify([this.#id, this.#text, this.#matchCase]);
  }

  #clear(): void {
    this.#serial++;
    this.#answeredQuestion = '';
    this.#typing.cancel();
    this.#changed.cancel();
    this.#result = null;
    this.#error = null;
    this.#at = -1;
    this.#nth = 0;
  }

  /** Typing scrolls to the nearest match; new turns do not scroll. */
  async #search(go: boolean): Promise<void> {
    const { temporary, conversation, backend } = this.#parts;
    const question = this.#question;
    if (this.#text.trim() === '' || (go && this.#result && question === this.#answeredQuestion)) return;
    const serial = ++this.#serial;
    const before = this.#result?.hits[this.#at]?.turnId ?? '';
    try {
      const result = temporary.active
        ? findIn(temporary.turns, this.#text, this.#matchCase)
        : await backend.search.find(conversation.branchId, this.#text, this.#matchCase);
      if (serial !== this.#serial) return;
      this.#answeredQuestion = question;
      this.#error = null;
      this.#result = result;
      if (go) {
        this.#at = this.#nearest(result);
        this.#nth = 0;
        await this.#visit();
      } else this.#stay(before);
    } catch (error) {
      if (serial !== this.#serial) return;
      this.#clear();
      this.#error = toBackendError(error);
    }
  }

  /** The first match at or below the reader's position, otherwise the last one above it. */
  #nearest({ hits }: FindResult): number {
    const seq = this.#where() ?? this.#from;
    const below = hits.findIndex((hit) => hit.seq >= seq);
    return below >= 0 ? below : hits.length - 1;
  }

  #stay(turnId: string): void {
    this.#at = this.#result?.hits.findIndex((hit) => hit.turnId === turnId) ?? -1;
    this.#nth = Math.max(0, Math.min(this.#nth, (this.#result?.hits[this.#at]?.count ?? 1) - 1));
  }

  async #visit(): Promise<void> {
    const marks = this.marks;
    if (marks && marks.turnId !== '') await this.#quietly(this.#source.jumpToFind(marks));
  }

  async #quietly(jump: Promise<void>): Promise<void> {
    try {
      await jump;
    } catch (error) {
      this.#parts.toasts.error(error);
    }
  }
}
