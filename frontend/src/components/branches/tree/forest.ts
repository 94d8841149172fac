/** The tree for drawing and navigation: runs with their parents and children, the lit path, and search matches. */
import type { BranchTree, TreeBranch, TreeRun } from '$lib/backend/types';
import { continued } from '$lib/state/devices';

/** A drawn run. Consecutive runs without a drawn fork between them are joined, also those that go on on another device. */
export interface Node {
  run: TreeRun;
  /** Its branch; of several, the last one, which contains all its turns. */
  branch: TreeBranch | undefined;
  /** The branch of its first turn. */
  begins: string;
  /** Where it continues on another machine than before, its first turn included. */
  machines: { seq: number; name: string }[];
  parent: Node | null;
  /** Oldest first. */
  children: Node[];
  depth: number;
  /** It is part of the open branch. */
  lit: boolean;
  /** The open branch ends here. */
  here: boolean;
}

export interface Forest {
  /** Parents first, siblings oldest first. */
  nodes: Node[];
  roots: Node[];
  /** It has more than one child. */
  forks: Node[];
  /** By the id of every joined run. */
  byId: ReadonlyMap<string, Node>;
}

export interface Growth {
  /** The open branch. */
  current: string;
  /** Including archived branches. */
  archived: boolean;
}

/** The number of turns of a run. */
export const turnsOf = (run: TreeRun): number => run.toSeq - run.fromSeq + 1;

export function grow(tree: BranchTree, { current, archived }: Growth): Forest {
  const branches = new Map(tree.branches.map((branch) => [branch.id, branch]));
  const runs = new Map(tree.runs.map((run) => [run.id, run]));
  const lit = pathTo(tree, current, runs);
  const kept = archived ? null : keptRuns(tree, branches, lit);
  const superseded = continued(tree.branches);
  const shown = tree.runs.filter((run) => (!kept || kept.has(run.id)) && (turnsOf(run) > 0 || run.branchId === current || !superseded.has(run.branchId)));
  const children = byParent(shown);
  const byId = new Map<string, Node>();
  const nodes: Node[] = [];
  for (const first of shown) {
    if (byId.has(first.id)) continue;
    const parent = byId.get(first.parent) ?? null;
    const joined = chain(first, children, branches, current);
    const run = joined.length === 1 ? first : joinRuns(joined);
    const machines = changes(joined, branches, parent?.branch);
    const node: Node = { run, branch: branches.get(run.branchId), begins: first.branchId, machines, parent, children: [], depth: parent ? parent.depth + 1 : 0, lit: lit.has(first.id), here: run.ends && run.branchId === current };
    for (const { id } of joined) byId.set(id, node);
    parent?.children.push(node);
    nodes.push(node);
  }
  return { nodes, roots: nodes.filter((node) => !node.parent), forks: nodes.filter((node) => node.children.length > 1), byId };
}

function byParent(runs: readonly TreeRun[]): Map<string, TreeRun[]> {
  const groups = new Map<string, TreeRun[]>();
  for (const run of runs) {
    const group = groups.get(run.parent);
    if (group) group.push(run);
    else groups.set(run.parent, [run]);
  }
  return groups;
}

function pathTo(tree: BranchTree, branchId: string, runs: ReadonlyMap<string, TreeRun>): Set<string> {
  const path = new Set<string>();
  let run = tree.runs.find((candidate) => candidate.ends && candidate.branchId === branchId);
  for (; run && !path.has(run.id); run = runs.get(run.parent)) path.add(run.id);
  return path;
}

/** Runs of unarchived branches, and their ancestors. Parents come first, so the list is processed from its end. */
function keptRuns(tree: BranchTree, branches: ReadonlyMap<string, TreeBranch>, lit: ReadonlySet<string>): Set<string> {
  const kept = new Set<string>();
  for (const run of [...tree.runs].reverse()) {
    if (!kept.has(run.id) && !lit.has(run.id) && branches.get(run.branchId)?.archived) continue;
    kept.add(run.id);
    kept.add(run.parent);
  }
  return kept;
}

/**
 * A run and the following runs without a drawn fork between them: those of its branch, and those of a branch that
 * continues it on another device, unless the open branch ends there.
 */
