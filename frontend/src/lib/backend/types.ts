/**
 * What crosses between the window and the program: the shapes of backend/api/dto.go, field by field
 * (types.test.ts compares the two). Moments are Unix milliseconds, sizes bytes, lengths tokens.
 */
import type { MemoryChip } from './types_memory';
import type { ToolCallView } from './types_tools';
export type * from './types_branches';
export type * from './types_context';
export type * from './types_embedders';
export type * from './types_library';
export type * from './types_programs';
export type * from './types_projects';
export type * from './types_mcp';
export type * from './types_memory';
export type * from './types_search';
export type * from './types_settings';
export type * from './types_storage';
export type * from './types_tools';
export type * from './types_transfer';
export * from './types_work';

/** ErrorView is an error as the window shows it: what happened, what to do. */
export interface ErrorView {
  code: string;
  op: string;
  message: string;
  hint: string;
}

/** SessionRow is a line of the session list. */
export interface SessionRow {
  id: string;
  title: string;
  activeBranch: string;
  createdAt: number;
  updatedAt: number;
  pinned: boolean;
  archived: boolean;
  /** empty: none */
  folder: string;
  /** of a duplicate just made: turns still open in the original */
  leftOut: number;
  branches: number;
  /** of the active branch's lineage */
  turns: number;
  /** of the active branch */
  pending: number;
  /** Status is the one thing worth a mark: "streaming", "incomplete", "failed", "unsent", "pending" or "". */
  status: string;
}

/** BranchView is a branch in the switcher. */
export interface BranchView {
  id: string;
  label: string;
  parentId: string;
  /** turn_seq it forked after; 0 for the first branch or one forked before turn 1 */
  forkSeq: number;
  /** of its lineage */
  turns: number;
  headSeq: number;
  headState: string;
  updatedAt: number;
  active: boolean;
  archived: boolean;
}

/** Header is the window's mandatory header (SRD 17.1), for one branch. While a turn streams, frames update the stream cell. */
export interface Header {
  sessionId: string;
  sessionTitle: string;
  branchId: string;
  branchLabel: string;
  headSeq: number;
  headShortId: string;
  pending: number;
  /** the newest turn; empty before the first */
  turnId: string;
  turnSeq: number;
  /** of that turn */
  phase: string;
  outcome: string;
  /** bytes of the newest step */
  displayed: number;
  durable: number;
  /** what the next request would hold, empty message */
  contextTokens: number;
  /** those of contextTokens that recalled memory takes; it gives way */
  contextRecalled: number;
  contextCeiling: number;
  /** the [2S] of the meter */
  summaries: number;
  /** its [3E] */
  extracts: number;
  /** false: plain chat, context.infinity is off */
  infinity: boolean;
  /** without recalled memory: "plenty" (under 70 %), "filling" (up to 90), "nearly full" */
  contextState: string;
  /** "12.4k / 50k (25%) [2S]" */
  contextFormat: string;
  model: string;
  modelWindow: number;
  /** of the session's folder; empty: that is a plain one, or it is in none */
  projectId: string;
  /** its name */
  project: string;
  /** how far memory reaches: lineage, session, project, all */
  scope: string;
  /** as it was set for this session; empty: by its project, else as configured */
  ownScope: string;
}

/** BlockView is a piece of a message to draw. */
export interface BlockView {
  /** "text", "reasoning", "refusal", "tool_use", "tool_result", "image", "document", "unknown" */
  kind: string;
  /** text; reasoning summary; tool arguments or result; raw JSON of an unknown */
  text: string;
  /** tool name; media type of an image; name of a document; provider of an unknown */
  name: string;
  /** tool_use_id; file of a document */
  id: string;
  /** Data is an image's data: URL. Remote images are never loaded. */
  data: string;
  isError: boolean;
  /** of a whole document */
  tokens: number;
  /** all of the document stands in the message */
  whole: boolean;
}

/** StepView is one attempt of a provider call. */
export interface StepView {
  id: string;
  index: number;
  attempt: number;
  provider: string;
  modelId: string;
  /** running, completed, incomplete, paused, failed, cancelled */
  status: string;
  reason: string;
  code: string;
  message: string;
  displayedBytes: number;
  durableBytes: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  startedAt: number;
  /** 0 while running */
  endedAt: number;
}

