/** The branch tree of the fake program: the same runs, in the same order, as backend/api returns. */
import type { BranchesService, BranchSide, BranchTree, BranchView, TreeBranch, TreeRun, TurnView } from '../types';
import { BackendError } from '../errors';
import { contextAt } from './context';
import { answerAlso, answersOf, mergeAnswers } from './several';
import { errorView } from './shapes';
import type { Streams } from './streaming';
import { headOf, stateSeq, type FakeBranch, type FakeStore } from './store';

const excerptChars = 90;
const pageOfComparison = 100;

export function branchesService(store: FakeStore, streams: Streams): BranchesService {
  return {
    tree: async (sessionId) => treeOf(store, sessionId),
    compare: async (leftId, rightId) => {
      const [left, right] = [store.branch(leftId), store.branch(rightId)];
      if (left.sessionId !== right.sessionId) throw new BackendError(errorView('These branches belong to two sessions', 'Compare branches of one session.'));
      if (leftId === rightId) throw new BackendError(errorView('That is the same branch twice', 'Choose another one to compare it with.'));
      const [a, b] = [store.lineage(leftId), store.lineage(rightId)];
      let shared = 0;
      while (shared < a.length && a[shared]?.id === b[shared]?.id) shared++;
      return { shared, lastTurn: a[shared - 1]?.id ?? '', left: sideOf(store, left, a.slice(shared)), right: sideOf(store, right, b.slice(shared)) };
    },
    landmarks: async (branchId, fromSeq, toSeq) => {
      const turns = store.lineage(branchId).filter((turn) => turn.seq >= fromSeq && turn.seq <= toSeq);
      if (turns.length < 12) return [];
      return [1, 2, 3, 4, 5].map((part) => turns[Math.floor((turns.length * part) / 6)]!).map(({ id, seq, user, deletedAt }) => ({ turnId: id, seq, title: user.find((block) => block.kind === 'text')?.text?.slice(0, 60) ?? '', deleted: deletedAt > 0 }));
    },
    archive: async (branchId, archived) => {
      const { view, sessionId } = store.branch(branchId);
      if (archived && store.session(sessionId).row.activeBranch === branchId) throw new BackendError(errorView(`“${view.label}” is the branch that is open`, 'Switch to another one, then archive it.', 'conflict'));
      view.archived = archived;
      store.changed('session', sessionId, sessionId);
    },
    rollbackTo: async (branchId, turnId) => rollbackTo(store, branchId, turnId),
    contextAt: async (branchId, turnId, model) => contextAt(store, branchId, turnId === '' ? 0 : onBranch(store, branchId, turnId).seq, model),
    answers: async (turnId) => answersOf(store, turnId),
    answerAlso: async (turnId, model) => answerAlso(store, streams, store.turn(turnId), model),
    mergeAnswers: async (turnId, model) => mergeAnswers(store, streams, turnId, model),
  };
}

function onBranch(store: FakeStore, branchId: string, turnId: string): TurnView {
  const turn = store.lineage(branchId).find((candidate) => candidate.id === turnId);
  if (!turn) throw new BackendError(errorView('That turn is not on this branch', 'Choose one of its own turns.', 'not_found'));
  return turn;
}

function rollbackTo(store: FakeStore, branchId: string, turnId: string): BranchView {
  const { seq, state } = onBranch(store, branchId, turnId);
  if (['accepted', 'preparing', 'responding', 'incomplete', 'failed', 'unsent'].includes(state)) throw new BackendError(errorView(`Turn #${seq} has no final answer`, 'Roll back to a turn that was answered.', 'conflict'));
  const { sessionId } = store.branch(branchId);
  const created = store.addBranch(sessionId, `rollback to #${seq}: ${onBranch(store, branchId, turnId).user.find((block) => block.kind === 'text')?.text?.slice(0, 40) ?? ''}`, branchId, seq);
  store.session(sessionId).row.activeBranch = created.view.id;
  store.changed('session', sessionId, sessionId);
  return store.branchViewOf(created);
}

function sideOf(store: FakeStore, branch: FakeBranch, own: TurnView[]): BranchSide {
  const states = branch.states;
  return {
    branch: treeBranch(store, branch), fromSeq: own[0]?.seq ?? 0, toSeq: own.at(-1)?.seq ?? 0, turns: own.slice(0, pageOfComparison),
    summary: (states.find((state) => state.head) ?? states[0])?.summary ?? '', pins: branch.pins,
  };
}

/** Where a branch actually starts: a fork before its parent's own turns belongs to an ancestor. */
function forkPointOf(store: FakeStore, branch: FakeBranch): { branch: FakeBranch; seq: number } | null {
  const seq = branch.view.forkSeq;
  let parentId = branch.view.parentId;
  while (parentId !== '' && seq > 0) {
    const parent = store.branch(parentId);
    if (seq > parent.view.forkSeq || parent.view.parentId === '') return { branch: parent, seq };
    parentId = parent.view.parentId;
  }
  return null;
}

