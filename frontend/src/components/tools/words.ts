/** What the window says about calls of tools: their state, who decided, and the choices there are. */
import type { ToolCallView, ToolDefinitionView } from '$lib/backend/types';
import { clock, spanned } from '$shared/format';

export type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

export interface CallState {
  words: string;
  tone: Tone;
  sign: 'waits' | 'runs' | 'done' | 'failed' | 'denied' | 'unknown' | 'none';
}

/** The word on the card. `now` counts the time of a call that runs. */
export function callState(call: ToolCallView, now: number): CallState {
  switch (call.state) {
    case 'proposed': return { words: 'Waits for you', tone: 'warn', sign: 'waits' };
    case 'allowed': return { words: 'Allowed, starts soon', tone: 'accent', sign: 'runs' };
    case 'started': return { words: call.running ? `Running, ${whole(now - call.startedAt)}` : 'Started', tone: 'accent', sign: 'runs' };
    case 'unknown': return { words: 'Outcome unknown', tone: 'warn', sign: 'unknown' };
  }
  if (call.decision === 'deny' || call.decision === 'never') return { words: 'Denied', tone: 'plain', sign: 'denied' };
  if (call.decision === 'not_run') return { words: 'Not run', tone: 'plain', sign: 'denied' };
  if (call.isError) return { words: 'Failed', tone: 'danger', sign: 'failed' };
  const took = call.endedAt - call.startedAt;
  return { words: call.startedAt > 0 && took >= 0 ? `Done in ${spanned(took)}` : 'Done', tone: 'ok', sign: 'done' };
}

/** Whole seconds: what is renewed each second has no tenths. */
const whole = (ms: number) => spanned(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace('.0', '');

/** Whether a call goes on only after a person said something. */
export function waits(call: ToolCallView): boolean {
  return call.state === 'proposed' || call.state === 'unknown';
}

/** "staging-db.read_query"; of a built-in tool its name alone. */
export function callName(call: Pick<ToolCallView, 'source' | 'tool' | 'name'>): string {
  if (call.source === '' || call.tool === '') return call.name;
  return call.source === 'builtin' ? call.tool : `${call.source}.${call.tool}`;
}

export function sourceName(source: string): string {
  return source === 'builtin' ? 'Built in' : source;
}

/** Who let it run, or did not, and when. Empty while nobody has. */
export function decisionWords(call: ToolCallView): string {
  const at = call.decidedAt > 0 ? ` at ${clock(call.decidedAt)}` : '';
  switch (call.decision) {
    case 'once': return `Allowed once${at}`;
    case 'session': return `Allowed for this session${at}`;
    case 'always': return call.effects ? `Always allowed${at}` : 'Runs without asking';
    case 'deny': return `Denied${at}. The model was told`;
    case 'never': return `Denied${at}, and not offered to models any more`;
    case 'not_run': return 'It was not started';
    default: return '';
  }
}

export interface Choice {
  id: string;
  label: string;
  /** The letter that does it while the card has the focus. */
  key: string;
  /** What it means, in full. */
  title: string;
  /** Holds for later calls too, so that it may hold for the whole server. */
  lasts: boolean;
}

export const choices: readonly Choice[] = [
  { id: 'once', label: 'Allow once', key: 'O', title: 'Run this call, and ask again the next time', lasts: false },
  { id: 'session', label: 'For this session', key: 'S', title: 'Run it, and do not ask again in this session', lasts: true },
  { id: 'always', label: 'Always', key: 'A', title: 'Run it, and do not ask again in any session', lasts: true },
  { id: 'deny', label: 'Deny', key: 'D', title: 'Do not run this call; the model is told', lasts: false },
  { id: 'never', label: 'Never', key: 'N', title: 'Do not run it, and do not offer the tool to models any more', lasts: true },
];

/** What can be done about a call of which nobody knows how it ended. */
export const resolutions = [
  { id: 'enter', label: 'Enter the result', key: 'E', title: 'You looked: write down what the call did' },
  { id: 'rerun', label: 'Run again', key: 'R', title: 'Start the same call once more. If the first one did its work, it is done twice' },
  { id: 'tell', label: 'Tell the model', key: 'T', title: 'The model is told that the outcome is unknown, and goes on' },
  { id: 'discard', label: 'Give up…', key: 'G', title: 'Discard this turn' },
] as const;

/** Why nobody knows how it ended, where the program says nothing itself. */
export function unknownWords(call: ToolCallView): string {
  if (call.why !== '') return call.why;
  switch (call.reason) {
    case 'cancelled': return 'It was cancelled while it ran. It may have done its work, or a part of it.';
    case 'timeout': return 'It did not end in time. It may have done its work, or still be at it.';
    case 'ended': return 'The server of this tool ended while the call ran. It may have done its work, or a part of it.';
    case 'unreadable': return 'It answered with something that cannot be read. It may have done its work.';
    case 'crash': return 'The program ended while the call ran. It may have done its work, or a part of it.';
    default: return 'It was started, and nobody knows how it ended.';
  }
}

/** What of a definition is new to the person who reads it. */
export function pinnedWords(definition: ToolDefinitionView): { words: string; tone: Tone } {
  switch (definition.pinned) {
    case 'accepted': return { words: 'Accepted', tone: 'ok' };
    case 'changed': return { words: 'Changed', tone: 'warn' };
    case 'gone': return { words: 'Not offered now', tone: 'plain' };
    default: return { words: 'New', tone: 'accent' };
  }
}

/** "2 tool calls wait for you". */
export function queueWords(calls: readonly { call: ToolCallView }[]): string {
  const unknown = calls.filter(({ call }) => call.state === 'unknown').length;
  const asked = calls.length - unknown;
  const asks = asked === 1 ? '1 tool call waits for you' : `${asked} tool calls wait for you`;
  const ended = unknown === 1 ? '1 call ended with an unknown outcome' : `${unknown} calls ended with an unknown outcome`;
  if (unknown === 0) return asks;
  return asked === 0 ? ended : `${asks}, ${ended}`;
}
