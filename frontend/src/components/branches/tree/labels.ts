/** Descriptions of runs of the tree. */
import type { TreeRun } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { formatTimeOrDay } from '$shared/format';
import { stateName } from '../../transcript/labels';
import { listed } from '../listing';
import { turnsOf, type Node } from './forest';

/** "#36 to #81", "#36". */
export function spanOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return t('branches.after', { seq: run.toSeq });
  return run.fromSeq === run.toSeq ? `#${run.fromSeq}` : t('branches.span', { from: run.fromSeq, to: run.toSeq });
}

/** The branch if it ends here, otherwise its turns. */
export const titleOf = (node: Node): string => (node.run.ends ? (node.branch?.label ?? '') : spanOf(node));

/** The first words of the run; for a run that ends its branch, of its last message. */
export function wordsOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return t('branches.empty');
  return run.ends ? lastWordsOf(run) || firstWordsOf(run) : firstWordsOf(run);
}

/** The first words of the run's first message, or that it was permanently deleted. */
export const firstWordsOf = (run: TreeRun): string => (run.firstDeleted ? t('branches.turnDeleted') : run.first);

/** The same of its last message; empty if that is the first. */
export const lastWordsOf = (run: TreeRun): string => (run.lastDeleted && run.last !== '' ? t('branches.turnDeleted') : run.last);

/** Marks of a run, most important first. The words carry the meaning; texture and colour only repeat it. */
export interface Sign {
  texture: 'solid' | 'striped' | 'dashed' | 'none';
  text: string;
}

export function signsOf({ run, branch, here, machines }: Node): Sign[] {
  const signs: Sign[] = [];
  if (here) signs.push({ texture: 'solid', text: t('branches.here') });
  for (const { seq, name } of machines) signs.push({ texture: 'none', text: seq === run.fromSeq ? t('branches.onMachine', { machine: name }) : t('branches.onMachineFrom', { machine: name, seq }) });
  if (branch?.archived && run.ends) signs.push({ texture: 'none', text: t('branches.isArchived') });
  if (['accepted', 'preparing', 'responding'].includes(run.state)) signs.push({ texture: 'striped', text: stateName({ state: run.state, outcome: '' }) });
  if (run.open > 0) signs.push({ texture: 'dashed', text: t('branches.failedTurns', { count: run.open }) });
  if (run.pending > 0) signs.push({ texture: 'striped', text: t('branches.pending', { count: run.pending }) });
  if (run.headSeq > 0) signs.push({ texture: 'none', text: t('branches.head', { seq: run.headSeq }) });
  return signs;
}

/** A description of the run in one sentence, for screen readers. */
export function sentenceOf(node: Node): string {
  const { run } = node;
  return listed([
    titleOf(node), run.ends && turnsOf(run) > 0 ? spanOf(node) : '', t('shared.countTurns', { count: Math.max(0, turnsOf(run)) }), wordsOf(node), ...signsOf(node).map((sign) => sign.text),
    node.children.length > 1 ? t('branches.branchesFromHere', { count: node.children.length }) : '', node.lit && !node.here ? t('branches.onOpenBranch') : '', run.updatedAt > 0 ? formatTimeOrDay(run.updatedAt) : '',
  ]);
}