function chain(first: TreeRun, children: ReadonlyMap<string, TreeRun[]>, branches: ReadonlyMap<string, TreeBranch>, current: string): TreeRun[] {
  const joined = [first];
  for (let last = first; ; ) {
    const [next, other] = children.get(last.id) ?? [];
    if (!next || other) return joined;
    const after = branches.get(next.branchId);
    const continues = last.ends && last.branchId !== current && after !== undefined && after.continues !== '' && !after.archived;
    if (next.branchId !== last.branchId && !continues) return joined;
    joined.push(next);
    last = next;
  }
}

function changes(runs: readonly TreeRun[], branches: ReadonlyMap<string, TreeBranch>, parent: TreeBranch | undefined): Node['machines'] {
  const found: Node['machines'] = [];
  let before = parent;
  for (const run of runs) {
    const branch = branches.get(run.branchId);
    if (before && branch && branch.machine !== before.machine && branch.machine !== '' && turnsOf(run) > 0) found.push({ seq: run.fromSeq, name: branch.machine });
    before = branch;
  }
  return found;
}

function joinRuns(runs: readonly TreeRun[]): TreeRun {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  const sum = (count: (run: TreeRun) => number) => runs.reduce((total, run) => total + count(run), 0);
  return {
    ...first, branchId: last.branchId, toSeq: last.toSeq, lastTurn: last.lastTurn, last: last.last || last.first, lastDeleted: last.lastDeleted, ends: last.ends, state: last.state,
    headSeq: runs.reduce((seq, run) => run.headSeq || seq, 0), pending: sum((run) => run.pending), open: sum((run) => run.open),
    updatedAt: Math.max(...runs.map((run) => run.updatedAt)),
  };
}

/**
 * Nodes that match a query: "#57" by turn, otherwise by all its words in label and messages. A turn of the open branch
 * comes first.
 */
export function findNodes(forest: Forest, query: string): Node[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === '') return [];
  const seq = /^#(\d+)$/.exec(wanted)?.[1];
  if (seq) {
    const found = forest.nodes.filter(({ run }) => run.fromSeq <= Number(seq) && Number(seq) <= run.toSeq);
    return [...found.filter((node) => node.lit), ...found.filter((node) => !node.lit)];
  }
  const words = wanted.split(/\s+/);
  return forest.nodes.filter(({ run, branch }) => {
    const text = `${run.ends ? (branch?.label ?? '') : ''} ${run.firstDeleted ? '' : run.first} ${run.lastDeleted ? '' : run.last}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export type Form = 'rows' | 'tree';

/** The node that a key leads to, or null. Rows are navigated as a list, the tree by parents, children and siblings. */
export function walk(forest: Forest, form: Form, order: readonly Node[], from: Node, key: string): Node | null {
  switch (key) {
    case 'Home': return order[0] ?? null;
    case 'End': return order.find((node) => node.here) ?? order.at(-1) ?? null;
    case ']': return nextFork(forest.forks, order, from, 1);
    case '[': return nextFork(forest.forks, order, from, -1);
  }
  if (form === 'rows') {
    switch (key) {
      case 'ArrowDown': return order[order.indexOf(from) + 1] ?? null;
      case 'ArrowUp': return order[order.indexOf(from) - 1] ?? null;
      case 'ArrowLeft': return from.parent;
      case 'ArrowRight': return from.children[0] ?? null;
    }
    return null;
  }
  const siblings = from.parent?.children ?? forest.roots;
  switch (key) {
    case 'ArrowUp': return from.parent;
    case 'ArrowDown': return from.children.find((child) => child.lit) ?? from.children[0] ?? null;
    case 'ArrowLeft': return siblings[siblings.indexOf(from) - 1] ?? null;
    case 'ArrowRight': return siblings[siblings.indexOf(from) + 1] ?? null;
  }
  return null;
}

/** The next fork in drawing order, wrapping around at the end. */
function nextFork(forks: readonly Node[], order: readonly Node[], from: Node, step: 1 | -1): Node | null {
  if (forks.length === 0) return null;
  const at = order.indexOf(from);
  const sorted = [...forks].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  if (step > 0) return sorted.find((fork) => order.indexOf(fork) > at) ?? sorted[0]!;
  return sorted.findLast((fork) => order.indexOf(fork) < at) ?? sorted.at(-1)!;
}
