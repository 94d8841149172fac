/** The shapes of backend/api/dto_tools.go, field by field. */
import type { BlockView } from './types';

/** ToolCallView is a call of a tool as the tool journal has it, for its card. */
export interface ToolCallView {
  id: string;
  /** names the block of the answer that asks for it */
  toolUseId: string;
  turnId: string;
  step: string;
  /** as the model wrote it */
  name: string;
  /** "builtin" or a server; empty: no such tool was offered */
  source: string;
  /** the name that the source knows */
  tool: string;
  /** of the definition; empty if it has none */
  title: string;
  /** State is "proposed" (waits for a decision), "allowed", "started" (runs), "unknown" (a person says what becomes of it), "done". */
  state: string;
  /** Decision is "", "once", "session", "always", "deny", "never", "not_run" (it could not run, or its turn was ended before). */
  decision: string;
  /** Reason is why the outcome is unknown: "cancelled", "timeout", "ended", "unreadable", "crash". */
  reason: string;
  /** the same in words; empty unless it waits */
  why: string;
  effects: boolean;
  /** JSON, indented */
  arguments: string;
  /** Preview is what a call that waits would change: a line diff, its lines begin with "+", "-" or a space. Empty: its source cannot say. */
  preview: string;
  /** secrets taken out of the arguments as they left */
  redactions: number;
  /** the first part of its text */
  result: string;
  /** there is more: Tools.Result has all of it */
  resultMore: boolean;
  isError: boolean;
  /** in the result */
  images: number;
  /** hash of what the decision was about */
  definition: string;
  runs: number;
  /** in this process, now: it can be cancelled */
  running: boolean;
  /** Progress of a call that runs: done of total, total 0 if nobody knows; and its last words. */
  progressDone: number;
  progressTotal: number;
  progressMessage: string;
  createdAt: number;
  decidedAt: number;
  startedAt: number;
  endedAt: number;
}

/** WaitingCallView is a call in the queue of decisions, with where it belongs. */
export interface WaitingCallView {
  call: ToolCallView;
  sessionId: string;
  branchId: string;
  /** title */
  session: string;
  turnSeq: number;
  /** null: it is not offered any more */
  definition: ToolDefinitionView | null;
}

/** WaitingCalls is the queue of all sessions, the oldest first. */
export interface WaitingCalls {
  rev: number;
  calls: WaitingCallView[];
}

/** ToolDefinitionView is a tool and what a person has said about it. */
export interface ToolDefinitionView {
  source: string;
  tool: string;
  /** as models get it */
  name: string;
  title: string;
  description: string;
  /** JSON, indented */
  schema: string;
  /** the server's own hints; they are shown and never trusted */
  annotations: string;
  hash: string;
  effects: boolean;
  builtIn: boolean;
  /** Pinned is "accepted" (models are offered it), "new" or "changed" (they are not, until it is accepted), "gone" (accepted, and not offered by its server now). */
  pinned: string;
  /** Before is the definition that was accepted, where it has changed. */
  before: ToolDefinitionView | null;
  /** Decision is "" (ask), "always" or "never"; DecisionFrom is "tool", "server", "config", "builtin" or "". */
  decision: string;
  decisionFrom: string;
  /** AsksEachCall: each call is asked about, so only "once", "deny" and "never" can be chosen. */
  asksEachCall: boolean;
}

/** ToolPermissionView is a decision that holds for later calls. */
export interface ToolPermissionView {
  source: string;
  /** empty: all tools of the source */
  tool: string;
  /** empty: in all sessions */
  sessionId: string;
  /** title */
  session: string;
  /** session, always; never, also in one session alone */
  decision: string;
  createdAt: number;
  /** FromConfig: it stands in config.toml (tools.allow), and is taken back there. */
  fromConfig: boolean;
}

/** ToolsPanel is the page about tools: what is offered, what was decided, what is wrong. */
export interface ToolsPanel {
  rev: number;
  /** tools.mode */
  mode: string;
  definitions: ToolDefinitionView[];
  permissions: ToolPermissionView[];
  /** Problems are tools that were refused, each in a sentence: a name that two have, a schema that is none. */
  problems: ToolProblemView[];
}

/** ToolProblemView is a tool that is not offered, and why. */
export interface ToolProblemView {
  source: string;
  tool: string;
  message: string;
}

/** ToolDecisionRequest decides about a call: "once", "session", "always", "deny", "never". Server makes "session", "always" and "never" hold for all tools of its source. Hash is that of the definition which was shown: another one is refused and asked about again. */
export interface ToolDecisionRequest {
  callId: string;
  choice: string;
  server: boolean;
  hash: string;
}

/** ToolResolveRequest says what becomes of a call whose outcome is unknown: "enter" (Text is the result as the person found it), "rerun", "tell" (the model is told that it is unknown). Hash is that of the definition which was shown: with another one the tool is not run again. To give up, discard the turn. */
export interface ToolResolveRequest {
  callId: string;
  choice: string;
  text: string;
  isError: boolean;
  hash: string;
}

/** ToolResultView is the whole result of a call. */
export interface ToolResultView {
  blocks: BlockView[];
  isError: boolean;
}
