import { tick } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { BranchView, Change, Frame, Header, SessionRow, SessionSnapshot, TurnView } from '$lib/backend/types';
import type { Changes } from './changes';
import type { DraftState } from './draft.svelte';
import type { Marks } from '$lib/find/ranges';
import { isRunning, merge, maxLoaded, pageSize, replace } from './lineage';
import type { LiveTurn } from './live.svelte';
import { earlyFrames, LiveTurns } from './liveTurns.svelte';
import { QueueState } from './queue.svelte';
import { Refresh } from './refresh';

/** Where the transcript should scroll. Each request is a new object, so that a repeated request scrolls again. */
export interface ScrollIntent {
  to: 'end' | 'turn';
  turnId: string;
  /** The text to scroll to within the turn and to mark. */
  marks?: Marks | undefined;
  /** Does not move the focus, because the user continues searching. */
  quiet?: boolean;
}

/** The source of the transcript: a branch of a session, or a temporary chat. */
export type TranscriptSource = Pick<
  ConversationState,
  'turns' | 'newest' | 'hasOlder' | 'hasNewer' | 'prepending' | 'run' | 'intent' | 'written' | 'live' | 'loadOlder' | 'loadNewer' | 'jumpToLatest' | 'jumpToFirst'
>;

/**
 * One branch of the open session: the loaded part of its lineage, the header, and the streaming turns. A snapshot has a
 * revision and already contains all changes up to it.
 */
export class ConversationState {
  /** The conversation is saved to disk. */
  readonly written: boolean = true;
  #session = $state.raw<SessionRow | null>(null);
  #branches = $state.raw<BranchView[]>([]);
  #header = $state.raw<Header | null>(null);
  #turns = $state.raw<readonly TurnView[]>([]);
  #firstSeq = $state(0);
  #lastSeq = $state(0);
  #opening = $state(false);
  #error = $state.raw<BackendError | null>(null);
  #intent = $state.raw<ScrollIntent>({ to: 'end', turnId: '' });
  #prepending = $state(false);
  /** The active branch when the conversation opened, or the one that the reader has seen since. */
  #knownActive = $state('');
  #run = $state(0);
  #rev = 0;
  #serial = 0;
  #requests = 0;
  #jump = 0;
  readonly #navigateListeners: (() => void)[] = [];
  #paging = false;
  readonly #live: LiveTurns;
  /** The messages that wait to be sent. */
  readonly queue: QueueState;
  readonly #dirty = new Set<string>();
  /** Changes that arrived while a snapshot was being read; they may be newer than it. */
  #meanwhile: (() => void)[] = [];
  readonly #backend: Backend;
  readonly #draft: DraftState;
  readonly #offs: (() => void)[];
  readonly #turnRefresh = new Refresh(() => this.#loadDirty(), 16);
  /** Retries a running turn whose fetch failed, since no further change may follow. */
  readonly #retry = new Refresh(() => this.#turnRefresh.now(), 1_000);
  readonly #headerRefresh = new Refresh(() => this.#loadHeader());
  readonly #sessionRefresh = new Refresh(() => this.#loadSession());

