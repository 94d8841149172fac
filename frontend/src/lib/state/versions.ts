import type { BranchTree, TreeRun } from '$lib/backend/types';

/** One of several continuations of the conversation from the same place. */
export interface Version {
  turnId: string;
  seq: number;
  /** The branch to open for it: the most recently used of those that contain it. */
  branchId: string;
  /** The beginning of its message. */
  excerpt: string;
}

export interface Versions {
  /** Oldest first. */
  all: Version[];
  /** The position of the turn among them, from 0. */
  at: number;
}

/**
 * For each turn that has siblings, all of them: the turns directly after the same fork. Archived ones are left out, the
 * open one never is.
 */
export function versionsOf(tree: BranchTree, current: string): Map<string, Versions> {
  const newest = newestBelow(tree, current);
  const siblings = new Map<string, TreeRun[]>();
  for (const run of tree.runs) {
    if (run.firstTurn === '' || !newest.has(run.id)) continue;
    const group = siblings.get(run.parent);
    if (group) group.push(run);
    else siblings.set(run.parent, [run]);
  }
  const versions = new Map<string, Versions>();
  for (const runs of siblings.values()) {
    if (runs.length < 2) continue;
    const all = runs.map((run) => ({ turnId: run.firstTurn, seq: run.fromSeq, branchId: newest.get(run.id)!, excerpt: run.first }));
    all.forEach((version, at) => versions.set(version.turnId, { all, at }));
  }
  return versions;
}

/**
 * For each run, the most recently used branch that contains it; the open branch if it does. Runs that only archived
 * branches contain have no entry.
 */
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
