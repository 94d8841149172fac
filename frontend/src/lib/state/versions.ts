import type { BranchTree, TreeRun } from '$lib/backend/types';

/** One of several ways the conversation continued from the same place. */
export interface Version {
  turnId: string;
  seq: number;
  /** The branch to see it on: of those that hold it, the one used last. */
  branchId: string;
  /** How its message begins. */
  words: string;
}

export interface Versions {
  /** Oldest first. */
  all: Version[];
  /** Which of them the turn is, from 0. */
  at: number;
}

/** For each turn that has siblings, all of them: by the turns that stand right after one fork. Archived ways are left out, the open one never. */
export function versionsOf(tree: BranchTree, current: string): Map<string, Versions> {
  const newest = newestBelow(tree, current);
  const ways = new Map<string, TreeRun[]>();
  for (const run of tree.runs) {
    if (run.firstTurn === '' || !newest.has(run.id)) continue;
    const beside = ways.get(run.parent);
    if (beside) beside.push(run);
    else ways.set(run.parent, [run]);
  }
  const versions = new Map<string, Versions>();
  for (const runs of ways.values()) {
    if (runs.length < 2) continue;
    const all = runs.map((run) => ({ turnId: run.firstTurn, seq: run.fromSeq, branchId: newest.get(run.id)!, words: run.first }));
    all.forEach((version, at) => versions.set(version.turnId, { all, at }));
  }
  return versions;
}

/** For each run the branch used last that holds it; the open one where it does. Nothing for what only archived branches hold. */
function newestBelow(tree: BranchTree, current: string): Map<string, string> {
  const branches = new Map(tree.branches.map((branch) => [branch.id, branch]));
  const rank = (id: string) => (id === current ? Infinity : (branches.get(id)?.updatedAt ?? 0));
  const newest = new Map<string, string>();
  const offer = (runId: string, branchId: string) => {
    const known = newest.get(runId);
    if (known === undefined || rank(branchId) > rank(known)) newest.set(runId, branchId);
  };
  for (const run of [...tree.runs].reverse()) {
    if (run.ends && (run.branchId === current || !branches.get(run.branchId)?.archived)) offer(run.id, run.branchId);
    const below = newest.get(run.id);
    if (below !== undefined && run.parent !== '') offer(run.parent, below);
  }
  return newest;
}
