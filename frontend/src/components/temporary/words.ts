import type { TurnView } from '$lib/backend/types';
import { isRunning } from '$lib/state/lineage';
import type { Status } from '../transcript/words';

/** How a turn of a temporary chat stands. None of the words promises that it is kept. */
export function endOf(turn: TurnView): Pick<Status, 'words' | 'sign'> {
  if (isRunning(turn)) return { words: turn.live && turn.liveStep !== '' ? 'Responding' : 'Waiting for the first word', sign: 'live' };
  switch (turn.outcome) {
    case 'stopped': case 'kept': case 'incomplete': return { words: 'Ended early, not kept', sign: 'stop' };
    case 'truncated': return { words: 'Cut at the output limit, not kept', sign: 'stop' };
    case 'refused': return { words: 'The model declined, not kept', sign: 'declined' };
    case 'paused': return { words: 'Paused, not kept', sign: 'stop' };
    default: return { words: 'Answered, not kept', sign: 'check' };
  }
}