export function treeOf(store: FakeStore, sessionId: string): BranchTree {
  const session = store.session(sessionId);
  const branches = session.branchIds.map((id) => store.branch(id));
  const forkPoints = new Map(branches.map((branch) => [branch, forkPointOf(store, branch)]));
  const cuts = new Map<FakeBranch, Set<number>>(branches.map((branch) => [branch, new Set()]));
  for (const at of forkPoints.values()) if (at) cuts.get(at.branch)?.add(at.seq);
  const runs: TreeRun[] = [];
  const endings = new Map<string, string>();
  for (const branch of branches) {
    const at = forkPoints.get(branch);
    let parent = at ? (endings.get(`${at.branch.view.id}/${at.seq}`) ?? '') : '';
    for (const run of runsOf(branch, cuts.get(branch)!)) {
      runs.push({ ...run, parent });
      parent = run.id;
      endings.set(`${branch.view.id}/${run.toSeq}`, run.id);
    }
  }
  return {
    rev: store.rev, sessionId, active: session.row.activeBranch, turns: branches.reduce((sum, branch) => sum + branch.turns.length, 0),
    runs: parentsFirst(runs), branches: branches.map((branch) => treeBranch(store, branch)),
  };
}

function runsOf(branch: FakeBranch, cuts: ReadonlySet<number>): TreeRun[] {
  const { id, forkSeq } = branch.view;
  const head = headOf(branch.turns);
  if (branch.turns.length === 0) {
    return [{ id, parent: '', branchId: id, fromSeq: forkSeq + 1, toSeq: forkSeq, firstTurn: '', lastTurn: '', first: '', last: '', ends: true, headSeq: 0, pending: 0, open: 0, state: 'committed', updatedAt: branch.view.updatedAt, firstDeleted: false, lastDeleted: false }];
  }
  const runs: TreeRun[] = [];
  let turns: TurnView[] = [];
  for (const turn of branch.turns) {
    turns.push(turn);
    const ends = turn === branch.turns.at(-1);
    if (!ends && !cuts.has(turn.seq)) continue;
    runs.push(runOf(id, turns, ends, head));
    turns = [];
  }
  return runs;
}

function runOf(branchId: string, turns: readonly TurnView[], ends: boolean, head: TurnView | undefined): TreeRun {
  const [first, last] = [turns[0]!, turns.at(-1)!];
  const count = (states: string[]) => turns.filter((turn) => states.includes(turn.state) && turn.outcome !== 'discarded').length;
  return {
    id: first.id, parent: '', branchId, fromSeq: first.seq, toSeq: last.seq, firstTurn: first.id, lastTurn: last.id,
    first: excerpt(first), last: last === first ? '' : excerpt(last), ends, headSeq: head && turns.includes(head) ? stateSeq(head) : 0,
    pending: count(['pending']), open: count(['incomplete', 'failed', 'unsent']), state: last.state, updatedAt: Math.max(last.createdAt, last.updatedAt), firstDeleted: first.deletedAt > 0, lastDeleted: last.deletedAt > 0,
  };
}

const excerpt = (turn: TurnView): string => turn.user.filter((block) => block.kind === 'text').map((block) => block.text).join(' ').replace(/\s+/g, ' ').slice(0, excerptChars);

/** Branches are ordered from oldest to newest, so the children of a run are already sorted by age. */
function parentsFirst(runs: readonly TreeRun[]): TreeRun[] {
  const children = new Map<string, TreeRun[]>();
  for (const run of runs) children.set(run.parent, [...(children.get(run.parent) ?? []), run]);
  const ordered: TreeRun[] = [];
  const stack = [...(children.get('') ?? [])].reverse();
  for (let run = stack.pop(); run; run = stack.pop()) {
    ordered.push(run);
    stack.push(...[...(children.get(run.id) ?? [])].reverse());
  }
  return ordered;
}

function treeBranch(store: FakeStore, branch: FakeBranch): TreeBranch {
  const lineage = store.lineage(branch.view.id);
  const head = headOf(lineage);
  const { id, label, parentId, forkSeq, archived, updatedAt, machine, continues } = branch.view;
  return {
    id, label, parentId, forkSeq, archived, updatedAt, turns: lineage.length, own: branch.turns.length,
    pending: lineage.filter((turn) => turn.state === 'pending').length, headSeq: stateSeq(head),
    headShortId: (head?.stateAfter ?? '').slice(-4).toUpperCase(), active: store.session(branch.sessionId).row.activeBranch === id, createdAt: branch.createdAt, machine, continues,
  };
}
