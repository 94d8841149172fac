/** Branches that continue others on another device. A device writes only to branches that it began. */
import type { BranchView } from '$lib/backend/types';

type Line = Pick<BranchView, 'id' | 'turns' | 'forkSeq' | 'continues' | 'archived'>;

/** The branches of which another one is the continuation, at their end: they have no end of their own. */
export function continued(branches: readonly Line[]): Set<string> {
  const turns = new Map(branches.map((branch) => [branch.id, branch.turns]));
  return new Set(branches.filter((branch) => branch.continues !== '' && !branch.archived && turns.get(branch.continues) === branch.forkSeq).map((branch) => branch.continues));
}

/** Whether a branch continues another one, possibly over several devices, from its turn with this number. */
export function continues(branches: readonly Line[], branchId: string, from: string, seq: number): boolean {
  const left = new Map(branches.map((branch) => [branch.id, branch]));
  for (let at = branchId; ; ) {
    const branch = left.get(at);
    if (!branch || branch.continues === '') return false;
    if (branch.continues === from) return branch.forkSeq === seq;
    left.delete(at); // the ledger has no circles, but a page must not hang on them
    at = branch.continues;
  }
}

/** Where a conversation went on on two devices, and the name of the other one; empty: not known. */
export interface WentOn {
  seq: number;
  machine: string;
}

/** The first place where the conversation went on on this device and on another one, or on two others; undefined: it did nowhere. */
export function wentOn(branches: readonly (Line & Pick<BranchView, 'machine' | 'foreign'>)[]): WentOn | undefined {
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  const lines = new Map<string, BranchView['id']>();
  for (const branch of branches) {
    if (branch.continues === '' || branch.archived || branch.turns <= branch.forkSeq) continue;
    const place = `${branch.continues}/${branch.forkSeq}`;
    const before = byId.get(branch.continues);
    const other = before && !before.archived && before.turns > branch.forkSeq ? before : byId.get(lines.get(place) ?? '');
    if (other) return { seq: branch.forkSeq, machine: (branch.foreign ? branch : other).machine };
    lines.set(place, branch.id);
  }
  return undefined;
}
