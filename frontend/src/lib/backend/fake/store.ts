/** The data of the fake program: sessions, branches and turns, and the notifications when they change. */
import type { BranchView, Change, ChangeKind, Draft, Frame, Header, JobView, PinSuggestion, PinView, QueueView, RangeView, ImportedInstructions, SessionRow, SessionSettings, SessionSnapshot, SessionStatus, StateView, TurnView } from '../types';
import { queueView } from './queue';
import { branchView, emptyDraft, errorView, sessionRow, turnView } from './shapes';
import { BackendError } from '../errors';
import type { FakeProject } from './projects';

export interface FakeBranch {
  view: BranchView;
  sessionId: string;
  createdAt: number;
  /** Its own turns; those before forkSeq are its parent's. */
  turns: TurnView[];
  draft: Draft;
  /** Messages that wait to be sent, and why they are not sent automatically. */
  queue: { id: string; message: Draft }[];
  held: QueueView['held'];
  /** Why the first one was refused. */
  refused: QueueView['error'];
  pins: PinView[];
  suggested: PinSuggestion[];
  states: StateView[];
  /** Range summaries, oldest first, orphans at the end. */
  ranges: RangeView[];
}

export interface FakeSession {
  row: SessionRow;
  model: string;
  settings: SessionSettings;
  /** Empty unless it was imported with instructions. */
  imported?: ImportedInstructions;
  branchIds: string[];
  /** The session's own scope of memory; empty: none. */
  scope: string;
}

export class FakeStore {
  readonly sessions = new Map<string, FakeSession>();
  readonly branches = new Map<string, FakeBranch>();
  jobs: JobView[] = [];
  tokenFactor = 1;
  /** By name. */
  projects: FakeProject[] = [];
  rev = 1;
  /** false: plain chat. */
  infinity = true;
  /** The time that all data is relative to; it advances with the real clock. */
  readonly epoch: number;
  readonly #started = performance.now();
  #ids = 0;
  readonly #frames = new Set<(frame: Frame) => void>();
  readonly #changes = new Set<(change: Change) => void>();

  constructor(epoch = Date.now()) {
    this.epoch = epoch;
  }