/** TurnView is a turn of the transcript. */
export interface TurnView {
  id: string;
  branchId: string;
  seq: number;
  phase: string;
  /** completed, truncated, refused, stopped, kept, paused, incomplete, failed, discarded or "" */
  outcome: string;
  user: BlockView[];
  /** Assistant is the final answer; of an incomplete or failed turn what was recovered; of a streaming one what is shown so far (frames after LiveSeq continue it). */
  assistant: BlockView[];
  /** State is the one word the rail and footer draw: "accepted", "preparing", "responding", "incomplete", "failed", "unsent", "unsaved" (the whole answer is there and becomes final by itself once the database takes it), "pending", "committed", "head", "degraded". */
  state: string;
  /** a stream runs in this process */
  live: boolean;
  /** LiveStep and LiveSeq say where frames go on: take frames of LiveStep with seq > LiveSeq. */
  liveStep: string;
  liveSeq: number;
  displayed: number;
  durable: number;
  model: string;
  provider: string;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  durationMs: number;
  attempts: number;
  retryOf: string;
  error: ErrorView | null;
  indexStatus: string;
  stateAfter: string;
  createdAt: number;
  updatedAt: number;
  /** CanContinue: an incomplete or stopped answer the model may be asked to go on with. */
  canContinue: boolean;
  /** Cost is what the turn cost by the configured prices, "0.031"; empty if there are none. */
  cost: string;
  /** Notice is a warning about this turn, such as a local server that cut the prompt; empty if none. */
  notice: string;
  /** its calls of tools, in order; those that were only shown (parse_only) are not there */
  calls: ToolCallView[];
  /** Memories is how many pieces of memory the model saw with it. */
  memories: number;
  /** MemoryError says why the model saw none; empty if nothing failed. */
  memoryError: string;
  /** ErasedAt is when what it said was erased for good; 0: it was not. */
  erasedAt: number;
}

/** SessionSnapshot is what opening a session returns: everything its first paint needs and the revision it is true for. */
export interface SessionSnapshot {
  rev: number;
  session: SessionRow;
  branches: BranchView[];
  header: Header;
  /** Turns are the newest of the lineage in order, FirstSeq..LastSeq. */
  turns: TurnView[];
  /** lowest turn_seq of the lineage, 0 if empty */
  firstSeq: number;
  lastSeq: number;
  draft: Draft;
}

/** TurnPage is a run of the lineage. */
export interface TurnPage {
  rev: number;
  turns: TurnView[];
}

/** Draft is a branch's unsent text. Queued means: send it when the running turn is final. */
export interface Draft {
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
  queued: boolean;
}

/** ImageUpload is a pasted or dropped image. */
export interface ImageUpload {
  /** image/png, image/jpeg, image/gif, image/webp */
  mediaType: string;
  /** base64, at most 5 MB decoded */
  data: string;
  name: string;
}

/** FileView is a document that is kept, for a chip. */
export interface FileView {
  id: string;
  name: string;
  mediaType: string;
  /** of its text */
  tokens: number;
}

/** DocumentView is a document to read. */
export interface DocumentView {
  file: FileView;
  text: string;
}

/** AttachPart is a piece of a document that is attached, in order. The first has no Upload; its result names the one of those that follow. */
export interface AttachPart {
  branchId: string;
  name: string;
  upload: string;
  /** base64 */
  data: string;
  last: boolean;
}

/** AttachResult is what became of a piece. File is there after the last; of an image that was given by its path, Image is, and goes with the draft. */
export interface AttachResult {
  upload: string;
  file: FileView | null;
  image: ImageUpload | null;
}

/** SendRequest is a message to send. Empty SessionID starts a new session; empty BranchID takes the active one; empty Model the session's. */
export interface SendRequest {
  sessionId: string;
  branchId: string;
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
  /** of this message; "": the session's */
  model: string;
  /** likewise */
  effort: string;
  /** Incomplete says what becomes of an incomplete turn that blocks the branch: "keep", "discard", or "" to refuse. */
  incomplete: string;
}

/** SendResult names what was made. Queued: a turn is still running, so the text became the branch's queued draft and no turn was made yet. */
export interface SendResult {
  sessionId: string;
  branchId: string;
  turnId: string;
  queued: boolean;
}

/** StreamState is a step's text as its journal holds it: what the window refetches after a gap. */
export interface StreamState {
  step: string;
  attempt: number;
  /** frames up to this one are contained */
  seq: number;
  blocks: BlockView[];
  displayed: number;
  durable: number;
  live: boolean;
}

/** PendingView is one uncommitted turn in the Pending tab. */
export interface PendingView {
  turnId: string;
  seq: number;
  /** first words of the user's message */
  title: string;
  tokens: number;
  /** in words: why it is pending */
  why: string;
  waitsFor: string;
  /** the next context holds it */
  inContext: boolean;
  job: JobView;
  createdAt: number;
}

/** JobView is a row of the durable queue. ID 0 means there is none. */
export interface JobView {
  id: number;
  type: string;
  turnId: string;
  turnSeq: number;
  sessionId: string;
  /** title */
  session: string;
  /** queued, running, done, dead */
  state: string;
  attempts: number;
  lastError: string;
  /** the failed job of an earlier turn; 0 is none */
  waitsFor: number;
  runAfter: number;
  updatedAt: number;
}

/** StateView is a committed state in the State tab. */
export interface StateView {
  id: string;
  shortId: string;
  seq: number;
  /** root, librarian, fallback, pins */
  origin: string;
  model: string;
  /** Markdown */
  summary: string;
  tokens: number;
  createdAt: number;
  head: boolean;
  /** last turn it covers, 0 for the root */
  turnSeq: number;
  /** Validation is the librarian's own account as JSON: what was found, kept, missing, how many tries, why it fell back. */
  validation: string;
}

