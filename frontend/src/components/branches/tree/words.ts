/** What the tree says about a run, in words. */
import { t } from '$lib/words/words.svelte';
import { moment } from '$shared/format';
import { stateName } from '../../transcript/words';
import { listed } from '../listing';
import { turnsOf, type Node } from './forest';

/** "#36 to #81", "#36". */
export function spanOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return t('branches.after', { seq: run.toSeq });
  return run.fromSeq === run.toSeq ? `#${run.fromSeq}` : t('branches.span', { from: run.fromSeq, to: run.toSeq });
}

/** The branch where it ends, else its turns. */
export const titleOf = (node: Node): string => (node.run.ends ? (node.branch?.label ?? '') : spanOf(node));

/** First words: of a branch that ends what was said last. */
export function wordsOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return t('branches.empty');
  return run.ends ? run.last || run.first : run.first;
}

/** Signs beside a run, the weightiest first. The words are the sign; texture and colour only agree. */
export interface Sign {
  texture: 'solid' | 'striped' | 'dashed' | 'none';
  text: string;
}

export function signsOf({ run, branch, here }: Node): Sign[] {
  const signs: Sign[] = [];
  if (here) signs.push({ texture: 'solid', text: t('branches.here') });
  if (branch?.archived && run.ends) signs.push({ texture: 'none', text: t('branches.isArchived') });
  if (['accepted', 'preparing', 'responding'].includes(run.state)) signs.push({ texture: 'striped', text: stateName({ state: run.state, outcome: '' }) });
  if (run.open > 0) signs.push({ texture: 'dashed', text: t('branches.failedTurns', { count: run.open }) });
  if (run.pending > 0) signs.push({ texture: 'striped', text: t('branches.pending', { count: run.pending }) });
  if (run.headSeq > 0) signs.push({ texture: 'none', text: t('branches.head', { seq: run.headSeq }) });
  return signs;
}

/** All of it in one sentence, for those who do not see it. */
export function sentenceOf(node: Node): string {
  const { run } = node;
  return listed([
    titleOf(node), run.ends && turnsOf(run) > 0 ? spanOf(node) : '', t('branches.turns', { count: Math.max(0, turnsOf(run)) }), wordsOf(node), ...signsOf(node).map((sign) => sign.text),
    node.children.length > 1 ? t('branches.branchesFromHere', { count: node.children.length }) : '', node.lit && !node.here ? t('branches.onOpenBranch') : '', run.updatedAt > 0 ? moment(run.updatedAt) : '',
  ]);
}
