import { tick } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { BranchView, Change, Frame, Header, SessionRow, SessionSnapshot, TurnView } from '$lib/backend/types';
import type { Changes } from './changes';
import type { DraftState } from './draft.svelte';
import type { Marks } from '$lib/find/ranges';
import { isRunning, merge, mostLoaded, pageSize, replace } from './lineage';
import { LiveTurn } from './live.svelte';
import { Refresh } from './refresh';

/** Where the transcript is asked to go. A new object each time, so that asking twice scrolls twice. */
export interface ScrollIntent {
  /** place: the turn as it stood, `top` pixels under the upper edge. */
  to: 'end' | 'turn' | 'place';
  turnId: string;
  top?: number;
  /** What to bring into view within the turn, and to mark. */
  marks?: Marks | undefined;
  /** The focus stays where it is: one continues looking. */
  quiet?: boolean;
}

/** Where the reader is. */
export interface Place {
  turnId: string;
  seq: number;
  top: number;
  atEnd: boolean;
}

/** What the transcript draws: a session's branch, or a chat that is not kept. */
export type TranscriptSource = Pick<
  ConversationState,
  'turns' | 'newest' | 'hasOlder' | 'hasNewer' | 'prepending' | 'run' | 'intent' | 'written' | 'live' | 'loadOlder' | 'loadNewer' | 'jumpToLatest' | 'jumpToFirst'
>;

/** Frames kept for a turn the window has not heard of yet; the rest is fetched with the turn. */
const earlyFrames = 256;

/**
 * The open session, at one branch: a loaded run of its lineage, the header, and what streams. A snapshot is true for
 * a revision; changes at or below it are already in it.
 */
export class ConversationState {
  /** What is shown goes to disk. */
  readonly written: boolean = true;
  #session = $state.raw<SessionRow | null>(null);
  #branches = $state.raw<BranchView[]>([]);
  #header = $state.raw<Header | null>(null);
  #turns = $state.raw<readonly TurnView[]>([]);
  #live = $state.raw<ReadonlyMap<string, LiveTurn>>(new Map());
  #firstSeq = $state(0);
  #lastSeq = $state(0);
  #opening = $state(false);
  #error = $state.raw<BackendError | null>(null);
  #intent = $state.raw<ScrollIntent>({ to: 'end', turnId: '' });
  #prepending = $state(false);
  #run = $state(0);
  #rev = 0;
  #serial = 0;
  #wishes = 0;
  #jump = 0;
  readonly #leaving: (() => void)[] = [];
  #paging = false;
  readonly #early = new Map<string, Frame[]>();
  readonly #dirty = new Set<string>();
  /** What arrived while a snapshot was on its way: it may be newer than that. */
  #meanwhile: (() => void)[] = [];
  readonly #backend: Backend;
  readonly #draft: DraftState;
  readonly #offs: (() => void)[];
  readonly #turnRefresh = new Refresh(() => this.#loadDirty(), 16);
  /** Asks once more for a running turn whose fetch failed: its last change may be what was missed. */
  readonly #retry = new Refresh(() => this.#turnRefresh.now(), 1_000);
  readonly #headerRefresh = new Refresh(() => this.#loadHeader());
  readonly #sessionRefresh = new Refresh(() => this.#loadSession());

