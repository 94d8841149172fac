import type { TurnView } from '$lib/backend/types';

const running = ['accepted', 'preparing', 'responding', 'waiting'];

/** The answer is on its way. */
export function isRunning(turn: TurnView): boolean {
  return running.includes(turn.state);
}

/** There is an answer that stands as it is. */
export function isFinal(turn: TurnView): boolean {
  return !isRunning(turn) && !['incomplete', 'failed', 'unsent', 'unsaved'].includes(turn.state);
}

/** What keeps an answer from being whole; empty: nothing. */
export function problemOf(turn: TurnView): string {
  switch (turn.state) {
    case 'incomplete': return `Incomplete answer. ${turn.error?.message ?? ''}`.trim();
    case 'unsent': return 'Not sent: the program ended before';
    case 'unsaved': return 'Answer received, not saved yet';
    case 'failed': return turn.outcome === 'discarded' ? 'Discarded' : `No answer. ${turn.error?.message ?? ''}`.trim();
    default: return '';
  }
}
