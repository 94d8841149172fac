/** What the transcript says about a turn: state words, days, and what a screen reader hears. */
import type { TurnView } from '$lib/backend/types';
import { grouped, sized, spanned } from '$shared/format';

export interface Status {
  words: string;
  tone: 'plain' | 'warn';
  sign: 'durable' | 'live' | 'striped' | 'check' | 'stop' | 'warn' | 'declined' | 'discarded' | 'head';
}

/** How an answer ended, where it did not simply end. */
const outcomes: Record<string, { words: string; sign: Status['sign'] }> = {
  stopped: { words: 'Stopped', sign: 'stop' },
  truncated: { words: 'Cut at the output limit', sign: 'stop' },
  refused: { words: 'The model declined', sign: 'declined' },
  kept: { words: 'Partial answer, kept', sign: 'check' },
  paused: { words: 'Paused', sign: 'stop' },
};

const plain = (words: string, sign: Status['sign']): Status => ({ words, sign, tone: 'plain' });

/** The footer's first words. */
export function statusOf(turn: TurnView): Status {
  const outcome = outcomes[turn.outcome];
  switch (turn.state) {
    case 'accepted': return plain('Saved, sending…', 'durable');
    case 'preparing': return plain('Preparing the context', 'live');
    case 'responding': return plain('Responding', 'live');
    case 'waiting': return { words: 'Waiting for you', sign: 'warn', tone: 'warn' };
    case 'failed': return plain('Discarded', 'discarded');
    case 'degraded': return { words: 'Saved, not searchable yet', sign: 'warn', tone: 'warn' };
    case 'pending': return outcome ? plain(`${outcome.words}, pending`, outcome.sign) : plain('Saved, not summarised yet', 'striped');
    case 'head': return outcome ? plain(outcome.words, outcome.sign) : plain('Saved · latest', 'head');
    default: return outcome ? plain(outcome.words, outcome.sign) : plain(turn.indexStatus === 'indexed' ? 'Saved, searchable' : 'Saved', 'check');
  }
}

/** The turn's state in its accessible name: "Turn 147, saved". */
export function stateName(turn: TurnView): string {
  if (turn.outcome === 'discarded') return 'discarded';
  if (turn.state === 'degraded') return 'saved, not searchable yet';
  if (turn.state === 'head') return 'saved, latest';
  if (turn.state === 'unsaved') return 'not saved yet';
  if (turn.state === 'waiting') return 'waiting for you';
  const state = turn.state === 'committed' ? 'saved' : turn.state;
  return turn.outcome === '' || turn.outcome === 'completed' || turn.state === 'incomplete' || turn.state === 'failed' ? state : `${turn.outcome}, ${state}`;
}

/** "9 806 in, 612 out": as the provider counted. */
export function tokenWords(turn: TurnView): string {
  if (turn.inputTokens === 0 && turn.outputTokens === 0) return '';
  return `${grouped(turn.inputTokens)} in, ${grouped(turn.outputTokens)} out`;
}

/** "in 12.3 s, 50 tokens a second": over all of a turn, the waiting too. Empty where it is not known. */
export function paceWords({ durationMs, outputTokens }: Pick<TurnView, 'durationMs' | 'outputTokens'>): string {
  if (durationMs <= 0) return '';
  const rate = rateWords(outputTokens, durationMs);
  return `in ${spanned(durationMs)}${rate && `, ${rate} over all of it`}`;
}

/** "50 tokens a second", "2.4 tokens a second"; empty where there is nothing to divide. */
export function rateWords(tokens: number, ms: number): string {
  if (tokens <= 0 || ms <= 0) return '';
  const rate = (tokens * 1000) / ms;
  return `${rate < 10 ? rate.toFixed(1) : grouped(rate)} tokens a second`;
}

export function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

export function fullTime(at: number): string {
  return new Date(at).toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'medium' });
}

/** "Tuesday 18 November" where a turn is the first of its day; empty elsewhere. */
export function newDay(before: TurnView | undefined, turn: TurnView): string {
  const date = new Date(turn.createdAt);
  if (before && new Date(before.createdAt).toDateString() === date.toDateString()) return '';
  const sameYear = date.getFullYear() === new Date().getFullYear();
  return date.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', ...(sameYear ? {} : { year: 'numeric' }) }).replace(',', '');
}

/** "Tuesday 18 November 2025" */
export function fullDay(at: number): string {
  return new Date(at).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).replace(',', '');
}

/** What is read out when the newest turn moves on: its state, never its text. */
export function announcement(turn: TurnView | undefined): string {
  switch (turn?.state) {
    case 'accepted': return 'Message saved';
    case 'preparing': return 'Preparing the context';
    case 'responding': return 'The answer is arriving';
    case 'waiting': return 'A tool call waits for you';
    case 'failed': return turn.outcome === 'discarded' ? 'Discarded' : `No answer: ${turn.error?.message ?? 'it failed'}`;
    case 'incomplete': return 'The answer is incomplete';
    case 'unsaved': return 'Answer received, not saved yet';
    case 'pending': case 'not kept': return turn.outcome === 'stopped' ? 'Stopped. What arrived is kept' : 'The answer is complete';
    default: return '';
  }
}

/** "Tried 4 times in 38 s; nothing arrived." */
export function attemptWords(turn: TurnView): string {
  const span = turn.durationMs > 0 ? ` in ${spanned(turn.durationMs)}` : '';
  return turn.attempts > 1 ? `Tried ${turn.attempts} times${span}; nothing arrived. ` : 'Nothing arrived. ';
}

/** "12 480 bytes", or "1.2 MB" where single bytes say nothing any more. */
export function byteWords(bytes: number): string {
  return bytes < 100_000 ? `${grouped(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}` : sized(bytes);
}

/** What of an incomplete answer is certain to survive a loss of power. */
export function diskWords({ displayed, durable }: Pick<TurnView, 'displayed' | 'durable'>): string {
  if (durable >= displayed) return 'Every byte shown here is on disk.';
  const held = durable === 0 ? 'None of it was' : `Only ${byteWords(durable)} of it ${durable === 1 ? 'was' : 'were'}`;
  return `${held} saved to disk: copy what you need, and check the disk before you continue.`;
}

/** Words as a title begins. */
export function capitalised(words: string): string {
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

/** Words as a sentence: with a capital and a full stop. */
export function sentence(text: string): string {
  const words = text.trim();
  if (words === '') return '';
  const opened = capitalised(words);
  return /[.!?…]$/.test(opened) ? opened : `${opened}.`;
}
