/** The order of branches in lists: the open one first, then by last use; archived ones separately. */
import type { BranchView, TreeBranch } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { continued } from '$lib/state/devices';

type Listed = Pick<BranchView, 'id' | 'label' | 'updatedAt' | 'archived' | 'turns' | 'forkSeq' | 'continues'>;

export interface Listing<T> {
  /** Newest first. */
  branches: T[];
  archived: T[];
  /** Matches beyond those listed. */
  more: number;
}

/** More than anyone reads; the others are found by typing. */
export const mostListed = 100;

/** Branches with a name that contains all words of the query, without those that only go on in another one. */
export function list<T extends Listed>(all: readonly T[], query: string, current = '', most = mostListed): Listing<T> {
  const words = query.trim().toLocaleLowerCase().split(/\s+/);
  const superseded = continued(all);
  const found = all.filter((branch) => (branch.id === current || !superseded.has(branch.id)) && words.every((word) => branch.label.toLocaleLowerCase().includes(word)));
  found.sort((a, b) => Number(b.id === current) - Number(a.id === current) || b.updatedAt - a.updatedAt);
  const [branches, archived] = [found.filter((branch) => !branch.archived), found.filter((branch) => branch.archived)];
  const remaining = Math.max(0, most - branches.length);
  return { branches: branches.slice(0, most), archived: archived.slice(0, remaining), more: Math.max(0, found.length - most) };
}

/** "12 turns, forked after #35". */
export function detailOf(branch: Pick<BranchView | TreeBranch, 'turns' | 'parentId' | 'forkSeq'>): string {
  return branch.parentId ? t('branches.turnsForked', { count: branch.turns, seq: branch.forkSeq }) : t('shared.countTurns', { count: branch.turns });
}

/** Facts about one thing, separated as the language requires; empty parts are left out. */
export function listed(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').reduce((before, next) => (before === '' ? next : t('branches.listed', { before, next })), '');
}
