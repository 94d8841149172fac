/** What the window shows about tool calls: their state, who decided, and the choices. */
import type { Resolution, ToolCallView, ToolDecision, ToolDefinitionView } from '$lib/backend/types';
import { program } from '$lib/i18n/program';
import { t } from '$lib/i18n/i18n.svelte';
import { formatTime, formatDuration, formatSeconds } from '$shared/format';

export type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

export interface CallState {
  label: string;
  tone: Tone;
  sign: 'waits' | 'runs' | 'done' | 'failed' | 'denied' | 'unknown' | 'none';
}

/** The state on the card. `now` is used for the running time of a call. */
export function callState(call: ToolCallView, now: number): CallState {
  switch (call.state) {
    case 'proposed': return { label: t('tools.waitsForYou'), tone: 'warn', sign: 'waits' };
    case 'allowed': return { label: t('tools.allowedStarts'), tone: 'accent', sign: 'runs' };
    case 'started': return { label: call.running ? t('tools.running', { time: inWholeSeconds(now - call.startedAt) }) : t('tools.started'), tone: 'accent', sign: 'runs' };
    case 'unknown': return outcomeUnknown();
  }
  if (call.decision === 'deny' || call.decision === 'never') return { label: t('tools.denied'), tone: 'plain', sign: 'denied' };
  if (call.decision === 'not_run') return { label: t('tools.notRun'), tone: 'plain', sign: 'denied' };
  if (call.outcomeUnknown) return outcomeUnknown();
  if (call.isError) return { label: t('tools.failed'), tone: 'danger', sign: 'failed' };
  const took = call.endedAt - call.startedAt;
  return { label: call.startedAt > 0 && took >= 0 ? t('tools.doneIn', { time: formatDuration(took) }) : t('shared.done'), tone: 'ok', sign: 'done' };
}

const outcomeUnknown = (): CallState => ({ label: t('tools.outcomeUnknown'), tone: 'warn', sign: 'unknown' });

/** Whole seconds: a number that is updated every second needs no tenths. */
const inWholeSeconds = (ms: number) => formatSeconds(Math.max(1, Math.floor(ms / 1000)));

/** Whether a call continues only after the user's decision. */
export function waits(call: ToolCallView): boolean {
  return call.state === 'proposed' || call.state === 'unknown';
}

/** "staging-db.read_query"; only the name for a built-in tool. */
export function callName(call: Pick<ToolCallView, 'source' | 'tool' | 'name'>): string {
  if (call.source === '' || call.tool === '') return call.name;
  return call.source === 'builtin' ? call.tool : `${call.source}.${call.tool}`;
}

export function sourceName(source: string): string {
  return source === 'builtin' ? t('settings.builtIn') : source;
}

/** Who allowed or denied it, and when. Empty before a decision. */
export function decisionText(call: ToolCallView): string {
  const time = call.decidedAt > 0 ? formatTime(call.decidedAt) : '';
  switch (call.decision) {
    case 'once': return time ? t('tools.allowedOnceAt', { time }) : t('tools.allowedOnce');
    case 'session': return time ? t('tools.allowedSessionAt', { time }) : t('tools.allowedSession');
    case 'always': if (!call.effects) return t('tools.runsWithout');
      return time ? t('tools.allowedAlwaysAt', { time }) : t('tools.alwaysAllowed');
    case 'deny': return time ? t('tools.deniedToldAt', { time }) : t('tools.deniedTold');
    case 'never': return time ? t('tools.deniedNeverAt', { time }) : t('tools.deniedNever');
    case 'not_run': return t('tools.notStarted');
    default: return '';
  }
}

export interface Choice<Id extends string> {
  id: Id;
  label: string;
  /** The letter that makes it, with Alt, while the card has the focus. */
  key: string;
  /** The full explanation. */
  title: string;
  /** Applies to later calls too, so it can also apply to the whole server. */
  lasts: boolean;
}

/** The choices for a call that waits. */
export type Decision = Exclude<ToolDecision, '' | 'not_run'>;

/** A choice with its label and explanation in the language of the window. */
function choice<Id extends Decision | Resolution>(id: Id, key: string, lasts = false): Choice<Id> {
  const name: Decision | Resolution = id;
  return {
    id, key, lasts,
    get label() {
      return t(`tools.${name}`);
    },
    get title() {
      return t(`tools.${name}Title`);
    },
  };
}

export const choices: readonly Choice<Decision>[] = [choice('once', 'O'), choice('session', 'S', true), choice('always', 'A', true), choice('deny', 'D'), choice('never', 'N', true)];

/** The choices for a call whose outcome is unknown. */
export const resolutions: readonly Choice<Resolution | 'discard'>[] = [
  choice('enter', 'E'),
  choice('rerun', 'R'),
  choice('tell', 'T'),
  {
    id: 'discard', key: 'G', lasts: false,
    get label() {
      return t('tools.giveUp');
    },
    get title() {
      return t('tools.discardTurn');
    },
  },
];

/** Why the outcome is unknown, if the program gives no reason. */
export function unknownText(call: ToolCallView): string {
  if (call.explanation !== '') return program(call.explanation);
  switch (call.reason) {
    case 'cancelled': return t('tools.cancelledWhile');
    case 'timeout': return t('tools.timedOut');
    case 'ended': return t('tools.serverEnded');
    case 'unreadable': return t('tools.unreadable');
    case 'crash': return t('tools.programEnded');
    default: return t('tools.nobodyKnows');
  }
}

/** Which part of a definition is new to the user. */
export function pinnedText(definition: ToolDefinitionView): { label: string; tone: Tone } {
  switch (definition.pinned) {
    case 'accepted': return { label: t('tools.accepted'), tone: 'ok' };
    case 'changed': return { label: t('tools.changed'), tone: 'warn' };
    case 'gone': return { label: t('tools.notOffered'), tone: 'plain' };
    default: return { label: t('tools.new'), tone: 'accent' };
  }
}

/** "2 tool calls wait for you". */
export function queueText(calls: readonly { call: ToolCallView }[]): string {
  const unknown = calls.filter(({ call }) => call.state === 'unknown').length;
  const waiting = calls.length - unknown;
  const waitingText = t('tools.callsWait', { count: waiting });
  const unknownText = t('tools.callsUnknown', { count: unknown });
  if (unknown === 0) return waitingText;
  return waiting === 0 ? unknownText : t('tools.callsBoth', { asked: waitingText, unknown: unknownText });
}
