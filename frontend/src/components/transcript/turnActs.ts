/** The actions on a turn that the bar below it and its context menu share. */
import type { TurnView } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import { textOf } from '$lib/state/composer.svelte';
import { targetOf } from '$lib/state/exporting.svelte';
import { t } from '$lib/i18n/i18n.svelte';
import { Copy, GitBranch, Pencil, RotateCw, ScanEye, Trash, Undo } from '$shared/icons';
import type { MenuItem } from '$shared/menu';
import type { LucideIcon } from '@lucide/svelte';
import Download from '@lucide/svelte/icons/download';
import Square from '@lucide/svelte/icons/square';
import Volume2 from '@lucide/svelte/icons/volume-2';

export interface TurnAct extends MenuItem {
  icon: LucideIcon;
  /** Not a button of the bar. */
  menuOnly?: boolean;
  run: () => unknown;
}

const running = new Set(['accepted', 'preparing', 'responding', 'waiting']);
/** A decision is due first. */
const undecided = new Set(['incomplete', 'failed', 'unsent', 'unsaved']);

export function turnActs(app: App, turn: TurnView): TurnAct[] {
  const { branches, conversation, deletion, exporting, inspector, speech, turnActions } = app;
  const deleted = turn.deletedAt > 0;
  const over = !running.has(turn.state);
  const final = over && !undecided.has(turn.state);
  const answer = deleted ? '' : textOf(turn.assistant);
  const acts: (TurnAct | false)[] = [
    !deleted && { id: 'message', label: t('shell.copyMessage'), icon: Copy, menuOnly: true, run: () => turnActions.copy(textOf(turn.user)) },
    answer !== '' && { id: 'answer', label: t('shell.copyAnswer'), icon: Copy, run: () => turnActions.copy(answer) },
    answer !== '' && over && speech.available && {
      id: 'speak',
      label: speech.reading === turn.id ? t('transcript.stopReading') : t('transcript.readAloud'),
      icon: speech.reading === turn.id ? Square : Volume2,
      run: () => speech.toggle(turn.id, answer),
    },
    !deleted && over && { id: 'edit', label: t('transcript.edit'), icon: Pencil, run: () => turnActions.edit(turn) },
    !deleted && final && { id: 'regenerate', label: t('transcript.regenerate'), icon: RotateCw, run: () => turnActions.regenerate(turn) },
    final && { id: 'fork', label: t('shell.forkHere'), icon: GitBranch, run: () => turnActions.fork(turn) },
    !deleted && final && conversation.newest?.id !== turn.id && {
      id: 'rollback', label: t('branches.rollBackTo', { seq: turn.seq }), icon: Undo, menuOnly: true, run: () => branches.rollback(conversation.branchId, turn.id, turn.seq),
    },
    turn.state !== 'unsent' && { id: 'xray', label: t('shell.showPrompt'), icon: ScanEye, run: () => inspector.show('xray', turn.id) },
    !deleted && final && { id: 'export', label: t('shell.exportTurn'), icon: Download, run: () => exporting.show({ ...targetOf(conversation), turnId: turn.id, seq: turn.seq }, 'turn') },
    !deleted && over && { id: 'delete', label: t('transcript.delete'), icon: Trash, danger: true, run: () => deletion.show({ kind: 'turn', id: turn.id, archivable: false }) },
  ];
  return acts.filter((act) => act !== false);
}
