/** Words and numbers of the header (SRD 17.1): what is counted, and how it is said. */
import type { Header, SwitchPreview } from '$lib/backend/types';
import { counted, grouped, percentage, sized } from '$shared/format';

const narrow = '\u202f';

const phases: Record<string, string> = {
  Accepted: 'Accepted', ContextPrepared: 'Preparing', Responding: 'Responding', ResponseFinalized: 'Answered',
  StateCommitted: 'Committed', Indexed: 'Indexed', Done: 'Done', Failed: 'Failed',
};

/** The phase of the newest turn in a word; how it ended, where that says more. */
export function phaseWord(phase: string, outcome: string): string {
  if (phase === 'Responding' && outcome === 'waiting') return 'Waiting for you';
  if (phase === '') return 'No turn yet';
  if (phase === 'Responding' && outcome === 'incomplete') return 'Incomplete';
  if (phase === 'Responding' && outcome === 'unsaved') return 'Not saved yet';
  if (phase === 'Failed' && outcome === 'discarded') return 'Discarded';
  return phases[phase] ?? phase;
}

const answers: Record<string, string> = { Accepted: 'Sending', ContextPrepared: 'Preparing', Responding: 'Answering', ResponseFinalized: 'Saved', StateCommitted: 'Saved', Indexed: 'Saved', Done: 'Saved' };

/** The same for someone who has not read about phases: the hint has the exact one. */
export function answerWord(phase: string, outcome: string): string {
  const exact = phaseWord(phase, outcome);
  if (phase === '') return 'No message yet';
  return exact === phases[phase] ? (answers[phase] ?? exact) : exact;
}

/** What the state summary covers. */
export function headTitle(seq: number, shortId: string): string {
  if (seq === 0) return 'Head #0: no turn is summarised yet. Opens State';
  return `Head #${seq}, state ${shortId}: the state summary covers turns 1 to ${seq}. Opens State`;
}

/** "All summarised", or how many turns are not yet. */
export function historyWords(pending: number, turns: number): string {
  if (turns === 0) return 'Empty';
  return pending === 0 ? 'All summarised' : `${counted(pending, 'turn')} to summarise`;
}

/** Whether that phase is work under way. */
export function phaseRuns(phase: string, outcome: string): boolean {
  return phase === 'Accepted' || phase === 'ContextPrepared' || (phase === 'Responding' && !['incomplete', 'unsaved', 'waiting'].includes(outcome));
}

/** What asks for the reader: an answer that broke off, a turn that failed. */
export function phaseTone(phase: string, outcome: string): 'warn' | 'danger' | undefined {
  if (phase === 'Responding' && (outcome === 'incomplete' || outcome === 'waiting')) return 'warn';
  return phase === 'Failed' && outcome !== 'discarded' ? 'danger' : undefined;
}

/** "2 948 / 3 412 B": durable first, because that is what is certain. */
export function streamBytes(durable: number, displayed: number): string {
  return `${grouped(durable)} / ${grouped(displayed)} B`;
}

/** "935 B", or what of it is on disk while more is shown. */
export function savedBytes(durable: number, displayed: number): string {
  if (displayed === 0) return 'Nothing yet';
  return durable >= displayed ? sized(durable) : `${grouped(durable)} of ${grouped(displayed)}${narrow}B`;
}

/** What the bar says: all is saved, or some is only shown so far. */
export function savedWord(said: ReturnType<typeof streamWord>): string {
  return { idle: '', waiting: 'waiting', buffered: 'buffered', durable: 'saved' }[said];
}

/** The word that says what the bar says. */
export function streamWord(durable: number, displayed: number, live: boolean): 'idle' | 'waiting' | 'buffered' | 'durable' {
  if (displayed === 0) return live ? 'waiting' : 'idle';
  return displayed > durable ? 'buffered' : 'durable';
}

