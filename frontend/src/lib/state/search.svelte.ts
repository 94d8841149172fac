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

/** The filters of a search. Times are Unix ms; 0 and "" mean no filter. */
export interface SearchFilter extends Pick<SearchQuery, 'role' | 'since' | 'until' | 'archived' | 'meaning'> {
  /** Only in the open session. */
  here: boolean;
}

const unfiltered: SearchFilter = { here: false, role: '', since: 0, until: 0, archived: false, meaning: true };
/** The delay between the last key and the search. */
const pauseMs = 160;

/** The global search: the query, the results, and the current one. It stays unchanged while the user opens a result. */
export class SearchState {
  #text = $state('');
  #filter = $state.raw<SearchFilter>(unfiltered);
  #result = $state.raw<SearchResult | null>(null);
  /** Groups whose results were all requested. */
  #fullGroups = $state.raw<ReadonlyMap<string, SearchGroup>>(new Map());
  #error = $state.raw<BackendError | null>(null);
  #searching = $state(false);
  /** A search is running, or about to. */
  #asking = false;
  #focusRequests = $state(0);
  #active = $state('');
  /** The active line was chosen with the keyboard: it stays active in new results that contain it. */
  #chosen = false;
  #opened = $state('');
  /** The session that the results are limited to; empty: all sessions. */
  #in = '';
  /** Identifies the current query; replies to earlier ones are dropped. */
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

  narrow(change: Partial<SearchFilter>): void {
    this.#filter = { ...this.#filter, ...change };
    this.#later(0);
  }

  /** The number of active filters, not counting where and how to search. */
  get narrowed(): number {
    const { role, since, until, archived } = this.#filter;
    return [role !== '', since > 0, until > 0, archived].filter(Boolean).length;
  }

  widen(): void {
    const { here, meaning } = this.#filter;
    this.narrow({ ...unfiltered, here, meaning });
  }

  /** The latest results; null before the first search. */
  get result(): SearchResult | null {
    return this.#result;
  }

  get groups(): readonly SearchGroup[] {
    return (this.#result?.groups ?? []).map((group) => this.#fullGroups.get(group.sessionId) ?? group);
  }

  get error(): BackendError | null {
    return this.#error;
  }

  get searching(): boolean {
    return this.#searching;
  }

  /** The id of the line that Enter opens. */
  get active(): string {
    return this.#active;
  }

  set active(line: string) {
    this.#active = line;
    this.#chosen = true;
  }

  /** The pointer is on a line: it is active until there are new results. */
  hover(line: string): void {
    this.#active = line;
    this.#chosen = false;
  }

  /** The id of the line of the result opened last. */
  get opened(): string {
    return this.#opened;
  }

  /** Changes each time the field should take the focus. */
  get focusRequests(): number {
    return this.#focusRequests;
  }

  /** Opens the search, with the given text or as it was left. */
  show(text?: string): void {
    this.#parts.branches.closeFullView();
    this.#parts.layout.openPanel('search');
    if (text !== undefined) this.text = text;
    if (!this.#result && !this.#asking && this.#text.trim() !== '') this.#later(0);
    this.#focusRequests++;
  }

  close(): void {
    this.#parts.layout.closePanel();
  }

  /** Results may have been deleted: the search runs again when it is visible. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#serial++;
    this.#result = null;
    this.#fullGroups = new Map();
    this.#error = null;
    this.#searching = this.#asking = false;
    if (this.#parts.layout.searching && this.#text.trim() !== '') this.#later(0);
  }

  /** Another session may be open: results limited to the previous one no longer apply. */
  moved(): void {
    if (this.#filter.here && this.#in !== this.#parts.conversation.sessionId) this.forget();
  }

  /** Searches now. */
  async run(): Promise<void> {
    clearTimeout(this.#timer);
    const serial = ++this.#serial;
    const query = this.#query();
    if (query.text === '') {
      this.#result = null;
      this.#error = null;
      this.#searching = this.#asking = false;
      this.#fullGroups = new Map();
      return;
    }
    this.#searching = this.#asking = true;
    try {
      const result = await this.#parts.backend.search.everything(query);
      if (serial !== this.#serial) return;
      this.#result = result;
      this.#in = query.sessionId;
      this.#fullGroups = new Map();
      this.#error = null;
      if (!this.#chosen) this.#active = '';
      this.#opened = '';
    } catch (error) {
      if (serial === this.#serial) this.#error = toBackendError(error);
    } finally {
      if (serial === this.#serial) this.#searching = this.#asking = false;
    }
  }

  /** Loads all results of a session, replacing its first few. */
  async more(group: SearchGroup): Promise<void> {
    if (this.#asking) return; // the group belongs to an older query
    const serial = this.#serial;
    this.#searching = true;
    try {
      const { groups } = await this.#parts.backend.search.everything({ ...this.#query(), sessionId: group.sessionId });
      const all = groups.find((candidate) => candidate.sessionId === group.sessionId);
      if (serial === this.#serial && all) this.#fullGroups = new Map(this.#fullGroups).set(group.sessionId, all);
    } catch (error) {
      // If another group was opened meanwhile, this one can be opened again.
      if (serial === this.#serial && toBackendError(error).code !== 'cancelled') this.#parts.toasts.error(error);
    } finally {
      if (serial === this.#serial) this.#searching = false;
    }
  }

  /**
   * Opens a result in its branch and marks it, or the session at its end if there is no result. Returns whether it was
   * opened.
   */
  async open(line: string, group: SearchGroup, hit?: SearchHit): Promise<boolean> {
    const { branches, conversation, toasts } = this.#parts;
    this.#opened = line;
    try {
      if (!(await this.#parts.navigation.leaveTemporary())) return false;
      this.#parts.layout.closeSettings();
      branches.closeFullView();
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

  /** From here on, outstanding replies belong to an older query. */
  #later(ms: number): void {
    this.#serial++;
    this.#searching = this.#asking = this.#text.trim() !== '';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.run(), this.#searching ? ms : 0);
  }
}

/** The distinct matched words of a result as they are written, to be marked in its turn. */
export function wordsOf(hit: Pick<SearchHit, 'snippet' | 'marks'>): string[] {
  return [...new Set(hit.marks.map(({ from, to }) => hit.snippet.slice(from, to)))];
}
