/** The shapes of backend/api/dto_context.go, field by field. */
import type { ErrorView } from './types';
import type { ChunkRow, MatchWhy } from './types_memory';

/** ContextView is the X-ray: what the model saw in a turn, or would see next. */
export interface ContextView {
  /** empty for what comes next */
  turnId: string;
  turnSeq: number;
  model: string;
  provider: string;
  /** "12.4k / 50k (25%) [2S]" */
  format: string;
  /** "plenty", "filling", "nearly full" */
  state: string;
  /** estimated */
  tokens: number;
  ceiling: number;
  /** Reported and Cached are the provider's own figures, 0 where it said nothing. */
  reported: number;
  cached: number;
  maxOutput: number;
  budget: BudgetView;
  cut: number;
  sections: ContextSection[];
  /** what was done to make it fit, in words, in order */
  shrink: string[];
  /** why the provider's token counts were ignored */
  usageNote?: string;
  /** RetrievalError says why nothing was retrieved; empty if nothing failed. */
  retrievalError: string;
  /** pending turns left out, by number */
  dropped: number[];
  /** Scope is how far memory was to reach: lineage, session, project or all; empty: it was off, or the turn is older than scopes. */
  scope: string;
  /** of the session, by its name then; empty: none */
  project: string;
  redacted: RedactionView[];
  sha256: string;
  /** assembled again it has the stored hash */
  same: boolean;
  /** why texts are missing or differ; empty if all is well */
  note: string;
  /** whose exact request Inspect.RawStep gives */
  stepId: string;
  /** it does not fit (what comes next) */
  error: ErrorView | null;
  lookedUp: LookedUpView[];
}

/** LookedUpView is an earlier turn that the model asked for with a tool while it answered. */
export interface LookedUpView {
  tool: string;
  sessionId: string;
  sessionTitle: string;
  turnId: string;
  /** 0: the turn is not here any more */
  turnSeq: number;
}

/** BudgetView is where the ceiling comes from, in tokens. */
export interface BudgetView {
  modelLimit: number;
  responseReserve: number;
  safetyMargin: number;
  inputBudget: number;
  allowance: number;
  summaries: number;
  highWater: number;
  lowWater: number;
  calibration: number;
}

/** ContextSection is a section of the prompt, in prompt order. */
export interface ContextSection {
  /** system, pinned, summaries, originals, pending, state, retrieved, message */
  name: string;
  tokens: number;
  cap: number;
  items: ContextItem[];
}

/** ContextItem is a piece of the prompt with its exact text and where it is from. */
export interface ContextItem {
  /** Source: config, pin, summary, extract, turn, state, chunk, day, now, message, partial. */
  source: string;
  /** of the pin, summary, turn, state or chunk */
  id: string;
  /** of a turn */
  seq: number;
  /** of a summary or extract: first turn */
  from: number;
  /** and last */
  to: number;
  role: string;
  /** in words: "Turn 12, you" */
  label: string;
  tokens: number;
  bytes: number;
  text: string;
  /** Change against the request before: "same", "new", "" if there was none. */
  change: string;
  /** of a chunk: the turn it is from */
  turnId: string;
  /** of a chunk: what it is and why it is here */
  memory: RecalledView | null;
}

/** RecalledView is a chunk of memory as a prompt holds it. */
export interface RecalledView {
  /** from 1, among what was packed */
  rank: number;
  /** 0 to 1 */
  score: number;
  /** full, slice or summary */
  form: string;
  /** by hand */
  attached: boolean;
  /** null: it was deleted */
  chunk: ChunkRow | null;
  why: MatchWhy;
}

/** ContextDiff is what changed from one request to the next. */
export interface ContextDiff {
  from: ContextView;
  to: ContextView;
  /** items of From that To has no more */
  removed: ContextItem[];
  added: ContextItem[];
  /** SharedBytes is how much of the front is the same: what a provider's cache can reuse. */
  sharedBytes: number;
  totalBytes: number;
}

/** RedactionView is a kind of secret that was replaced before sending. */
export interface RedactionView {
  rule: string;
  count: number;
}

/** SwitchPreview says what another model would change, before it is chosen. */
export interface SwitchPreview {
  model: string;
  /** "expanding", "shrinking", "no change" */
  kind: string;
  oldCeiling: number;
  newCeiling: number;
  oldTokens: number;
  newTokens: number;
  /** turns that come back as originals */
  returning: number;
  /** turns that would be summarized */
  compressed: number;
  /** NeedsSummarization: turns no longer fit and have no summary yet. Unsummarized of them are sent as extracts, Dropped are pending and left out. */
  needsSummarization: boolean;
  unsummarized: number;
  dropped: number;
  /** Cost is what the next input would cost on that model before its answer, "0.0310"; empty without prices. */
  cost: string;
  /** the same in a sentence */
  message: string;
  /** the conversation does not fit that model at all */
  error: ErrorView | null;
}

/** RawStep is the exact request and response of a step. Of a very long stream so many events are left out after the first ones. */
export interface RawStep {
  request: string;
  /** empty when it was a stream */
  response: string;
  events: RawEvent[];
  leftOut: number;
  leftOutAfter: number;
  leftOutBytes: number;
}

/** RawEvent is one event of a stream, byte for byte. */
export interface RawEvent {
  type: string;
  data: string;
}
