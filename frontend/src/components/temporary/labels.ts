import type { TurnView } from '$lib/backend/types';
import { isRunning } from '$lib/state/lineage';
import { t } from '$lib/i18n/i18n.svelte';
import type { Status } from '../transcript/labels';

/** The state of a turn of a temporary chat. No text suggests that it is saved. */
export function endOf(turn: TurnView): Pick<Status, 'label' | 'sign'> {
  if (isRunning(turn)) return { label: turn.live && turn.liveStep !== '' ? t('transcript.responding') : t('temporary.firstWord'), sign: 'live' };
  switch (turn.outcome) {
    case 'stopped': case 'kept': case 'incomplete': return { label: t('temporary.ended'), sign: 'stop' };
    case 'truncated': return { label: t('temporary.truncated'), sign: 'stop' };
    case 'refused': return { label: t('temporary.refused'), sign: 'declined' };
    case 'paused': return { label: t('temporary.paused'), sign: 'stop' };
    default: return { label: t('temporary.answered'), sign: 'check' };
  }
}
