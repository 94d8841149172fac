/** The texts of the transcript about a turn: states, days, and what a screen reader announces. */
import { asSentence } from '$lib/backend/errors';
import type { BranchView, TurnView } from '$lib/backend/types';
import { number } from '$lib/i18n/format';
import { program } from '$lib/i18n/program';
import { language, locale, t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatDate, formatCount, formatBytes, formatDuration } from '$shared/format';

export interface Status {
  label: string;
  tone: 'plain' | 'warn';
  sign: 'durable' | 'live' | 'striped' | 'check' | 'stop' | 'warn' | 'declined' | 'discarded' | 'head';
}

/** How an answer ended, if it did not end normally. */
const outcomes = { stopped: 'stop', truncated: 'stop', refused: 'declined', kept: 'check', paused: 'stop' } as const;

const isOutcome = (outcome: string): outcome is keyof typeof outcomes => outcome in outcomes;
const plain = (key: PlainKey, sign: Status['sign']): Status => ({ label: t(key), sign, tone: 'plain' });
const warned = (key: PlainKey): Status => ({ label: t(key), sign: 'warn', tone: 'warn' });

/** The first words of the footer. */
export function statusOf({ state, outcome, indexStatus }: TurnView): Status {
  switch (state) {
    case 'accepted': return plain('transcript.savedSending', 'durable');
    case 'preparing': return plain('transcript.preparing', 'live');
    case 'responding': return plain('transcript.responding', 'live');
    case 'waiting': return warned('transcript.waiting');
    case 'failed': return plain('transcript.discarded', 'discarded');
    case 'degraded': return warned('transcript.notSearchable');
    case 'pending': return isOutcome(outcome) ? plain(`transcript.${outcome}Pending`, outcomes[outcome]) : plain('transcript.notSummarized', 'striped');
  }
  if (isOutcome(outcome)) return plain(`transcript.${outcome}`, outcomes[outcome]);
  if (state === 'head') return plain('transcript.latest', 'head');
  return plain(indexStatus === 'ok' ? 'transcript.searchable' : 'transcript.saved', 'check');
}

const stateNames: Record<string, PlainKey> = {
  accepted: 'transcript.stateAccepted', preparing: 'transcript.statePreparing', responding: 'transcript.stateResponding', pending: 'transcript.statePending', committed: 'transcript.stateSaved',
  unsent: 'transcript.stateUnsent', incomplete: 'transcript.stateIncomplete', failed: 'transcript.stateFailed', 'not kept': 'transcript.stateNotKept',
};
const outcomeNames: Record<string, PlainKey> = {
  stopped: 'transcript.outcomeStopped', truncated: 'transcript.outcomeTruncated', refused: 'transcript.outcomeRefused', kept: 'transcript.outcomeKept', paused: 'transcript.outcomePaused',
};
const named = (names: Record<string, PlainKey>, id: string): string => (names[id] ? t(names[id]) : id);

/** The turn's state in its accessible name: "Turn 147, saved". */
export function stateName({ state: id, outcome }: Pick<TurnView, 'state' | 'outcome'>): string {
  if (outcome === 'discarded') return t('transcript.stateDiscarded');
  if (id === 'degraded') return t('transcript.stateDegraded');
  if (id === 'head') return t('transcript.stateLatest');
  if (id === 'unsaved') return t('transcript.stateUnsaved');
  if (id === 'waiting') return t('transcript.stateWaiting');
  const state = named(stateNames, id);
  if (outcome === '' || outcome === 'completed' || id === 'incomplete' || id === 'failed') return state;
  return t('transcript.outcomeAndState', { outcome: named(outcomeNames, outcome), state });
}

/** "9 806 in, 612 out": as counted by the provider. */
export function tokenText(turn: TurnView): string {
  if (turn.inputTokens === 0 && turn.outputTokens === 0) return '';
  return t('transcript.tokens', { input: turn.inputTokens, output: turn.outputTokens });
}

/** "in 12.3 s, 50 tokens per second": for the whole turn including the waiting time. Empty if unknown. */
export function paceText({ durationMs, outputTokens }: Pick<TurnView, 'durationMs' | 'outputTokens'>): string {
  if (durationMs <= 0) return '';
  const rate = rateText(outputTokens, durationMs);
  return rate ? t('transcript.paceRate', { span: formatDuration(durationMs), rate }) : t('transcript.pace', { span: formatDuration(durationMs) });
}