  constructor(backend: Backend, changes: Changes, draft: DraftState) {
    this.#backend = backend;
    this.#draft = draft;
    this.#offs = [
      backend.onFrame((frame) => this.#onFrame(frame)),
      changes.on(['turn', 'call', 'head', 'pins', 'jobs', 'session', 'draft', 'settings', 'projects'], (change) => this.#onChange(change)),
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

  get branchId(): string {
    return this.#header?.branchId ?? '';
  }

  get header(): Header | null {
    return this.#header;
  }

  get model(): string {
    return this.#header?.model ?? '';
  }

  /** What is loaded of the lineage, in order. */
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

  /** Turns are being added before those that are drawn: the scroll position is then kept from the end. */
  get prepending(): boolean {
    return this.#prepending;
  }

  /** Moves when what is loaded was replaced as a whole, so that nothing measured before holds any more. */
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

  /** The turn as it streams, if it does. */
  live(turnId: string): LiveTurn | undefined {
    return this.#live.get(turnId);
  }

  /** A turn is on its way, so the next message is queued. */
  get running(): boolean {
    return isRunning(this.newest);
  }

  get intent(): ScrollIntent {
    return this.#intent;
  }

  /** Tells before another branch takes the place of the open one. */
  onNavigate(told: () => void): void {
    this.#leaving.push(told);
  }

  /** For an act that opens something when it is done: says whether nothing else was asked for since. */
  wish(): () => boolean {
    const wish = ++this.#wishes;
    return () => wish === this.#wishes;
  }

  /** Opens a session at its end. Of two calls the later one wins, whichever answer comes first. */
  async open(sessionId: string, branchId = ''): Promise<void> {
    const serial = ++this.#serial;
    this.#wishes++;
    this.#opening = true;
    const elsewhere = sessionId !== this.sessionId || (branchId !== '' && branchId !== this.branchId);
    if (elsewhere) for (const told of this.#leaving) told();
    try {
      await (elsewhere ? this.#draft.leave() : this.#draft.flush());
      const snapshot = await this.#backend.sessions.open(sessionId, branchId);
      if (serial !== this.#serial) return;
      this.#jump++;
      this.#adopt(snapshot);
      this.#intent = { to: 'end', turnId: '' };
    } catch (error) {
      if (serial !== this.#serial) return;
      this.#error = toBackendError(error);
      await this.#draft.stay();
    } finally {
      if (serial === this.#serial) this.#opened();
    }
  }

  /** There is nothing to show, and why. What is open stays. */
  refused(error: unknown): void {
    if (!this.#session) this.#error = toBackendError(error);
  }

  #opened(): void {
    this.#opening = false;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = [];
    for (const again of meanwhile) again();
  }

  /** Switches the session to another of its branches. What was opened meanwhile stays open. */
  async switchBranch(branchId: string, sessionId = this.sessionId): Promise<void> {
    const still = this.wish();
    await this.#backend.sessions.switch(sessionId, branchId);
    if (still()) await this.open(sessionId, branchId);
  }

  async loadOlder(): Promise<void> {
    const first = this.#turns[0]?.seq ?? 0;
    if (this.hasOlder) await this.#loadPage(Math.max(this.#firstSeq, first - pageSize), first - 1, true);
  }

  async loadNewer(): Promise<void> {
    const last = this.#turns.at(-1)?.seq ?? 0;
    if (this.hasNewer) await this.#loadPage(last + 1, Math.min(this.#lastSeq, last + pageSize), false);
  }

  /** Brings a turn into view, with texts marked in it; loads its surroundings if they are far from what is loaded. */
  async jumpTo(turnId: string, highlight: string | readonly string[] = ''): Promise<void> {
    const terms = (typeof highlight === 'string' ? [highlight] : highlight).filter((term) => term.trim() !== '');
    const marks = terms.length > 0 ? { terms, matchCase: false, turnId, nth: 0, everywhere: false } : undefined;
    await this.#go({ to: 'turn', turnId, marks });
  }

  /** Brings a find into view while one continues looking. */
  async jumpToFind(marks: Marks): Promise<void> {
    await this.#go({ to: 'turn', turnId: marks.turnId, marks, quiet: true });
  }

  /** To the turn of that number, or the next there is. */
  async jumpToSeq(seq: number): Promise<void> {
    const wanted = Math.min(this.#lastSeq, Math.max(this.#firstSeq, Math.round(seq)));
    const loaded = this.#turns.find((turn) => turn.seq === wanted);
    if (loaded) return this.#go({ to: 'turn', turnId: loaded.id });
    const jump = ++this.#jump;
    if (!(await this.#loadAround(wanted, jump))) return;
    const found = this.#turns.find((turn) => turn.seq >= wanted) ?? this.#turns.at(-1);
    if (found) this.#intent = { to: 'turn', turnId: found.id };
  }

  async jumpToFirst(): Promise<void> {
    await this.jumpToSeq(this.#firstSeq);
  }

  /** Back to where the reader was. */
  async returnTo(place: Place): Promise<void> {
    if (place.atEnd) await this.jumpToLatest();
    else await this.#go({ to: 'place', turnId: place.turnId, top: place.top, quiet: true });
  }

  /** Back to the newest turn, from wherever the reader was. */
  async jumpToLatest(): Promise<void> {
    const jump = ++this.#jump;
    if (this.hasNewer && !(await this.#loadRun(Math.max(this.#firstSeq, this.#lastSeq - pageSize + 1), this.#lastSeq, jump))) return;
    this.#intent = { to: 'end', turnId: '' };
  }

  /** The turns at a number and their days, without showing them: for finding a day. */
  async turnAt(seq: number): Promise<TurnView | undefined> {
    return this.#turns.find((turn) => turn.seq === seq) ?? (await this.#backend.sessions.turns(this.branchId, seq, seq)).turns[0];
  }

  /** Of two jumps the later one wins, whichever answer comes first. */
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

  /** Shows these turns instead of those that are loaded. False: one has gone elsewhere meanwhile. */
  async #loadRun(from: number, to: number, jump: number): Promise<boolean> {
    const branchId = this.branchId;
    const page = await this.#backend.sessions.turns(branchId, from, to);
    if (branchId !== this.branchId || jump !== this.#jump) return false;
    this.#replaceRun(page.turns);
    return true;
  }

  /** Something was done to a turn: look at it at once, without waiting for its change event. */
  async refreshTurn(turnId: string): Promise<void> {
    this.#dirty.add(turnId);
    await this.#turnRefresh.now();
    this.#headerRefresh.soon();
  }

  /** Looks at all that is shown once more. */
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
    for (const live of this.#live.values()) live.stop();
    this.#turnRefresh.cancel();
    this.#retry.cancel();
    this.#headerRefresh.cancel();
    this.#sessionRefresh.cancel();
  }

  #adopt(snapshot: SessionSnapshot): void {
    if (snapshot.header.branchId !== this.branchId) this.#early.clear();
    this.#rev = snapshot.rev;
    this.#error = null;
    this.#session = snapshot.session;
    this.#branches = snapshot.branches;
    this.#header = snapshot.header;
    this.#firstSeq = snapshot.firstSeq;
    this.#lastSeq = snapshot.lastSeq;
    this.#dirty.clear();
    this.#replaceRun(snapshot.turns);
    void this.#draft.load(snapshot.header.branchId, snapshot.draft);
  }

  #replaceRun(turns: readonly TurnView[]): void {
    this.#run++;
    this.#setTurns(turns);
  }

  #setTurns(turns: readonly TurnView[]): void {
    this.#turns = turns;
    const kept = new Set(turns.map((turn) => turn.id));
    const live = new Map([...this.#live].filter(([id]) => kept.has(id)));
    for (const [id, gone] of this.#live) if (!kept.has(id)) gone.stop();
    this.#live = live;
    for (const turn of turns) this.#follow(turn);
  }

  /** Starts, moves or ends the live view of a turn. */
  #follow(turn: TurnView): void {
    const known = this.#live.get(turn.id);
    if (!turn.live || turn.liveStep === '') {
      if (!known) return;
      known.stop();
      this.#live = new Map([...this.#live].filter(([id]) => id !== turn.id));
      return;
    }
    if (known) known.adopt(turn);
    else this.#live = new Map(this.#live).set(turn.id, new LiveTurn(this.#backend.chat, turn));
    for (const frame of this.#early.get(turn.id) ?? []) this.#live.get(turn.id)?.accept(frame);
    this.#early.delete(turn.id);
  }

  #onFrame(frame: Frame): void {
    if (this.#opening && this.#meanwhile.length < earlyFrames) this.#meanwhile.push(() => this.#onFrame(frame));
    if (frame.branch !== this.branchId) return;
    const live = this.#live.get(frame.turn);
    if (live?.step === frame.step) {
      live.accept(frame);
      return;
    }
    // A step the window has not heard of: a new turn, a new attempt, or the end of one left behind.
    const early = this.#early.get(frame.turn) ?? [];
    if (early.length < earlyFrames) this.#early.set(frame.turn, [...early, frame]);
    if (this.hasNewer) return; // the reader is far above: the turn's own change tells of it
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
        // One that is not known yet belongs to the turn that runs.
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

  /** Lets go of what is farthest from where the reader goes, so that a long history never lies in memory as a whole. */
  async #dropFar(fromEnd: boolean): Promise<void> {
    const over = this.#turns.length - mostLoaded;
    if (over <= 0 || (fromEnd && this.running)) return; // what streams is kept at hand
    this.#prepending = !fromEnd;
    this.#setTurns(fromEnd ? this.#turns.slice(0, mostLoaded) : this.#turns.slice(over));
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
      if (run !== this.run) return this.#lookAgain(turnId);
      this.#turns = replace(this.#turns, turn);
      this.#follow(turn);
    } catch {
      // What is shown stays; the next change of this turn asks again, and until it has ended so does a timer.
      if (!isRunning(this.#turns.find(({ id }) => id === turnId))) return;
      this.#dirty.add(turnId);
      this.#retry.soon();
    }
  }

  /** What was loaded meanwhile may be newer than this answer, or older. */
  #lookAgain(turnId: string): void {
    this.#dirty.add(turnId);
    this.#turnRefresh.soon();
  }

  /** Turns that appeared at the end of the lineage. While the reader is far above, only the count moves. */
  async #loadNewTurns(branchId: string): Promise<void> {
    try {
      const page = await this.#backend.sessions.turns(branchId, this.#lastSeq + 1, this.#lastSeq + pageSize);
      if (branchId !== this.branchId || page.turns.length === 0) return;
      const atEnd = !this.hasNewer;
      this.#lastSeq = page.turns.at(-1)!.seq;
      if (this.#firstSeq === 0) this.#firstSeq = page.turns[0]!.seq;
      if (atEnd) this.#setTurns(merge(this.#turns, page.turns));
    } catch {
      // The next change asks again.
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

  /** Titles and branches, without touching what is being read. */
  async #loadSession(): Promise<void> {
    const { sessionId, branchId } = this;
    try {
      const snapshot = await this.#backend.sessions.open(sessionId, branchId);
      if (sessionId !== this.sessionId || branchId !== this.branchId) return;
      this.#session = snapshot.session;
      this.#branches = snapshot.branches; // and not its header: a newer one may have come meanwhile
      this.#headerRefresh.soon();
    } catch {
      // As above.
    }
  }
}
