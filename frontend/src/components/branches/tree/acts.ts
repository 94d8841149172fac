/** The actions on a run of the tree, for both its menu and its card. */
import type { BranchesState } from '$lib/state/branches.svelte';
import type { DraggedTurn } from '$lib/turnDrag';
import { t } from '$lib/i18n/i18n.svelte';
import { GitBranch, Pencil, ScanEye, Undo } from '$shared/icons';
import type { MenuItem } from '$shared/menu';
import Archive from '@lucide/svelte/icons/archive';
import ArchiveRestore from '@lucide/svelte/icons/archive-restore';
import ArrowRight from '@lucide/svelte/icons/arrow-right';
import Columns2 from '@lucide/svelte/icons/columns-2';
import Download from '@lucide/svelte/icons/download';
import type { Node } from './forest';

export type ActId = 'open' | 'fork' | 'rollback' | 'compare' | 'context' | 'rename' | 'export' | 'archive';

/** The turn that represents a run: its last one, or for a run without turns the one it continues. */
export function pointOf({ run, parent }: Node): DraggedTurn | null {
  const turnId = run.lastTurn || (parent?.run.lastTurn ?? '');
  return turnId === '' ? null : { turnId, seq: run.toSeq };
}

/** States from which a turn can be continued. */
const final = new Set(['pending', 'committed', 'head', 'degraded', '']);

export function actsOf(node: Node, current: string, branches: number, point: DraggedTurn | null = pointOf(node)): (MenuItem & { id: ActId })[] {
  const { run, branch } = node;
  const open = branch?.id === current;
  const seq = point?.seq ?? 0;
  const unanswered = point?.turnId === run.lastTurn && !final.has(run.state);
  const why = !point ? t('branches.noTurnsYet') : unanswered ? t('branches.notFinal', { seq }) : undefined;
  const atEnd = run.ends && point?.seq === run.toSeq ? t('branches.endsHere') : undefined;
  return [
    { id: 'open', label: node.lit ? t('branches.goTo') : t('branches.open'), icon: ArrowRight, keys: 'Enter' },
    { id: 'fork', label: t('branches.forkAfter', { seq }), icon: GitBranch, disabled: why !== undefined, detail: why },
    { id: 'rollback', label: t('branches.rollBackTo', { seq }), icon: Undo, disabled: (why ?? atEnd) !== undefined, detail: why ?? atEnd ?? leaves(node, seq) },
    { id: 'compare', label: t('branches.compareWithOther'), icon: Columns2, disabled: branches < 2, detail: branches < 2 ? t('branches.onlyOne') : undefined },
    { id: 'context', label: t('branches.whatWouldBeSent'), icon: ScanEye, disabled: unanswered, detail: unanswered ? why : undefined },
    { id: 'rename', label: t('branches.renameThis'), icon: Pencil },
    { id: 'export', label: t('branches.exportThis'), icon: Download },
    { id: 'archive', label: branch?.archived ? t('branches.unarchiveThis') : t('branches.archiveThis'), icon: branch?.archived ? ArchiveRestore : Archive, disabled: open && !branch?.archived, detail: open && !branch?.archived ? t('branches.isOpen') : undefined },
  ];
}

/** What a rollback to a turn creates, and what it leaves unchanged. */
function leaves({ branch }: Node, seq: number): string {
  const count = (branch?.turns ?? 0) - seq;
  return count > 0 ? t('branches.rollBackLeaves', { count, label: branch?.label ?? '' }) : t('branches.rollBackHelp');
}

export async function actOn(branches: BranchesState, node: Node, id: ActId, point: DraggedTurn | null = pointOf(node)): Promise<void> {
  const { run, branch } = node;
  const branchId = run.branchId;
  switch (id) {
    case 'open': return void (await branches.openRun(run, node.lit));
    case 'fork': return void (point && branches.ask({ kind: 'fork', ...point }));
    case 'rollback': return void (point && (await branches.rollback(branchId, point.turnId, point.seq)));
    case 'compare': return branches.ask({ kind: 'compare', left: branchId });
    case 'context': return branches.ask({ kind: 'context', branchId, turnId: point?.turnId ?? '', seq: point?.seq ?? 0 });
    case 'rename': return branches.ask({ kind: 'rename', branchId, label: branch?.label ?? '' });
    case 'export': return branches.export(branchId, branch?.label ?? '');
    case 'archive': return void (await branches.archive(branchId, !branch?.archived));
  }
}