/** live: it streams on, so that what is behind follows by itself. */
export function streamTitle(durable: number, displayed: number, live: boolean): string {
  if (displayed === 0) return live ? 'Stream 0 / 0 B. The request was sent; no text has arrived yet. Opens Activity' : 'Stream 0 / 0 B. Nothing has streamed yet. Opens Activity';
  const bytes = `Stream ${streamBytes(durable, displayed)}, durable / displayed. `;
  if (displayed <= durable) return `${bytes}All ${grouped(displayed)} bytes shown are on disk. Opens Activity`;
  const behind = grouped(displayed - durable);
  if (live) return `${bytes}${grouped(durable)} bytes are on disk; ${behind} more are being written. Opens Activity`;
  return `${bytes}${grouped(durable)} bytes are on disk; ${behind} more are shown but could not be saved. Opens Activity`;
}

/** "12.4k / 50k (25%)" and "[2S]" apart: the second is quieter. */
export function contextParts(format: string): { main: string; summaries: string } {
  const found = /^(.*?)\s*(\[\d+[SE](?: \d+E)?\])?$/.exec(format);
  return { main: (found?.[1] ?? format).replace(/(\d)%/g, `$1${narrow}%`), summaries: found?.[2] ?? '' };
}

/** "25 % used", of what one request may hold. */
export function contextShare(header: Header): string {
  if (header.contextCeiling === 0) return '';
  return `${percentage(Math.round((header.contextTokens / header.contextCeiling) * 100))} used`;
}

export function contextTitle(header: Header, cost = ''): string {
  const replacing = [header.summaries > 0 ? counted(header.summaries, 'range summary', 'range summaries') : '', header.extracts > 0 ? counted(header.extracts, 'extract') : ''].filter(Boolean).join(' and ');
  const summaries = replacing ? ` ${replacing} ${header.summaries + header.extracts === 1 ? 'replaces' : 'replace'} the oldest turns.` : '';
  const recalled = header.contextRecalled > 0 ? ` ${grouped(header.contextRecalled)} of them are recalled memory, which gives way when room is needed.` : '';
  const plain = header.infinity ? '' : ' Unlimited history is off: this is plain chat, and a history that is too long is rejected.';
  const exact = header.contextFormat ? `${contextParts(header.contextFormat).main} ${contextParts(header.contextFormat).summaries}`.trim() + '. ' : '';
  return `${exact}The next request would contain ${grouped(header.contextTokens)} of ${grouped(header.contextCeiling)} tokens: ${header.contextState}.${recalled}${summaries}${plain}${cost ? ` ${cost}` : ''} Opens the X-ray`;
}

export function pendingWords(pending: number): string {
  return pending === 0 ? 'None' : counted(pending, 'turn');
}

export function pendingTitle(pending: number): string {
  if (pending === 0) return 'Pending 0: all turns are summarised. Opens Pending';
  return `Pending ${pending}: ${counted(pending, 'turn', 'turns')} not summarised yet. Opens Pending`;
}

/** What a switch of models changes about the history, in sentences. */
export function switchWords(preview: SwitchPreview): string {
  const parts: string[] = [];
  if (preview.returning > 0) parts.push(`${counted(preview.returning, 'turn returns', 'turns return')} in full.`);
  if (preview.compressed > 0) parts.push(`${counted(preview.compressed, 'turn', 'turns')} will be represented by summaries; the transcript is complete, and a larger model gets them in full again.`);
  if (preview.dropped > 0) parts.push(`It needs summarisation: ${counted(preview.dropped, 'pending turn is', 'pending turns are')} left out until committed.`);
  else if (preview.needsSummarization) parts.push(`It needs summarisation: ${counted(preview.unsummarized, 'turn has', 'turns have')} no summary yet, so extracts are sent until summaries are made in the background.`);
  const more = preview.newTokens - preview.oldTokens;
  if (more !== 0) parts.push(`Each request costs ${grouped(Math.abs(more))} tokens ${more > 0 ? 'more' : 'less'}.`);
  if (preview.cost) parts.push(`The next input costs about ${preview.cost}, before the answer.`);
  return parts.join(' ') || preview.message;
}
