import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { SearchGroup, SearchHit, SearchQuery, SearchResult } from '$lib/backend/types';
import type { BranchesState } from './branches.svelte';
import type { ConversationState } from './conversation.svelte';
import type { LayoutState } from './layout.svelte';
import type { Navigation } from './navigation.svelte';
import type { ToastsState } from './toasts.svelte';

export interface SearchParts {
  backend: Backend;
  branches: BranchesState;
  conversation: ConversationState;
  layout: LayoutState;
  toasts: ToastsState;
  navigation: Navigation;
}

/** What a search is narrowed by. Moments are Unix ms, 0 and "" do not filter. */
export interface SearchFilter extends Pick<SearchQuery, 'role' | 'since' | 'until' | 'archived' | 'meaning'> {
  /** In the open session alone. */
  here: boolean;
}

const unfiltered: SearchFilter = { here: false, role: '', since: 0, until: 0, archived: false, meaning: true };
/** Between the last key and the question. */
const pauseMs = 160;

/** The search of everything: what is asked, what was found, and which find one is at. It stays as it is while one looks at a find. */
export class SearchState {
  #text = $state('');
  #filter = $state.raw<SearchFilter>(unfiltered);
  #result = $state.raw<SearchResult | null>(null);
  /** Groups of which all finds were asked for. */
  #whole = $state.raw<ReadonlyMap<string, SearchGroup>>(new Map());
  #error = $state.raw<BackendError | null>(null);
  #searching = $state(false);
  /** A question is on its way, or about to be. */
  #asking = false;
  #focusAsked = $state(0);
  #active = $state('');
  #opened = $state('');
  /** The session the result is of; empty: of all. */
  #in = '';
  /** Which question the answers on their way belong to: stale ones are dropped. */
  #serial = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #parts: SearchParts;

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    if (text === this.#text) return;
    this.#text = text;
    this.#later(pauseMs);
  }

  get filter(): SearchFilter {
    return this.#filter;
  }

  narrow(by: Partial<SearchFilter>): void {
    this.#filter = { ...this.#filter, ...by };
    this.#later(0);
  }

  /** How much is narrowed beside where and how is searched. */
  get narrowed(): number {
    const { role, since, until, archived } = this.#filter;
    return [role !== '', since > 0, until > 0, archived].filter(Boolean).length;
  }

  widen(): void {
    const { here, meaning } = this.#filter;
    this.narrow({ ...unfiltered, here, meaning });
  }

  /** What the last question found; null before the first. */
  get result(): SearchResult | null {
    return this.#result;
  }

  get groups(): readonly SearchGroup[] {
    return (this.#result?.groups ?? []).map((group) => this.#whole.get(group.sessionId) ?? group);
  }

  get error(): BackendError | null {
    return this.#error;
  }

  get searching(): boolean {
    return this.#searching;
  }

  /** The line that Enter opens, by its id. */
  get active(): string {
    return this.#active;
  }

  set active(line: string) {
    this.#active = line;
  }

  /** The find one looked at last, by the id of its line. */
  get opened(): string {
    return this.#opened;
  }

  /** Moves each time the field is asked to take the focus. */
  get focusAsked(): number {
    return this.#focusAsked;
  }

  /** Opens the search, with a text if one is given, or as it was left. */
  show(text?: string): void {
    this.#parts.branches.closeWide();
    this.#parts.layout.openSearch();
    if (text !== undefined) this.text = text;
    if (!this.#result && !this.#asking && this.#text.trim() !== '') this.#later(0);
    this.#focusAsked++;
  }

  close(): void {
    this.#parts.layout.closeSearch();
  }

  /** What was found may be gone: it is looked for again, when one looks. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#serial++;
    this.#result = null;
    this.#whole = new Map();
    this.#error = null;
    this.#searching = this.#asking = false;
    if (this.#parts.layout.searching && this.#text.trim() !== '') this.#later(0);
  }

  /** Another session may be open: what was found in the one before is not in it. */
  moved(): void {
    if (this.#filter.here && this.#in !== this.#parts.conversation.sessionId) this.forget();
  }

  /** Asks now. */
  async run(): Promise<void> {
    clearTimeout(this.#timer);
    const serial = ++this.#serial;
    const query = this.#query();
    if (query.text === '') {
      this.#result = null;
      this.#error = null;
      this.#searching = this.#asking = false;
      this.#whole = new Map();
      return;
    }
    this.#searching = this.#asking = true;
    try {
      const result = await this.#parts.backend.search.everything(query);
      if (serial !== this.#serial) return;
      this.#result = result;
      this.#in = query.sessionId;
      this.#whole = new Map();
      this.#error = null;
      this.#active = '';
      this.#opened = '';
    } catch (error) {
      if (serial === this.#serial) this.#error = toBackendError(error);
    } finally {
      if (serial === this.#serial) this.#searching = this.#asking = false;
    }
  }

  /** Brings the other finds of a session, in place of its first few. */
  async more(group: SearchGroup): Promise<void> {
    if (this.#asking) return; // that group answers an older question
    const serial = this.#serial;
    this.#searching = true;
    try {
      const { groups } = await this.#parts.backend.search.everything({ ...this.#query(), sessionId: group.sessionId });
      const all = groups.find((candidate) => candidate.sessionId === group.sessionId);
      if (serial === this.#serial && all) this.#whole = new Map(this.#whole).set(group.sessionId, all);
    } catch (error) {
      // Another group was opened before this one came: it can be opened again.
      if (serial === this.#serial && toBackendError(error).code !== 'cancelled') this.#parts.toasts.error(error);
    } finally {
      if (serial === this.#serial) this.#searching = false;
    }
  }

  /** Shows a find in its branch, marked; without one the session at its end. Says whether it came to that. */
  async open(line: string, group: SearchGroup, hit?: SearchHit): Promise<boolean> {
    const { branches, conversation, toasts } = this.#parts;
    this.#opened = line;
    try {
      if (!(await this.#parts.navigation.leaveTemporary())) return false;
      this.#parts.layout.closeSettings();
      branches.closeWide();
      if (group.sessionId !== conversation.sessionId) await this.#parts.navigation.openSession(group.sessionId, hit?.branchId ?? '');
      else if (hit && hit.branchId !== conversation.branchId) await branches.open(hit.branchId);
      if (!hit || conversation.branchId !== hit.branchId) return conversation.sessionId === group.sessionId && !hit;
      await conversation.jumpTo(hit.turnId, wordsOf(hit));
      return true;
    } catch (error) {
      toasts.error(error);
      return false;
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#serial++;
  }

  #query(): SearchQuery {
    const { here, ...filter } = this.#filter;
    return { ...filter, text: this.#text.trim(), sessionId: here ? this.#parts.conversation.sessionId : '', limit: 0 };
  }

  /** What is on its way answers an older question from here on. */
  #later(ms: number): void {
    this.#serial++;
    this.#searching = this.#asking = this.#text.trim() !== '';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.run(), this.#searching ? ms : 0);
  }
}

/** The words of a find, as they are there, each once: what is marked in its turn. */
export function wordsOf(hit: Pick<SearchHit, 'snippet' | 'marks'>): string[] {
  return [...new Set(hit.marks.map(({ from, to }) => hit.snippet.slice(from, to)))];
}