/** "50 tokens per second", "2.4 tokens per second"; empty if it cannot be computed. */
export function rateText(tokens: number, ms: number): string {
  if (tokens <= 0 || ms <= 0) return '';
  const rate = (tokens * 1000) / ms;
  return t('transcript.rate', { rate: rate < 10 ? number(locale(), rate, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) : formatCount(rate) });
}

export function timeOf(at: number): string {
  return formatDate(at, { hour: '2-digit', minute: '2-digit' });
}

export function fullTime(at: number): string {
  return formatDate(at, { dateStyle: 'full', timeStyle: 'medium' });
}

/** "Tuesday 18 November" for the first turn of a day; empty otherwise. */
export function newDay(before: TurnView | undefined, turn: TurnView): string {
  const date = new Date(turn.createdAt);
  if (before && new Date(before.createdAt).toDateString() === date.toDateString()) return '';
  const sameYear = date.getFullYear() === new Date().getFullYear();
  return weekday(turn.createdAt, sameYear ? {} : { year: 'numeric' });
}

/** The machine on which the conversation continues with a turn; empty if it is the one of the turn before, or not known. */
export function newMachine(before: TurnView | undefined, turn: TurnView, branches: readonly BranchView[]): string {
  if (!before || before.branchId === turn.branchId) return '';
  const on = (branchId: string) => branches.find((branch) => branch.id === branchId)?.machine ?? '';
  return on(turn.branchId) === on(before.branchId) ? '' : on(turn.branchId);
}

/** "Tuesday 18 November 2025" */
export function fullDay(at: number): string {
  return weekday(at, { year: 'numeric' });
}

function weekday(at: number, year: { year?: 'numeric' }): string {
  const day = formatDate(at, { weekday: 'long', day: 'numeric', month: 'long', ...year });
  return language() === 'en' ? day.replace(',', '') : day;
}

/** What is announced when the state of the newest turn changes: the state, never the text. */
export function announcement(turn: TurnView | undefined): string {
  switch (turn?.state) {
    case 'accepted': return t('transcript.messageSaved');
    case 'preparing': return t('transcript.preparing');
    case 'responding': return t('transcript.arriving');
    case 'waiting': return t('transcript.callWaits');
    case 'failed':
      if (turn.outcome === 'discarded') return t('transcript.discarded');
      return turn.error ? t('transcript.noAnswerBecause', { why: program(turn.error.message) }) : t('transcript.noAnswerFailed');
    case 'incomplete': return t('transcript.isIncomplete');
    case 'unsaved': return t('transcript.receivedUnsaved');
    case 'pending': case 'not kept': return turn.outcome === 'stopped' ? t('transcript.stoppedKept') : t('transcript.complete');
    default: return '';
  }
}

/** "Tried 4 times in 38 s; nothing arrived." */
export function attemptText({ attempts, durationMs }: Pick<TurnView, 'attempts' | 'durationMs'>): string {
  if (attempts <= 1) return t('transcript.nothingArrived');
  return durationMs > 0 ? t('transcript.triedIn', { count: attempts, span: formatDuration(durationMs) }) : t('transcript.tried', { count: attempts });
}

/** "No answer. The provider is overloaded": with the reason, if there is one. */
export function noAnswerText(error: TurnView['error']): string {
  return error ? t('transcript.noAnswerWhy', { why: capitalized(program(error.message)) }) : t('transcript.noAnswerNoReason');
}

/** "12 480 bytes", or "1.2 MB" when single bytes no longer matter. */
export function byteText(bytes: number): string {
  return bytes < 100_000 ? t('transcript.byteCount', { bytes }) : formatBytes(bytes);
}

/** How much of an incomplete answer is certain to survive a power failure. */
export function diskText({ displayed, durable }: Pick<TurnView, 'displayed' | 'durable'>): string {
  if (durable >= displayed) return t('transcript.onDisk');
  if (durable === 0) return t('transcript.noneOnDisk');
  return durable === 1 ? t('transcript.oneOnDisk') : t('transcript.someOnDisk', { bytes: byteText(durable) });
}

/** The text with a capital letter, as in a title. */
export function capitalized(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}

/** The text as a sentence: with a capital letter and a full stop. */
export const sentence = asSentence;
