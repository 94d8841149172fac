/** Texts and numbers of the header (SRD 17.1). */
import type { Header, SwitchPreview } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatDollars, formatPercent, formatShort } from '$shared/format';

const phases: Record<string, PlainKey> = {
  Accepted: 'header.phaseAccepted', ContextPrepared: 'header.phasePreparing', Responding: 'header.phaseResponding', ResponseFinalized: 'header.phaseAnswered',
  StateCommitted: 'header.phaseCommitted', Indexed: 'header.phaseIndexed', Done: 'header.phaseDone', Failed: 'header.phaseFailed',
};

/** The phase of the newest turn in one word, or its outcome if that says more. */
export function phaseWord(phase: string, outcome: string): string {
  const special = outcomeKey(phase, outcome);
  if (special) return t(special);
  const key = phases[phase];
  return key ? t(key) : phase;
}

/** The outcome of a turn, if it says more than its phase. */
function outcomeKey(phase: string, outcome: string): PlainKey | undefined {
  if (phase === '') return 'header.noTurn';
  if (phase === 'Responding' && outcome === 'waiting') return 'header.phaseWaiting';
  if (phase === 'Responding' && outcome === 'incomplete') return 'header.phaseIncomplete';
  if (phase === 'Responding' && outcome === 'unsaved') return 'header.phaseUnsaved';
  if (phase === 'Failed' && outcome === 'discarded') return 'header.phaseDiscarded';
  return undefined;
}

const answers: Record<string, PlainKey> = {
  Accepted: 'header.sending', ContextPrepared: 'header.phasePreparing', Responding: 'header.answering', ResponseFinalized: 'header.saved',
  StateCommitted: 'header.saved', Indexed: 'header.saved', Done: 'header.saved',
};

/** The phase in a word for users who do not know the phases. */
export function answerWord(phase: string, outcome: string): string {
  if (phase === '') return t('header.noMessage');
  const key = outcomeKey(phase, outcome) ? undefined : answers[phase];
  return key ? t(key) : phaseWord(phase, outcome);
}

/** "#7 9K4T": the number and short id of the head state, and what it covers. */
export function headText({ headSeq, headShortId, coveredSeq }: Pick<Header, 'headSeq' | 'headShortId' | 'coveredSeq'>): string {
  return coveredSeq === 0 ? t('header.noHead') : t('header.headText', { seq: headSeq, id: headShortId, covered: coveredSeq });
}

/** "#150 ResponseFinalized (Answered)": the exact phase, and its word where that is another one. */
export function phaseText(turnSeq: number, phase: string, outcome: string): string {
  const word = phaseWord(phase, outcome);
  if (turnSeq === 0) return word;
  return word === phase ? `#${turnSeq} ${phase}` : t('header.phaseText', { seq: turnSeq, phase, word });
}

/** Whether the newest answer is final, and so in the database. */
const isFinal = (phase: string): boolean => answers[phase] === 'header.saved';

/** Whether the phase means work in progress. */
export function phaseRuns(phase: string, outcome: string): boolean {
  return phase === 'Accepted' || phase === 'ContextPrepared' || (phase === 'Responding' && !['incomplete', 'unsaved', 'waiting'].includes(outcome));
}

/** What needs attention: an interrupted answer, a failed turn. */
export function phaseTone(phase: string, outcome: string): 'warn' | 'danger' | undefined {
  if (phase === 'Responding' && (outcome === 'incomplete' || outcome === 'waiting')) return 'warn';
  return phase === 'Failed' && outcome !== 'discarded' ? 'danger' : undefined;
}

/** "2 948 / 3 412 B": durable bytes first. */
export function streamBytes(durable: number, displayed: number): string {
  return t('header.streamBytes', { durable, displayed });
}

/** The ratio of bytes on disk to bytes shown. */
export type StreamState = 'idle' | 'waiting' | 'buffered' | 'durable';

