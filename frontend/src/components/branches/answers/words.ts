import type { TurnView } from '$lib/backend/types';
import { program } from '$lib/words/program';
import { t } from '$lib/words/words.svelte';

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
    case 'incomplete': return turn.error ? t('branches.incompleteWhy', { why: program(turn.error.message) }) : t('branches.incomplete');
    case 'unsent': return t('branches.unsent');
    case 'unsaved': return t('transcript.receivedUnsaved');
    case 'failed':
      if (turn.outcome === 'discarded') return t('transcript.discarded');
      return turn.error ? t('transcript.noAnswerWhy', { why: program(turn.error.message) }) : t('branches.noAnswer');
    default: return '';
  }
}