  constructor(backend: Backend, changes: Changes, draft: DraftState) {
    this.#backend = backend;
    this.#draft = draft;
    this.#live = new LiveTurns(backend);
    this.queue = new QueueState(backend);
    this.#offs = [
      backend.onFrame((frame) => this.#onFrame(frame)),
      changes.on(['turn', 'call', 'head', 'pins', 'jobs', 'session', 'draft', 'queue', 'settings', 'projects'], (change) => this.#onChange(change)),
    ];
  }

  get session(): SessionRow | null {
    return this.#session;
  }

  get sessionId(): string {
    return this.#session?.id ?? '';
  }

  get branches(): readonly BranchView[] {
    return this.#branches;
  }

  /** Another machine began the newest turn, and finishes it: a message sent here follows the turn before it. */
  get newestIsForeign(): boolean {
    return this.#branches.find((branch) => branch.id === this.newest?.branchId)?.foreign ?? false;
  }

  get branchId(): string {
    return this.#header?.branchId ?? '';
  }

  /** The session's active branch, if it was changed outside this view (by a command, in another window) and is not the open one. */
  get activeElsewhere(): BranchView | null {
    const active = this.#session?.activeBranch ?? '';
    if (this.#opening || active === this.branchId || active === this.#knownActive) return null;
    return this.#branches.find((branch) => branch.id === active) ?? null;
  }

  /** Stays on the open branch: the other one is not reported again. */
  stayHere(): void {
    this.#knownActive = this.#session?.activeBranch ?? '';
  }

  get header(): Header | null {
    return this.#header;
  }

  get model(): string {
    return this.#header?.model ?? '';
  }

  /** The loaded part of the lineage, in order. */
  get turns(): readonly TurnView[] {
    return this.#turns;
  }

  get firstSeq(): number {
    return this.#firstSeq;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The newest turn of the lineage, if it is loaded. */
  get newest(): TurnView | undefined {
    const last = this.#turns.at(-1);
    return last?.seq === this.#lastSeq ? last : undefined;
  }

  get hasOlder(): boolean {
    return this.#turns.length > 0 && this.#turns[0]!.seq > this.#firstSeq;
  }

  get hasNewer(): boolean {
    return this.#turns.length > 0 && this.#turns.at(-1)!.seq < this.#lastSeq;
  }

  /** Turns are being added at the top; the scroll position is then kept relative to the end. */
  get prepending(): boolean {
    return this.#prepending;
  }

  /** Changes when all loaded turns are replaced, so that measured heights are no longer valid. */
  get run(): number {
    return this.#run;
  }

  get opening(): boolean {
    return this.#opening;
  }

  /** Why the session could not be opened. */
  get error(): BackendError | null {
    return this.#error;
  }

  /** The streaming turn, if it streams. */
  live(turnId: string): LiveTurn | undefined {
    return this.#live.get(turnId);
  }

  /** A turn is running, so the next message is queued. */
  get running(): boolean {
    return isRunning(this.newest);
  }

  get intent(): ScrollIntent {
    return this.#intent;
  }

  /** Calls the listener before another branch replaces the open one. */
  onNavigate(listener: () => void): void {
    this.#navigateListeners.push(listener);
  }

  /**
   * For actions that open something at the end: returns a function that reports whether no other conversation was
   * requested since.
   */
  request(): () => boolean {
    const request = ++this.#requests;
    return () => request === this.#requests;
  }

  /** Opens a session at its end. The later of two calls wins, in whichever order the replies arrive. */
  async open(sessionId: string, branchId = ''): Promise<void> {
    const serial = this.#serial + 1;
    try {
      await this.#open(sessionId, branchId);
    } catch (error) {
      if (serial === this.#serial) this.#error = toBackendError(error);
    }
  }

  /** Text that is typed from the call on is for the branch that is being opened, or stays here if that fails. */
  async #open(sessionId: string, branchId: string, prepare?: () => Promise<unknown>): Promise<void> {
    const serial = ++this.#serial;
    this.#requests++;
    this.#opening = true;
    const elsewhere = sessionId !== this.sessionId || (branchId !== '' && branchId !== this.branchId);
    if (elsewhere) for (const listener of this.#navigateListeners) listener();
    try {
      await (elsewhere ? this.#draft.leave() : this.#draft.flush());
      await prepare?.();
      const snapshot = await this.#backend.sessions.open(sessionId, branchId);
      if (serial !== this.#serial) return;
      this.#jump++;
      this.#adopt(snapshot);
      this.#intent = { to: 'end', turnId: '' };
    } catch (error) {
      if (serial === this.#serial) await this.#draft.stay();
      throw error;
    } finally {
      if (serial === this.#serial) this.#opened();
    }
  }

  /** Nothing could be opened, for this reason. The open conversation stays. */
  refused(error: unknown): void {
    if (!this.#session) this.#error = toBackendError(error);
  }

  #opened(): void {
    this.#opening = false;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = [];
    for (const handle of meanwhile) handle();
  }

  /** Switches the session to another of its branches. A conversation opened meanwhile stays open. */
  async switchBranch(branchId: string, sessionId = this.sessionId): Promise<void> {
    await this.#open(sessionId, branchId, () => this.#backend.sessions.switch(sessionId, branchId));
  }

  async loadOlder(): Promise<void> {
    const first = this.#turns[0]?.seq ?? 0;
    if (this.hasOlder) await this.#loadPage(Math.max(this.#firstSeq, first - pageSize), first - 1, true);
  }

  async loadNewer(): Promise<void> {
    const last = this.#turns.at(-1)?.seq ?? 0;
    if (this.hasNewer) await this.#loadPage(last + 1, Math.min(this.#lastSeq, last + pageSize), false);
  }

  /** Scrolls to a turn and marks texts in it; loads the turns around it if they are far from the loaded ones. */
  async jumpTo(turnId: string, highlight: string | readonly string[] = ''): Promise<void> {
    const terms = (typeof highlight === 'string' ? [highlight] : highlight).filter((term) => term.trim() !== '');
    const marks = terms.length > 0 ? { terms, matchCase: false, turnId, nth: 0, everywhere: false } : undefined;
    await this.#go({ to: 'turn', turnId, marks });
  }

  /** Scrolls to a search result while the search continues. */
  async jumpToFind(marks: Marks): Promise<void> {
    await this.#go({ to: 'turn', turnId: marks.turnId, marks, quiet: true });
  }

  /** Scrolls to the turn with that number, or to the nearest one. */
  async jumpToSeq(seq: number): Promise<void> {
    const target = Math.min(this.#lastSeq, Math.max(this.#firstSeq, Math.round(seq)));
    const loaded = this.#turns.find((turn) => turn.seq === target);
    if (loaded) return this.#go({ to: 'turn', turnId: loaded.id });
    const jump = ++this.#jump;
    if (!(await this.#loadAround(target, jump))) return;
    const found = this.#turns.find((turn) => turn.seq >= target) ?? this.#turns.at(-1);
    if (found) this.#intent = { to: 'turn', turnId: found.id };
  }

  async jumpToFirst(): Promise<void> {
    await this.jumpToSeq(this.#firstSeq);
  }

  /** Returns to the newest turn from anywhere. */
  async jumpToLatest(): Promise<void> {
    const jump = ++this.#jump;
    if (this.hasNewer && !(await this.#loadRun(Math.max(this.#firstSeq, this.#lastSeq - pageSize + 1), this.#lastSeq, jump))) return;
    this.#intent = { to: 'end', turnId: '' };
  }

  /** Reads the turn with a number without showing it, to find a day. */
  async turnAt(seq: number): Promise<TurnView | undefined> {
    return this.#turns.find((turn) => turn.seq === seq) ?? (await this.#backend.sessions.turns(this.branchId, seq, seq)).turns[0];
  }

  /** The later of two jumps wins, in whichever order the replies arrive. */
  async #go(intent: ScrollIntent): Promise<void> {
    const jump = ++this.#jump;
    if (!this.#turns.some((turn) => turn.id === intent.turnId)) {
      const turn = await this.#backend.sessions.turn(this.branchId, intent.turnId);
      if (jump !== this.#jump || !(await this.#loadAround(turn.seq, jump))) return;
    }
    this.#intent = intent;
  }

  #loadAround(seq: number, jump: number): Promise<boolean> {
    return this.#loadRun(Math.max(this.#firstSeq, seq - pageSize / 2), seq + pageSize / 2, jump);
  }

  /** Replaces the loaded turns by these. False: the user has gone elsewhere meanwhile. */
  async #loadRun(from: number, to: number, jump: number): Promise<boolean> {
    const branchId = this.branchId;
    const page = await this.#backend.sessions.turns(branchId, from, to);
    if (branchId !== this.branchId || jump !== this.#jump) return false;
    this.#replaceRun(page.turns);
    return true;
  }

  /** Reads a turn after an action on it, without waiting for its change event. */
  async refreshTurn(turnId: string): Promise<void> {
    this.#dirty.add(turnId);
    await this.#turnRefresh.now();
    this.#headerRefresh.soon();
  }

  /** Reads everything on screen again. */
  readAgain(): void {
    for (const turn of this.#turns) this.#dirty.add(turn.id);
    this.#turnRefresh.soon();
    this.#headerRefresh.soon();
  }

  refreshHeader(): void {
    this.#headerRefresh.soon();
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#live.stop();
    this.#turnRefresh.cancel();
    this.#retry.cancel();
    this.#headerRefresh.cancel();
    this.#sessionRefresh.cancel();
  }

  #adopt(snapshot: SessionSnapshot): void {
    if (snapshot.header.branchId !== this.branchId) this.#live.forgetEarly();
    this.#rev = snapshot.rev;
    this.#error = null;
    this.#session = snapshot.session;
    this.#knownActive = snapshot.session.activeBranch;
    this.#branches = snapshot.branches;
    this.#header = snapshot.header;
    this.#firstSeq = snapshot.firstSeq;
    this.#lastSeq = snapshot.lastSeq;
    this.#dirty.clear();
    this.#replaceRun(snapshot.turns);
    this.queue.load(snapshot.header.branchId, snapshot.queue);
    void this.#draft.load(snapshot.header.branchId, snapshot.draft);
  }

  #replaceRun(turns: readonly TurnView[]): void {
    this.#run++;
    this.#setTurns(turns);
  }

  #setTurns(turns: readonly TurnView[]): void {
    this.#turns = turns;
    this.#live.keep(turns);
  }

  #onFrame(frame: Frame): void {
    if (this.#opening && this.#meanwhile.length < earlyFrames) this.#meanwhile.push(() => this.#onFrame(frame));
    if (frame.branch !== this.branchId) return;
    if (this.#live.accept(frame) || this.hasNewer) return; // far from the end the turn's change event is enough
    this.#dirty.add(frame.turn);
    this.#turnRefresh.soon();
  }

  #onChange(change: Change): void {
    if (change.kind === 'settings' || change.kind === 'projects') return this.#headerRefresh.soon();
    if (change.kind === 'jobs') return;
    if (this.#opening) this.#meanwhile.push(() => this.#onChange(change));
    if (change.session !== this.sessionId || change.rev <= this.#rev) return;
    switch (change.kind) {
      case 'turn':
        this.#dirty.add(change.id);
        this.#turnRefresh.soon();
        break;
      case 'call': {
        // An unknown call belongs to the running turn.
        const turn = this.#turns.find(({ calls }) => calls.some((call) => call.id === change.id)) ?? this.newest;
        if (turn) this.#dirty.add(turn.id);
        this.#turnRefresh.soon();
        return;
      }
      case 'head':
        for (const turn of this.#turns) if (turn.state === 'pending' || turn.state === 'head') this.#dirty.add(turn.id);
        this.#turnRefresh.soon();
        break;
      case 'session':
        this.#sessionRefresh.soon();
        break;
      case 'draft':
        void this.#draft.reload(change.id).catch(() => undefined);
        break;
      case 'queue':
        void this.queue.reload(change.id);
        return;
    }
    this.#headerRefresh.soon();
  }

  async #loadPage(from: number, to: number, before: boolean): Promise<void> {
    if (this.#paging) return;
    this.#paging = true;
    const { branchId, run } = this;
    try {
      const page = await this.#backend.sessions.turns(branchId, from, to);
      if (branchId !== this.branchId || run !== this.run) return;
      this.#prepending = before;
      this.#setTurns(merge(this.#turns, page.turns));
      await tick();
      await this.#dropFar(before);
    } finally {
      this.#prepending = false;
      this.#paging = false;
    }
  }

  /** Unloads the turns farthest from the reader, so that a long history is never in memory completely. */
  async #dropFar(fromEnd: boolean): Promise<void> {
    const excess = this.#turns.length - maxLoaded;
    if (excess <= 0 || (fromEnd && this.running)) return; // streaming turns stay loaded
    this.#prepending = !fromEnd;
    this.#setTurns(fromEnd ? this.#turns.slice(0, maxLoaded) : this.#turns.slice(excess));
    await tick();
  }

  async #loadDirty(): Promise<void> {
    const branchId = this.branchId;
    const ids = [...this.#dirty];
    this.#dirty.clear();
    const known = ids.filter((id) => this.#turns.some((turn) => turn.id === id));
    await Promise.all(known.map((id) => this.#loadTurn(branchId, id)));
    if (known.length < ids.length) await this.#loadNewTurns(branchId);
  }

  async #loadTurn(branchId: string, turnId: string): Promise<void> {
    const { run } = this;
    try {
      const turn = await this.#backend.sessions.turn(branchId, turnId);
      if (branchId !== this.branchId) return;
      if (run !== this.run) return this.#reloadTurn(turnId);
      this.#turns = replace(this.#turns, turn);
      this.#live.follow(turn);
    } catch {
      // The displayed turn stays. Its next change reads it again, and a timer does until it has ended.
      if (!isRunning(this.#turns.find(({ id }) => id === turnId))) return;
      this.#dirty.add(turnId);
      this.#retry.soon();
    }
  }

  /** Turns loaded meanwhile may be newer or older than this reply. */
  #reloadTurn(turnId: string): void {
    this.#dirty.add(turnId);
    this.#turnRefresh.soon();
  }

  /** New turns at the end of the lineage. While the reader is far from the end, only the count changes. */
  async #loadNewTurns(branchId: string): Promise<void> {
    try {
      const page = await this.#backend.sessions.turns(branchId, this.#lastSeq + 1, this.#lastSeq + pageSize);
      if (branchId !== this.branchId || page.turns.length === 0) return;
      const atEnd = !this.hasNewer;
      this.#lastSeq = page.turns.at(-1)!.seq;
      if (this.#firstSeq === 0) this.#firstSeq = page.turns[0]!.seq;
      if (atEnd) this.#setTurns(merge(this.#turns, page.turns));
    } catch {
      // The next change reads them again.
    }
  }

  async #loadHeader(): Promise<void> {
    const branchId = this.branchId;
    if (branchId === '') return;
    try {
      const header = await this.#backend.sessions.header(branchId, '');
      if (branchId === this.branchId) this.#header = header;
    } catch {
      // The old numbers stay until the next change.
    }
  }

  /** Reads titles and branches again without touching the transcript: a turn changes the numbers of its branch, which nothing announces. */
  refreshSession(): void {
    this.#sessionRefresh.soon();
  }

  async #loadSession(): Promise<void> {
    const { sessionId, branchId } = this;
    try {
      const snapshot = await this.#backend.sessions.open(sessionId, branchId);
      if (sessionId !== this.sessionId || branchId !== this.branchId) return;
      this.#session = snapshot.session;
      this.#branches = snapshot.branches; // but not its header, since a newer one may have arrived
      if (snapshot.session.activeBranch === branchId) this.#knownActive = branchId;
      this.#headerRefresh.soon();
    } catch {
      // The next change reads them again.
    }
  }
}