const streamStates: Record<StreamState, PlainKey> = { idle: 'header.streamIdle', waiting: 'header.streamWaiting', buffered: 'header.streamBuffered', durable: 'header.streamDurable' };

/** The exact word for it. */
export function streamTerm(state: StreamState): string {
  return t(streamStates[state]);
}

/** An answer that is final without a stream was imported or copied: it is durable. */
export function streamState(durable: number, displayed: number, phase: string, runs: boolean): StreamState {
  if (displayed > durable) return 'buffered';
  if (displayed > 0 || isFinal(phase)) return 'durable';
  return runs ? 'waiting' : 'idle';
}

/** "12.4k / 50k (25%)" and, because it is less prominent, "[2S 1E]": the numbers of summaries and extracts. */
export function contextParts(header: Pick<Header, 'contextTokens' | 'contextCeiling' | 'summaries' | 'extracts'>): { main: string; summaries: string } {
  const { contextTokens: tokens, contextCeiling: ceiling, summaries, extracts } = header;
  if (ceiling === 0) return { main: '', summaries: '' };
  const marks = [summaries > 0 && `${summaries}S`, extracts > 0 && `${extracts}E`].filter(Boolean).join(' ');
  return { main: `${formatShort(tokens)} / ${formatShort(ceiling)} (${formatPercent(Math.round((tokens / ceiling) * 100))})`, summaries: marks && `[${marks}]` };
}

/** "25 % used", of the limit of one request. */
export function contextShare(header: Header): string {
  if (header.contextCeiling === 0) return '';
  return t('header.used', { share: formatPercent(Math.round((header.contextTokens / header.contextCeiling) * 100)) });
}

const contextStates: Record<string, PlainKey> = { plenty: 'header.plenty', filling: 'header.filling', 'nearly full': 'header.nearlyFull' };

/** How full the context is, in one word. */
export function contextState(header: Header): string {
  const key = contextStates[header.contextState];
  return key ? t(key) : header.contextState;
}

/** Joins sentences. */
const sentences = (...all: (string | false)[]): string => all.filter(Boolean).join(' ');

function replacing({ summaries, extracts }: Header): string {
  if (summaries > 0 && extracts > 0) return t('header.summariesAndExtracts', { summaries, extracts });
  if (summaries > 0) return t('header.rangeSummaries', { count: summaries });
  return extracts > 0 ? t('header.extracts', { count: extracts }) : '';
}

export function contextTitle(header: Header, cost = ''): string {
  const { main, summaries } = contextParts(header);
  return sentences(
    main !== '' && `${`${main} ${summaries}`.trim()}.`,
    t('header.contextTitle', { tokens: header.contextTokens, ceiling: header.contextCeiling, state: contextState(header) }),
    header.contextRecalled > 0 && t('header.recalled', { tokens: header.contextRecalled }),
    header.contextMemory > 0 && t('header.memoryAdds', { tokens: header.contextMemory }),
    replacing(header),
    !header.infinity && t('header.plainChatTitle'),
    cost,
    t('header.opensXray'),
  );
}

export function pendingText(pending: number): string {
  return t('header.pendingText', { count: pending });
}

/** What switching models changes about the history, in sentences. */
export function switchText(preview: SwitchPreview): string {
  const more = preview.newTokens - preview.oldTokens;
  const text = sentences(
    preview.returning > 0 && t('header.returning', { count: preview.returning }),
    preview.compressed > 0 && t('header.compressed', { count: preview.compressed }),
    preview.dropped > 0 ? t('header.dropped', { count: preview.dropped }) : preview.needsSummarization && t('header.unsummarized', { count: preview.unsummarized }),
    more !== 0 && t(more > 0 ? 'header.costsMore' : 'header.costsLess', { tokens: Math.abs(more) }),
    preview.cost !== null && t('header.nextInput', { cost: formatDollars(preview.cost) }),
  );
  return text || preview.message;
}