  now(): number {
    return Math.round(this.epoch + performance.now() - this.#started);
  }

  id(prefix: string): string {
    return `${prefix}${String(++this.#ids).padStart(4, '0')}`;
  }

  onFrame(listener: (frame: Frame) => void): () => void {
    this.#frames.add(listener);
    return () => this.#frames.delete(listener);
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#changes.add(listener);
    return () => this.#changes.delete(listener);
  }

  frame(frame: Frame): void {
    for (const listener of [...this.#frames]) listener({ ...frame });
  }

  changed(kind: ChangeKind, id: string, session: string): void {
    const change: Change = { rev: ++this.rev, kind, id, session };
    for (const listener of [...this.#changes]) listener({ ...change });
  }

  addSession(title: string, more: Partial<SessionRow> = {}, model = 'sonnet'): FakeSession {
    const id = this.id('s');
    const session: FakeSession = { row: sessionRow({ id, title, createdAt: this.now(), updatedAt: this.now(), ...more, activeBranch: '' }), model, settings: { systemPrompt: '', temperature: '', effort: '' }, branchIds: [], scope: '' };
    this.sessions.set(id, session);
    session.row.activeBranch = this.addBranch(id, 'main', '', 0).view.id;
    return session;
  }

  addBranch(sessionId: string, label: string, parentId: string, forkSeq: number): FakeBranch {
    const id = this.id('b');
    const branch: FakeBranch = {
      view: branchView({ id, label, parentId, forkSeq, updatedAt: this.now() }),
      sessionId, createdAt: this.now(), turns: [], draft: emptyDraft(), queue: [], held: '', refused: null, pins: [], suggested: [], states: [], ranges: [],
    };
    this.branches.set(id, branch);
    this.session(sessionId).branchIds.push(id);
    return branch;
  }

  addTurn(branchId: string, more: Partial<TurnView> = {}): TurnView {
    const branch = this.branch(branchId);
    const seq = (branch.turns.at(-1)?.seq ?? this.lineage(branchId).at(-1)?.seq ?? branch.view.forkSeq) + 1;
    const turn = turnView({ id: this.id('t'), branchId, seq, createdAt: this.now(), updatedAt: this.now(), ...more });
    branch.turns.push(turn);
    return turn;
  }

  session(id: string): FakeSession {
    const session = this.sessions.get(id);
    if (!session) throw new BackendError(errorView('There is no such session', 'It may have been deleted elsewhere.', 'not_found'));
    return session;
  }

  branch(id: string): FakeBranch {
    const branch = this.branches.get(id);
    if (!branch) throw new BackendError(errorView('There is no such branch', '', 'not_found'));
    return branch;
  }

  inFolder(name: string): FakeSession[] {
    return [...this.sessions.values()].filter(({ row }) => row.folder === name);
  }

  projectOf(session: FakeSession): FakeProject | undefined {
    return this.projects.find(({ view }) => view.name === session.row.folder);
  }

  /** The session's own scope, otherwise its project's, otherwise only the branch's past. */
  scopeOf(session: FakeSession, model = session.model): string {
    const project = this.projectOf(session);
    return (session.scope === 'project' && !project ? '' : session.scope) || (project ? 'project' : model === 'recall' ? 'all' : 'lineage');
  }

  lineage(branchId: string): TurnView[] {
    const branch = this.branch(branchId);
    const { parentId, forkSeq } = branch.view;
    const before = parentId === '' ? [] : this.lineage(parentId).filter((turn) => turn.seq <= forkSeq);
    return [...before, ...branch.turns];
  }

  turn(turnId: string): TurnView {
    for (const branch of this.branches.values()) {
      const turn = branch.turns.find((candidate) => candidate.id === turnId);
      if (turn) return turn;
    }
    throw new BackendError(errorView('There is no such turn', '', 'not_found'));
  }

  sessionOf(turn: TurnView): FakeSession {
    return this.session(this.branch(turn.branchId).sessionId);
  }

  /** A turn changed: notifies everyone who shows it. */
  touch(turn: TurnView): void {
    const session = this.sessionOf(turn);
    turn.updatedAt = this.now();
    session.row.updatedAt = this.now();
    this.changed('turn', turn.id, session.row.id);
    this.changed('sessions', session.row.id, session.row.id);
  }

  row(session: FakeSession): SessionRow {
    const lineage = this.lineage(session.row.activeBranch);
    const pending = lineage.filter((turn) => turn.state === 'pending').length;
    return { ...session.row, branches: session.branchIds.length, turns: lineage.length, pending, status: session.row.status || statusOf(lineage, pending) };
  }

  branchViewOf(branch: FakeBranch): BranchView {
    const lineage = this.lineage(branch.view.id);
    const active = this.session(branch.sessionId).row.activeBranch === branch.view.id;
    return { ...branch.view, turns: lineage.length, active };
  }

  header(branchId: string, model = ''): Header {
    const branch = this.branch(branchId);
    const session = this.session(branch.sessionId);
    const lineage = this.lineage(branchId);
    const newest = lineage.at(-1);
    const head = headOf(lineage);
    const tokens = Math.min(49_000, 900 + lineage.length * 640);
    const percent = Math.round((tokens / 50_000) * 100);
    const ranges = branch.ranges.filter((range) => range.inUse);
    const extracts = ranges.filter((range) => range.by === 'extract').length;
    const summaries = ranges.length - extracts;
    return {
      sessionId: session.row.id, sessionTitle: session.row.title, branchId, branchLabel: branch.view.label,
      headSeq: stateSeq(head), coveredSeq: head?.seq ?? 0, headShortId: (head?.stateAfter ?? 'ROOT').slice(-4).toUpperCase(),
      pending: lineage.filter((turn) => turn.state === 'pending').length,
      turnId: newest?.id ?? '', turnSeq: newest?.seq ?? 0, phase: newest?.phase ?? '', outcome: newest?.outcome ?? '',
      displayed: newest?.displayed ?? 0, durable: newest?.durable ?? 0,
      contextTokens: tokens, contextRecalled: 0, contextMemory: this.infinity ? 6_000 : 0, contextCeiling: 50_000, tokenFactor: this.tokenFactor, summaries, extracts, infinity: this.infinity,
      contextState: percent < 70 ? 'plenty' : percent <= 90 ? 'filling' : 'nearly full',
      model: model || session.model, modelWindow: 200_000,
      projectId: this.projectOf(session)?.view.id ?? '', project: this.projectOf(session)?.view.name ?? '', scope: this.scopeOf(session, model || session.model), ownScope: session.scope,
    };
  }

  snapshot(sessionId: string, branchId: string): SessionSnapshot {
    const session = this.session(sessionId);
    const branch = this.branch(branchId || session.row.activeBranch);
    const lineage = this.lineage(branch.view.id);
    return {
      rev: this.rev, session: this.row(session), header: this.header(branch.view.id),
      branches: session.branchIds.map((id) => this.branchViewOf(this.branch(id))),
      turns: lineage.slice(-60), firstSeq: lineage[0]?.seq ?? 0, lastSeq: lineage.at(-1)?.seq ?? 0, draft: branch.draft, queue: queueView(branch),
    };
  }
}

/** The number of the state after a turn: one more than the turn's, so that no test can take one for the other. */
export const stateSeq = (turn: TurnView | undefined): number => (turn ? turn.seq + 1 : 0);

export function headOf(lineage: readonly TurnView[]): TurnView | undefined {
  return lineage.findLast((turn) => turn.state === 'head') ?? lineage.findLast((turn) => turn.state === 'committed' || turn.state === 'degraded');
}

function statusOf(lineage: readonly TurnView[], pending: number): SessionStatus {
  const newest = lineage.at(-1);
  if (!newest) return '';
  if (newest.state === 'waiting') return 'waiting';
  if (newest.live) return 'streaming';
  if ((newest.state === 'incomplete' || newest.state === 'failed' || newest.state === 'unsent') && newest.outcome !== 'discarded') return newest.state;
  return pending > 0 ? 'pending' : '';
}
