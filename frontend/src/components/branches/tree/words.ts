/** What the tree says about a run, in words. */
import { counted, moment } from '$shared/format';
import { turnsOf, type Node } from './forest';

/** "#36 to #81", "#36". */
export function spanOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return `after #${run.toSeq}`;
  return run.fromSeq === run.toSeq ? `#${run.fromSeq}` : `#${run.fromSeq} to #${run.toSeq}`;
}

/** The branch where it ends, else its turns. */
export const titleOf = (node: Node): string => (node.run.ends ? (node.branch?.label ?? '') : spanOf(node));

/** First words: of a branch that ends what was said last. */
export function wordsOf({ run }: Node): string {
  if (turnsOf(run) <= 0) return 'empty';
  return run.ends ? run.last || run.first : run.first;
}

/** Signs beside a run, the weightiest first. The words are the sign; texture and colour only agree. */
export interface Sign {
  texture: 'solid' | 'striped' | 'dashed' | 'none';
  text: string;
}

export function signsOf({ run, branch, here }: Node): Sign[] {
  const signs: Sign[] = [];
  if (here) signs.push({ texture: 'solid', text: 'you are here' });
  if (branch?.archived && run.ends) signs.push({ texture: 'none', text: 'archived' });
  if (['accepted', 'preparing', 'responding'].includes(run.state)) signs.push({ texture: 'striped', text: run.state });
  if (run.open > 0) signs.push({ texture: 'dashed', text: `${run.open} failed` });
  if (run.pending > 0) signs.push({ texture: 'striped', text: `${run.pending} pending` });
  if (run.headSeq > 0) signs.push({ texture: 'none', text: `head #${run.headSeq}` });
  return signs;
}

/** All of it in one sentence, for those who do not see it. */
export function sentenceOf(node: Node): string {
  const { run } = node;
  const said = [
    titleOf(node), run.ends && turnsOf(run) > 0 ? spanOf(node) : '', counted(Math.max(0, turnsOf(run)), 'turn'), wordsOf(node), ...signsOf(node).map((sign) => sign.text),
    node.children.length > 1 ? `${node.children.length} branches from here` : '', node.lit && !node.here ? 'on the open branch' : '', run.updatedAt > 0 ? moment(run.updatedAt) : '',
  ];
  return said.filter((words) => words !== '').join(', ');
}
