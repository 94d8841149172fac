import type { TurnView } from '$lib/backend/types';
import { program } from '$lib/i18n/program';
import { t } from '$lib/i18n/i18n.svelte';
import { capitalized } from '../../transcript/labels';

const running = ['accepted', 'preparing', 'responding', 'waiting'];

/** The answer is arriving. */
export function isRunning(turn: TurnView): boolean {
  return running.includes(turn.state);
}

/** There is a final answer. */
export function isFinal(turn: TurnView): boolean {
  return !isRunning(turn) && !['incomplete', 'failed', 'unsent', 'unsaved'].includes(turn.state);
}

/** Why an answer is incomplete; empty: it is complete. */
export function problemOf(turn: TurnView): string {
  switch (turn.state) {
    case 'incomplete': return turn.error ? t('branches.incompleteWhy', { why: capitalized(program(turn.error.message)) }) : t('branches.incomplete');
    case 'unsent': return t('branches.unsent');
    case 'unsaved': return t('transcript.receivedUnsaved');
    case 'failed':
      if (turn.outcome === 'discarded') return t('transcript.discarded');
      return turn.error ? t('transcript.noAnswerWhy', { why: capitalized(program(turn.error.message)) }) : t('branches.noAnswer');
    default: return '';
  }
}