/** PinView is a pinned fact. */
export interface PinView {
  id: string;
  text: string;
  position: number;
  tokens: number;
  version: number;
  createdAt: number;
  /** made on an ancestor branch before the fork */
  inherited: boolean;
}

/** PinSuggestion is a standing instruction of the user's that could be pinned. */
export interface PinSuggestion {
  id: string;
  turnId: string;
  turnSeq: number;
  text: string;
}

/** StatePanel is the State tab. */
export interface StatePanel {
  head: StateView;
  /** newest first, the head included */
  history: StateView[];
  /** oldest first, orphans last */
  ranges: RangeView[];
  /** history up to this turn is represented by ranges; 0: all originals */
  cut: number;
  pins: PinView[];
  pinTokens: number;
}

/** RangeView is a range summary in the State tab, beside the turns it covers. */
export interface RangeView {
  id: string;
  fromSeq: number;
  /** the last turn it covers */
  toSeq: number;
  tokens: number;
  originalTokens: number;
  /** a model id, or "extract" */
  by: string;
  content: string;
  /** Validation is the librarian's own account as JSON, as a state's; empty if no model was asked. */
  validation: string;
  /** superseded, kept */
  orphan: boolean;
  /** the next context holds it */
  inUse: boolean;
  createdAt: number;
}

/** RecoveryReport says what the reconciler found and did, at the start or later, without what was decided or deleted since. */
export interface RecoveryReport {
  at: number;
  /** nothing needed doing */
  clean: boolean;
  /** in one line */
  summary: string;
  items: RecoveryItem[];
}

/** RecoveryItem is one finding: "completed", "incomplete", "failed", "unsent", "committed", "requeued", "dead", "tools", "tools_asked", "discarded_lines", "pruned", "swept", "snapshot_ignored", "daily", "unreadable". */
export interface RecoveryItem {
  kind: string;
  sessionId: string;
  session: string;
  turnId: string;
  turnSeq: number;
  bytes: number;
  count: number;
  message: string;
}

/** ActivityPanel is the Activity tab. */
export interface ActivityPanel {
  jobs: JobView[];
  queued: number;
  running: number;
  dead: number;
  recovery: RecoveryReport;
  /** Earlier are the reports before it that said something, newest first. */
  earlier: RecoveryReport[];
  /** Turn is the metrics of the branch's newest turns, newest first. */
  turns: TurnMetrics[];
}

/** TurnMetrics is a row of the metrics table (SRD 15.1), times in milliseconds. */
export interface TurnMetrics {
  turnId: string;
  turnSeq: number;
  estimateTokens: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  searchMs: number;
  /** of indexing */
  embedMs: number;
  assembleMs: number;
  firstByteMs: number;
  streamMs: number;
  summarizeMs: number;
  indexMs: number;
  attempts: number;
  /** pieces of memory that were weighed */
  candidates: number;
  /** of them, what the model saw */
  selected: number;
  /** of those */
  packedTokens: number;
  /** The range of similarity of what was selected, 0 to 1; 0 where no vector found it. */
  similarityMin: number;
  similarityMax: number;
  /** Memory could not be searched for the turn, and why, of the context made last. */
  retrievalFailed: boolean;
  retrievalError: string;
  /** What became of the model's state summary: "passed", "repaired", "failed"; "": none was asked for. */
  validationResult: string;
  validationTries: number;
}

/** Frame is a piece of a stream: at most one per 16 ms per stream (SPEC 5). Seq counts frames of one step from 1. Text is to be appended to block Block. A frame with empty Text moves the counters only. */
export interface Frame {
  session: string;
  branch: string;
  turn: string;
  step: string;
  attempt: number;
  seq: number;
  block: number;
  /** text, reasoning, refusal, tool */
  kind: string;
  text: string;
  /** name, on the first frame of a tool block */
  tool: string;
  displayed: number;
  durable: number;
  journal_seq: number;
}

/** Change is every other event: something of Kind with ID is different as of Rev; ask for it. A snapshot with the same or a higher rev already holds it. */
export interface Change {
  rev: number;
  kind: ChangeKind;
  id: string;
  /** Session is the session it belongs to, empty for what belongs to none. */
  session: string;
}

/** Event names on the bus. */
export const EVENT_FRAME = 'ci:frame';
export const EVENT_CHANGE = 'ci:change';

/** What a Change can be about. */
export type ChangeKind =
  | 'sessions'
  | 'session'
  | 'turn'
  | 'head'
  | 'jobs'
  | 'pins'
  | 'draft'
  | 'settings'
  | 'recovery'
  | 'reindex'
  | 'task'
  | 'call'
  | 'tools'
  | 'servers'
  | 'programs'
  | 'library'
  | 'projects';
