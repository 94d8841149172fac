// Code generated from backend/api by `make types`. DO NOT EDIT.
import type { Phrase } from '../i18n/program';

// ---------------------------------------------------------------- backend/api/dto.go

/** ErrorView is an error as shown in the window: what happened, what to do. */
export interface ErrorView {
  code: Code;
  op: string;
  message: Phrase;
  hint: Phrase;
}

/** SessionRow is a row of the session list. */
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
  status: SessionStatus;
}

/** BranchView is a branch in the switcher. */
export interface BranchView {
  id: string;
  label: string;
  parentId: string;
  /** turn_seq after which it forked; 0 for the first branch or one forked before turn 1 */
  forkSeq: number;
  /** of its lineage */
  turns: number;
  updatedAt: number;
  active: boolean;
  archived: boolean;
  /** on which it began; empty: not known */
  machine: string;
  /** the branch of another device that it continues; empty: none */
  continues: string;
  /** its open turns are finished on another device */
  foreign: boolean;
}

/** Header is the window's header (SRD 17.1), for one branch. While a turn streams, frames update its stream cell. */
export interface Header {
  sessionId: string;
  sessionTitle: string;
  branchId: string;
  branchLabel: string;
  /** state_seq of the head */
  headSeq: number;
  /** the last turn covered by the head */
  coveredSeq: number;
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
  /** of the next request with an empty message, in the model's tokens as below */
  contextTokens: number;
  /** part of contextTokens taken by retrieved memory, which is reduced when necessary */
  contextRecalled: number;
  /** the most tokens that memory found for the message can add */
  contextMemory: number;
  contextCeiling: number;
  /** TokenFactor is how many of the model's tokens one that the program counts is. */
  tokenFactor: number;
  /** the [2S] of the meter */
  summaries: number;
  /** its [3E] */
  extracts: number;
  /** false: plain chat, context.infinity is off */
  infinity: boolean;
  /** without retrieved memory: "plenty" (under 70 %), "filling" (up to 90), "nearly full" */
  contextState: string;
  model: string;
  modelWindow: number;
  /** of the session's folder; empty: a plain folder, or none */
  projectId: string;
  /** its name */
  project: string;
  /** scope of memory: lineage, session, project, all */
  scope: string;
  /** as set for this session; empty: determined by its project or the configuration */
  ownScope: string;
}

/** BlockView is a part of a message. */
export interface BlockView {
  kind: BlockKind;
  /**
   * text; reasoning summary; tool arguments or result; name of an image's file; first words of a memory; raw JSON of
   * an unknown
   */
  text: string;
  /** tool name; media type of an image; name of a document; provider of an unknown */
  name: string;
  /** tool_use_id; file of a document; chunk of a memory */
  id: string;
  /** Data is an image's data: URL. Remote images are never loaded. */
  data: string;
  isError: boolean;
  /** of a whole document */
  tokens: number;
  /** the message contains the whole document */
  whole: boolean;
  /** Memory describes an attached memory: its speaker and time. */
  memory?: MemoryChip | null;
}

/** StepView is one attempt of a provider call. */
export interface StepView {
  id: string;
  index: number;
  attempt: number;
  provider: string;
  modelId: string;
  status: StepStatus;
  reason: string;
  code: string;
  message: Phrase;
  displayedBytes: number;
  durableBytes: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  startedAt: number;
  /** 0 while running */
  endedAt: number;
}

/** TurnCost is the cost of a turn. */
export interface TurnCost {
  /** US dollars */
  usd: number;
  /** by a price list or the server's price, not by a configured price */
  estimate: boolean;
  /** by today's price, because none was stored with the answer */
  today: boolean;
}

/** TurnView is a turn of the transcript. */
export interface TurnView {
  id: string;
  branchId: string;
  seq: number;
  phase: Phase;
  outcome: Outcome;
  user: BlockView[];
  /**
   * Assistant is the final answer; for an incomplete or failed turn the recovered part; for a streaming turn the text
   * so far (frames after LiveSeq continue it).
   */
  assistant: BlockView[];
  state: TurnState;
  /** a stream runs in this process */
  live: boolean;
  /** LiveStep and LiveSeq say where frames continue: take frames of LiveStep with seq > LiveSeq. */
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
  indexStatus: ChatIndexStatus;
  stateAfter: string;
  createdAt: number;
  updatedAt: number;
  /** CanContinue: the model can be asked to continue an incomplete or stopped answer. */
  canContinue: boolean;
  /** null if no price is known */
  cost: TurnCost | null;
  /** Notice is why the received part of the answer cannot be read; empty if it can. */
  notice: string;
  /**
   * CutFrom is about how many input tokens were sent, if the server reports (inputTokens) so much less that it may
   * have cut the prompt; otherwise 0.
   */
  cutFrom: number;
  /** Calls are its tool calls, in order, without those that were only shown (parse_only). */
  calls: ToolCallView[];
  /** Memories is the number of memories the model saw. */
  memories: number;
  /** MemoryError says why there were none; empty if nothing failed. */
  memoryError: string;
  /** DeletedAt is when its content was permanently deleted; 0: never. */
  deletedAt: number;
}

/** SessionSnapshot is returned when a session is opened: everything for the first paint, and its revision. */
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
  queue: QueueView;
}

/** TurnPage is a range of the lineage. */
export interface TurnPage {
  rev: number;
  turns: TurnView[];
}

/** Draft is a branch's unsent text. */
export interface Draft {
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
  /** Edit is the message that is being rewritten; the field shows it instead of the draft. */
  edit?: DraftEdit | null;
}

/** DraftEdit is the unsent new version of a turn's message. */
export interface DraftEdit {
  turnId: string;
  seq: number;
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
}

/** ImageUpload is a pasted or dropped image. */
export interface ImageUpload {
  /** image/png, image/jpeg, image/gif, image/webp */
  mediaType: string;
  /** base64, at most 5 MB decoded */
  data: string;
  name: string;
}

/** FileView is a stored document, for a chip. */
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

/**
 * AttachPart is a piece of an attached document, in order. The first has no Upload; its result provides it for the
 * next ones.
 */
export interface AttachPart {
  branchId: string;
  name: string;
  upload: string;
  /** base64 */
  data: string;
  last: boolean;
}

/**
 * AttachResult is the result for a piece. File is set after the last one; Image is set for an image given by its path,
 * which is attached to the draft.
 */
export interface AttachResult {
  upload: string;
  file: FileView | null;
  image: ImageUpload | null;
}

/**
 * SendRequest is a message to send. An empty SessionID starts a new session, an empty BranchID means the active
 * branch, and an empty Model the session's model.
 */
export interface SendRequest {
  sessionId: string;
  branchId: string;
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
  /** for this message; "": the session's */
  model: string;
  /** for this message; "": the session's */
  effort: string;
  /** Incomplete says what to do with an incomplete turn that blocks the branch: "keep", "discard", or "" to refuse. */
  incomplete: string;
}

/**
 * SendResult names what was created. Queued: a turn is still running, so the message joined the branch's queue and no
 * turn was created yet.
 */
export interface SendResult {
  sessionId: string;
  branchId: string;
  turnId: string;
  queued: boolean;
}

/** StreamState is a step's text according to its journal: what the window loads after a gap. */
export interface StreamState {
  step: string;
  attempt: number;
  /** includes frames up to this one */
  seq: number;
  blocks: BlockView[];
  displayed: number;
  durable: number;
  live: boolean;
}

/**
 * Frame is a piece of a stream: at most one per 16 ms per stream (SPEC 5). Seq counts frames of one step from 1. Text
 * is appended to block Block. A frame with empty Text only updates the counters.
 */
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
}

/**
 * Change is every other event: something of Kind with ID has changed as of Rev and should be loaded again. A snapshot
 * with the same or a higher rev already includes it.
 */
export interface Change {
  rev: number;
  kind: ChangeKind;
  id: string;
  /** Session is its session, empty if it has none. */
  session: string;
}

// ---------------------------------------------------------------- backend/api/dto_activity.go

/** JobView is a row of the durable queue. ID 0: none. */
export interface JobView {
  id: number;
  type: string;
  /** empty: not about a turn of a conversation */
  turnId: string;
  turnSeq: number;
  sessionId: string;
  /** title, or the path of a project's file */
  session: string;
  /** queued, running, done, dead */
  state: string;
  attempts: number;
  lastError: Phrase;
  /** the failed job of an earlier turn; 0 is none */
  waitsFor: number;
  runAfter: number;
  updatedAt: number;
}

/**
 * RecoveryReport says what the reconciler found and did, at the start or later, without findings about deleted turns
 * or about decisions that have been made since.
 */
export interface RecoveryReport {
  at: number;
  /** there was nothing to do */
  clean: boolean;
  /** in one line */
  summary: Phrase;
  items: RecoveryItem[];
}

/** RecoveryItem is one finding. */
export interface RecoveryItem {
  kind: RecoveryKind;
  sessionId: string;
  session: string;
  turnId: string;
  turnSeq: number;
  bytes: number;
  count: number;
  message: Phrase;
}

/** ChunkProgress is how far the summaries of long passages are, and what they used today. */
export interface ChunkProgress {
  written: number;
  waiting: number;
  tokens: number;
  /** tokens per day */
  limit: number;
}

/** ActivityPanel is the Activity tab. */
export interface ActivityPanel {
  jobs: JobView[];
  /** there are more than these */
  moreJobs: boolean;
  queued: number;
  running: number;
  failed: number;
  /** Chunks are the summaries of long passages by a model; nil: they are off. */
  chunks: ChunkProgress | null;
  recovery: RecoveryReport;
  /** Earlier are earlier non-empty reports, newest first. */
  earlier: RecoveryReport[];
  /** Turns are the metrics of the branch's newest turns, newest first. */
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
  /** number of considered memories */
  candidates: number;
  /** number of memories the model saw */
  selected: number;
  /** their total size */
  packedTokens: number;
  /** The range of similarity of the selected memories, 0 to 1; 0 if none was found by vectors. */
  similarityMin: number;
  similarityMax: number;
  /** Whether and why memory could not be searched, for the last context. */
  retrievalFailed: boolean;
  retrievalError: Phrase;
  /** The result of the model's state summary: "passed", "repaired", "failed"; "": none was requested. */
  validationResult: string;
  validationTries: number;
}

// ---------------------------------------------------------------- backend/api/dto_branches.go

/**
 * BranchTree is a session's branches as runs of turns: a run ends at each fork and at the end of its branch, so that a
 * tree of a thousand turns is drawn as its forks. Runs are listed parents first, siblings oldest first.
 */
export interface BranchTree {
  rev: number;
  sessionId: string;
  active: string;
  /** of all branches */
  turns: number;
  runs: TreeRun[];
  /** including archived ones, oldest first */
  branches: TreeBranch[];
}

/**
 * TreeRun is a run of turns of one branch, FromSeq to ToSeq, inclusive. A branch without turns of its own is an empty
 * run: ToSeq is FromSeq-1 and its turns are "".
 */
export interface TreeRun {
  /** id of its first turn, or of its branch if it is empty */
  id: string;
  /** the run it continues from; empty at a root */
  parent: string;
  branchId: string;
  fromSeq: number;
  toSeq: number;
  firstTurn: string;
  lastTurn: string;
  /** first words of the first turn's message */
  first: string;
  /** first words of the last turn's message; empty if it is the first */
  last: string;
  /** its branch ends here */
  ends: boolean;
  /** state_seq of a head here; 0: none */
  headSeq: number;
  pending: number;
  /** incomplete, failed or unsent turns */
  open: number;
  /** of its last turn, as in TurnView */
  state: TurnState;
  updatedAt: number;
  /** FirstDeleted says that the content of the first turn was permanently deleted: First is only the mark in its place. */
  firstDeleted: boolean;
  /** LastDeleted says the same of the last turn, also if it is the first. */
  lastDeleted: boolean;
}

/** Landmark is a turn within a long run, for orientation. */
export interface Landmark {
  turnId: string;
  seq: number;
  /** first words of its message */
  title: string;
  /** Deleted says that its content was permanently deleted: Title is only the mark in its place. */
  deleted: boolean;
}

/** TreeBranch is a branch in the tree, the switcher and comparisons. */
export interface TreeBranch {
  id: string;
  label: string;
  parentId: string;
  forkSeq: number;
  /** of its lineage */
  turns: number;
  /** its own turns */
  own: number;
  pending: number;
  /** state_seq of the head */
  headSeq: number;
  headShortId: string;
  archived: boolean;
  active: boolean;
  createdAt: number;
  updatedAt: number;
  /** on which it began; empty: not known */
  machine: string;
  /** the branch of another device that it continues; empty: none */
  continues: string;
}

/** BranchComparison is a comparison of two branches of a session from where they diverge. */
export interface BranchComparison {
  /** number of shared turns */
  shared: number;
  /** the last of them; empty for none */
  lastTurn: string;
  left: BranchSide;
  right: BranchSide;
}

/** BranchSide is the part of a compared branch that the other lacks. */
export interface BranchSide {
  branch: TreeBranch;
  /** of its first turn after diverging; 0: none */
  fromSeq: number;
  toSeq: number;
  /** the first hundred; the others from Sessions.Turns */
  turns: TurnView[];
  summary: string;
  pins: PinView[];
}

/** AnswerSet has the answers of several models to one message, each on its branch. */
export interface AnswerSet {
  rev: number;
  /** of the message */
  seq: number;
  /** the message */
  user: BlockView[];
  columns: AnswerColumn[];
}

/** AnswerColumn is one answer of an AnswerSet. */
export interface AnswerColumn {
  branchId: string;
  label: string;
  /** the session's active branch */
  active: boolean;
  /** later turns on its branch */
  later: number;
  turn: TurnView;
}

/** SentToSeveral is the result of sending a message to several models. Problems say why some of them were not called. */
export interface SentToSeveral {
  first: SendResult;
  problems: ErrorView[];
}

// ---------------------------------------------------------------- backend/api/dto_context.go

/** ContextView is the X-ray: what the model saw in a turn, or would see next. */
export interface ContextView {
  /** empty for the next request */
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
  /** Reported and Cached are the provider's own figures, 0 if it reported none. */
  reported: number;
  cached: number;
  maxOutput: number;
  budget: BudgetView;
  /** turns up to this number are sent as summaries or extracts; 0: none */
  cut: number;
  sections: ContextSection[];
  /** steps that made it fit, in order */
  shrink: Phrase[];
  /** why the provider's token counts were ignored */
  usageNote?: Phrase;
  /** RetrievalError says why nothing was retrieved; empty if nothing failed. */
  retrievalError: Phrase;
  /** pending turns left out, by number */
  dropped: number[];
  /**
   * Scope is the scope of the memory search: lineage, session, project or all; empty: memory was off, or the turn was
   * made by an older version.
   */
  scope: string;
  /** name of the session's project at that time; empty: none */
  project: string;
  redacted: RedactionView[];
  sha256: string;
  /** reassembling the context yields the stored hash */
  same: boolean;
  /** why texts are missing or differ; empty: all are correct */
  note: string;
  /** the step for Inspect.RawStep */
  stepId: string;
  /** of the next request: it does not fit */
  error: ErrorView | null;
  lookedUp: LookedUpView[];
  /** of the next request; null for one that was sent */
  status: UsageStatus | null;
}

/** UsageStatus says what the next request needs. */
export interface UsageStatus {
  /**
   * Kind: "ready", "needs_summarization" (turns that do not fit have no summary yet), "recent_too_large" (the newest
   * messages alone do not fit).
   */
  kind: string;
  /** tokens of the turns that need a summary */
  excess: number;
  /** their numbers */
  turns: number[];
  /** tokens that a request with complete newest messages would take */
  required: number;
  /** and the ceiling */
  budget: number;
  suggestion: Phrase;
}

/** LookedUpView is an earlier turn that the model looked up with a tool while it answered. */
export interface LookedUpView {
  tool: string;
  sessionId: string;
  sessionTitle: string;
  turnId: string;
  /** 0: the turn no longer exists */
  turnSeq: number;
}

/** BudgetView explains the ceiling, in tokens. */
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
  /** system, tools, pinned, summaries, originals, pending, state, retrieved, message */
  name: string;
  tokens: number;
  cap: number;
  items: ContextItem[];
}

/** ContextItem is a part of the prompt with its exact text and its origin. */
export interface ContextItem {
  /**
   * Source: config, project, project_fact, tool, pin, summary, extract, turn, state, chunk, day, now, message, step,
   * partial.
   */
  source: string;
  /** of the project, fact, pin, summary, turn, state or chunk; of a tool: its name */
  id: string;
  /** of a turn */
  seq: number;
  /** of a summary or extract: first turn */
  from: number;
  /** and last */
  to: number;
  role: string;
  /** in words: "Turn 12, you" */
  label: Phrase;
  tokens: number;
  bytes: number;
  text: string;
  /** Change compared with the previous request: "same", "new", "" if there was none. */
  change: string;
  /** of a chunk: the turn it is from */
  turnId: string;
  /** of a chunk: its details and why it was recalled */
  memory: RecalledView | null;
}

/** RecalledView is a chunk of memory in a prompt. */
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
  match: MatchView;
}

/** ContextDiff is the difference between two requests. */
export interface ContextDiff {
  from: ContextView;
  to: ContextView;
  /** items of From that To lacks */
  removed: ContextItem[];
  added: ContextItem[];
  /** SharedBytes is the size of the common prefix, which a provider's cache can reuse. */
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
  /** turns that become originals again */
  returning: number;
  /** turns that would be summarized */
  compressed: number;
  /**
   * NeedsSummarization: turns no longer fit and have no summary yet. Unsummarized of them are sent as extracts,
   * Dropped are pending and left out.
   */
  needsSummarization: boolean;
  unsummarized: number;
  dropped: number;
  /** Cost is what the next input would cost on that model before its answer, in US dollars; null without prices. */
  cost: number | null;
  /** the same as a sentence */
  message: string;
  /** the conversation cannot fit that model */
  error: ErrorView | null;
}

/** RawStep is the exact request and response of a step. From a very long stream, events in the middle are left out. */
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

// ---------------------------------------------------------------- backend/api/dto_embedders.go

/** EmbeddersView is the embedder in use and the alternatives. */
export interface EmbeddersView {
  current: EmbedderView;
  /** Options are model embedders found on this machine, and those with a stored key. */
  options: EmbedderView[];
  /** Offer is the id of the option that the window offers once; empty: none, or the user has responded. */
  offer: string;
  /** passages that would be embedded */
  units: number;
  /** total size */
  tokens: number;
}

/** EmbedderView is an embedder as shown for selection. */
export interface EmbedderView {
  id: string;
  /** "Ollama", "OpenAI"; empty: built in */
  server: string;
  model: string;
  /** where texts are sent: "this computer", "api.openai.com"; empty: nowhere */
  host: string;
  /** texts leave this computer */
  remote: boolean;
  /** hashed features of words */
  builtIn: boolean;
  /** US dollars per million tokens; 0: free or unknown */
  price: number;
}

/** EmbedderEstimate is the cost and time of indexing all history with an embedder. */
export interface EmbedderEstimate {
  units: number;
  tokens: number;
  /** US dollars; -1: the price is unknown; 0: it runs on this computer */
  cost: number;
  /** extrapolated from embedding sample texts */
  ms: number;
}

// ---------------------------------------------------------------- backend/api/dto_library.go

/** LibraryPanel is the library: what is used in many sessions. */
export interface LibraryPanel {
  rev: number;
  /** by name */
  assistants: AssistantView[];
  /** by name */
  prompts: SavedPromptView[];
}

/** AssistantView is a named preset. The id is empty for a new one. */
export interface AssistantView {
  id: string;
  name: string;
  /** empty: the default instructions */
  instructions: string;
  /** empty: the session keeps its own */
  model: string;
  /** a number from 0 to 2, or empty for the model's default */
  temperature: string;
  /** "", minimal, low, medium, high */
  effort: string;
  /** "", disabled, parse_only, enabled */
  toolsMode: string;
}

/** SavedPromptView is a named text with variables. The id is empty for a new one. */
export interface SavedPromptView {
  id: string;
  name: string;
  text: string;
  /** in the order in which they first appear */
  variables: PromptVariableView[];
}

/** PromptVariableView is a variable of a saved prompt, filled in when it is used. */
export interface PromptVariableView {
  name: string;
  default: string;
  builtin: boolean;
}

/** SessionAssistantView is the assistant last applied to a session. */
export interface SessionAssistantView {
  /** empty: none */
  id: string;
  /** its current name, or the name at that time */
  name: string;
  /** it is in the library */
  known: boolean;
  /** applying it again would change the session's settings */
  differs: boolean;
}

/** PromptsImported is the result of importing prompts. */
export interface PromptsImported {
  added: number;
  /** existed already, with the same name and text */
  known: number;
}

// ---------------------------------------------------------------- backend/api/dto_mcp.go

/** ServersPanel is the page about MCP servers. */
export interface ServersPanel {
  rev: number;
  /** tools.mode: servers are started for conversations only where it is "enabled" */
  mode: string;
  servers: ServerView[];
  /** KeyringOK: secrets are stored in the system's keyring; otherwise only for this run. */
  keyringOK: boolean;
}

/** ServerView is a configured MCP server and its state. */
export interface ServerView {
  name: string;
  /** "stdio": a program on this machine; "http": an address */
  kind: string;
  enabled: boolean;
  state: McpclientState;
  /** the state as a sentence */
  stateText: Phrase;
  /** the last error; empty once it is ready */
  lastError: Phrase;
  retryAt: number;
  startedAt: number;
  /** The server's description of itself; untrusted. */
  title: string;
  version: string;
  protocol: string;
  instructions: string;
  tools: number;
  /** counted at its start */
  prompts: number;
  /** counted at its start, with templates */
  resources: number;
  /** Problems are its unusable tools and other items, each as a sentence. */
  problems: ServerProblemView[];
  /** its tokens are stored */
  signedIn: boolean;
  settings: ServerSettings;
  /** Secrets are the secrets named in its settings, and where each is stored. */
  secrets: ServerSecretView[];
}

/** ServerProblemView is an unusable item of a server, and why. */
export interface ServerProblemView {
  /** the name of a tool, or empty */
  subject: string;
  message: string;
}

/** ServerSecretView is a secret of a server, without its value. */
export interface ServerSecretView {
  name: string;
  /** "keyring", "this run", or "": it has no value yet */
  storedIn: string;
}

/**
 * ServerSettings are [mcp.servers.NAME] of config.toml. Values may contain ${secret:NAME}, from the keyring, and
 * ${env:NAME}, from the program's environment.
 */
export interface ServerSettings {
  name: string;
  enabled: boolean;
  /** empty: use URL */
  command: string;
  args: string[];
  /** empty: the home directory */
  cwd: string;
  url: string;
  /** per call; 0: only tools.call_timeout_s applies */
  timeoutS: number;
  /**
   * OAuthClientID is for servers that require manual registration of clients, and OAuthPort the port of the registered
   * redirect address; 0: any.
   */
  oauthClientId: string;
  oauthPort: number;
  env: ServerValue[];
  headers: ServerValue[];
}

/**
 * ServerValue is an environment variable, a header, or an answer. With Secret, Value is stored in the keyring and
 * never returned: an empty one keeps the stored value.
 */
export interface ServerValue {
  name: string;
  value: string;
  secret: boolean;
}

/** ServerLog is the end of a server's log, oldest line first. */
export interface ServerLog {
  name: string;
  lines: ServerLogLine[];
  /** number of earlier lines that were dropped */
  dropped: number;
}

/**
 * ServerLogLine is a line of a server's log. From is "stderr", "stdout" (a line that is not a protocol message),
 * "server" (a log message of the protocol) or "program" (a message of this program, such as how the server ended).
 */
export interface ServerLogLine {
  at: number;
  from: string;
  text: string;
}

/**
 * ServerImport has the servers found in another program's configuration, or in a bundle. Nothing is added before
 * ApplyImport.
 */
export interface ServerImport {
  id: string;
  /** a description: "a bundle", "mcpServers JSON" */
  from: string;
  servers: ImportedServer[];
  /** unusable entries, each as a sentence */
  problems: string[];
}

/** ImportedServer is a server that could be added. */
export interface ImportedServer {
  /** its name is usable here */
  settings: ServerSettings;
  /** its name there */
  original: string;
  /** a server with this name exists: adding replaces it */
  exists: boolean;
  /** of a bundle: its description of itself */
  about: string;
  /** what the user should know before adding it */
  notes: string[];
  /** values it needs */
  questions: ServerQuestion[];
  /** Exposures are what the user must agree to. They are those of the default answers. */
  exposures: ServerExposure[];
}

/**
 * ServerExposure is a variable of the user's environment that a server would get, or one that it sets and that can
 * decide which program is run.
 */
export interface ServerExposure {
  kind: McpsetupExposureKind;
  /** of the variable */
  name: string;
  /** that the server sets, for "program" */
  value: string;
}

/** ServerQuestion is a value that a server needs before it can start. */
export interface ServerQuestion {
  key: string;
  title: string;
  description: string;
  /** "string", "number", "boolean", "directory", "file" */
  type: string;
  required: boolean;
  secret: boolean;
  /** several values, one per line */
  multiple: boolean;
  default: string;
  /** Known: the import contains a value, which is used if the answer is empty. A secret one is not shown. */
  known: boolean;
  choices: string[];
}

/** ServerImportChoice adds the named servers of an import, under the given names. */
export interface ServerImportChoice {
  id: string;
  servers: ServerImportedName[];
}

/** ServerImportedName says how a server of an import is added. */
export interface ServerImportedName {
  original: string;
  name: string;
  enabled: boolean;
  /** if a server with this name exists */
  replace: boolean;
  /** by ServerQuestion.Key */
  answers: ServerValue[];
  /** Accepted are the names of the exposures that the user agrees to; Keys are those of kind "key" agreed to again. */
  accepted: string[];
  keys: string[];
}

/** ServerPrompts are the prompts that servers offer, for the composer. */
export interface ServerPrompts {
  rev: number;
  prompts: ServerPromptView[];
}

/** ServerPromptView is a prompt of a server. */
export interface ServerPromptView {
  server: string;
  name: string;
  title: string;
  description: string;
  arguments: PromptArgumentView[];
}

/** PromptArgumentView is an argument of a prompt. */
export interface PromptArgumentView {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

/** PromptText is a prompt with its arguments filled in: untrusted text, shown before it is sent. */
export interface PromptText {
  server: string;
  name: string;
  description: string;
  messages: PromptMessageView[];
}

/** PromptMessageView is a message of a prompt. */
export interface PromptMessageView {
  /** "user", "assistant" */
  role: string;
  blocks: BlockView[];
}

/** ServerResources are the resources that servers offer now. */
export interface ServerResources {
  rev: number;
  resources: ServerResourceView[];
}

/** ServerResourceView is a resource of a server. Template: its URI has placeholders in braces. */
export interface ServerResourceView {
  server: string;
  uri: string;
  name: string;
  title: string;
  description: string;
  mediaType: string;
  /** 0: unknown */
  bytes: number;
  template: boolean;
}

/** ResourceText is the content of a resource: texts and images. */
export interface ResourceText {
  server: string;
  uri: string;
  name: string;
  blocks: BlockView[];
}

/** Elicitations are the questions of servers that wait for an answer, the oldest first. */
export interface Elicitations {
  rev: number;
  pending: ElicitationView[];
}

/**
 * ElicitationView is a question of a server. Mode "form" asks for Fields; mode "url" asks to open a page: the complete
 * address is shown, and it is opened only when accepted.
 */
export interface ElicitationView {
  id: string;
  server: string;
  mode: string;
  message: string;
  /** of ModeURL */
  url: string;
  /** of URL */
  host: string;
  fields: ElicitationField[];
}

/** ElicitationField is one field of a form. */
export interface ElicitationField {
  name: string;
  title: string;
  description: string;
  /** "string", "number", "integer", "boolean", "choice", "choices" */
  type: string;
  /** of a string: "email", "uri", "date", "date-time" or "" */
  format: string;
  required: boolean;
  default: string[];
  choices: ElicitationChoice[];
  /** empty: unbounded */
  min: string;
  /** empty: unbounded */
  max: string;
}

/** ElicitationChoice is a value that may be chosen. */
export interface ElicitationChoice {
  value: string;
  title: string;
}

/** ElicitationAnswer answers a question: "accept" (with Values of a form), "decline", "cancel". */
export interface ElicitationAnswer {
  id: string;
  action: string;
  values: ElicitationValue[];
}

/** ElicitationValue is the value of a field; several for "choices", "true" or "false" for "boolean". */
export interface ElicitationValue {
  name: string;
  values: string[];
}

// ---------------------------------------------------------------- backend/api/dto_memory.go

/** MemoryFilter selects chunks of memory. Empty fields do not filter. */
export interface MemoryFilter {
  /** lineage, session or all */
  scope: string;
  sessionId: string;
  branchId: string;
  /** code, explanation, decision, user_context, tool_result, other */
  type: string;
  /** user or assistant */
  role: string;
  /** Unix ms of the turn, inclusive */
  since: number;
  /** exclusive */
  until: number;
  /** for the browser: a text that the chunk contains */
  text: string;
  offset: number;
  /** 0: 50 */
  limit: number;
}

/** ChunkRow is a chunk of memory in a list. */
export interface ChunkRow {
  id: string;
  turnId: string;
  /** 0: it belongs to a project's file */
  turnSeq: number;
  sessionId: string;
  sessionTitle: string;
  branchId: string;
  role: string;
  /** in a group chat; otherwise empty */
  speaker: string;
  type: ChunkType;
  /** its beginning, or for a search result the best match */
  excerpt: string;
  summary: string;
  tokens: number;
  /** name of its document, for a project's file its path and lines or pages; otherwise empty */
  document: string;
  /** when the turn was created */
  at: number;
}

/** ChunkPage is a page of the chunk browser, newest first. */
export interface ChunkPage {
  total: number;
  chunks: ChunkRow[];
}

/** ChunkDetail is everything about one chunk. */
export interface ChunkDetail {
  chunk: ChunkRow;
  /** the original text */
  text: string;
  start: number;
  end: number;
  /** identities of the embedders with vectors of it */
  embedders: string[];
  /** newest first */
  uses: ChunkUseView[];
}

/** ChunkUseView is a context that contained a chunk, or a turn whose model looked it up. */
export interface ChunkUseView {
  turnId: string;
  turnSeq: number;
  sessionId: string;
  rank: number;
  score: number;
  /** full, slice or summary */
  form: string;
  at: number;
  /** used by the model to look it up; empty: it was put into the context */
  tool: string;
}

/** MatchView says why a search found a chunk, or why a prompt contains it. */
export interface MatchView {
  /** of the question, as the chunk writes them */
  words: string[];
  /** 0 to 1: the share of unrelated texts that are less similar; null: not found by vectors */
  similarity: number | null;
  /** speaker: user or assistant */
  role: string;
  /** in one line, without a full stop */
  reason: Phrase;
}

/** MemoryHit is a chunk found by a search. */
export interface MemoryHit {
  chunk: ChunkRow;
  rank: number;
  /** 0 to 1; results are sorted by it */
  score: number;
  match: MatchView;
}

/** MemorySearch is the result of a memory search, best first. */
export interface MemorySearch {
  hits: MemoryHit[];
  candidates: number;
  /** empty: words only */
  embedder: string;
  warning: Phrase;
  totalMs: number;
  embedMs: number;
  vectorMs: number;
  keywordMs: number;
}

/** IndexSpace is the vectors of one embedder. */
export interface IndexSpace {
  embedder: string;
  state: NamespaceState;
  done: number;
  total: number;
  /** why it fails */
  error: Phrase;
}

/** DegradedTurn is a turn whose indexing failed. */
export interface DegradedTurn {
  turnId: string;
  turnSeq: number;
  sessionId: string;
  title: string;
  /** the job to retry */
  jobId: number;
  error: Phrase;
}

/** IndexStatus is the state of the index of memory. */
export interface IndexStatus {
  /** false: memory is off, or nothing is recalled */
  on: boolean;
  /** scope of the memory of turns */
  scope: string;
  units: number;
  spaces: IndexSpace[];
  degraded: DegradedTurn[];
}

/** MemoryChip is a chunk attached to a message by hand. */
export interface MemoryChip {
  /** chunk */
  id: string;
  /** At is the time of the original text, in milliseconds; 0: it no longer exists, and the other fields are empty. */
  at: number;
  role: string;
  /** in a chat of several people */
  speaker: string;
  /** the file that it is from */
  document: string;
  /** its first words */
  title: string;
}

/** KnownPage is a page of what is remembered, most recently used sessions first. */
export interface KnownPage {
  total: number;
  items: KnownItem[];
}

/** KnownItem is something remembered about a session's active branch, or of a project. */
export interface KnownItem {
  kind: KnownKind;
  /** the pin; the suggestion with its branch; the state; or the session or project */
  id: string;
  /** name of its project, if it has no session */
  project?: string;
  sessionId: string;
  sessionTitle: string;
  archived: boolean;
  branchId: string;
  /** created after or in this turn; empty: before any */
  turnId: string;
  turnSeq: number;
  /** 0: unknown */
  at: number;
  text: string;
}

// ---------------------------------------------------------------- backend/api/dto_programs.go

/** ProgramsPanel is the page about other programs that use this memory through MCP. */
export interface ProgramsPanel {
  rev: number;
  http: ProgramsHTTPView;
  clients: ProgramClientView[];
  /** Snippets are configurations for other programs, to be pasted there. */
  snippets: ProgramSnippetView[];
  /** folders to choose from */
  folders: string[];
}

/** ProgramsHTTPView is the HTTP server, which only serves this computer. */
export interface ProgramsHTTPView {
  /** mcp.server.http */
  on: boolean;
  running: boolean;
  url: string;
  /** why it does not run although it is enabled */
  problem: string;
}

/** ProgramClientView is another program and its permissions. */
export interface ProgramClientView {
  name: string;
  /**
   * Scope is "asked" (it connected and awaits a decision, without access), "none", "all" or "chosen" (Sessions and
   * Folders).
   */
  scope: ClientScope;
  sessions: ProgramSessionView[];
  folders: string[];
  /** it may write notes */
  remember: boolean;
  /** the name it reports */
  claims: string;
  /** when its token was created; 0: it has none */
  tokenAt: number;
  createdAt: number;
  /** of its last access; 0: never */
  seenAt: number;
  /** the session of its notes; empty: it has written none */
  notes: string;
}

/** ProgramSessionView is a session that a program may see, or was shown. */
export interface ProgramSessionView {
  id: string;
  title: string;
}

/** ProgramSnippetView is the configuration of another program. */
export interface ProgramSnippetView {
  program: string;
  /** description of where the text belongs */
  file: string;
  text: string;
}

/** ProgramChoice is what the user allows a program. */
export interface ProgramChoice {
  name: string;
  /** none, all, chosen */
  scope: ClientScope;
  sessions: string[];
  folders: string[];
  remember: boolean;
}

/** ProgramToken is a token for HTTP. It is shown only once. */
export interface ProgramToken {
  name: string;
  token: string;
  /** a configuration with the token */
  snippet: string;
}

/** ProgramAccessPage is a page of the access log, newest first. */
export interface ProgramAccessPage {
  accesses: ProgramAccessView[];
  /** Before of the next page; 0: none */
  next: number;
}

/** ProgramAccessView is one access of a program. */
export interface ProgramAccessView {
  id: number;
  at: number;
  client: string;
  tool: string;
  query: string;
  /** Outcome is "answered", "refused" or "failed". */
  outcome: string;
  shown: ProgramShownView[];
  /** how many more results it was shown */
  more: number;
}

/** ProgramShownView is what a program was shown. */
export interface ProgramShownView {
  sessionId: string;
  /** title */
  session: string;
  /** empty: the session in a list */
  turnId: string;
}

// ---------------------------------------------------------------- backend/api/dto_projects.go

/** ProjectsPanel is all projects. */
export interface ProjectsPanel {
  rev: number;
  /** by name */
  projects: ProjectRow[];
}

/** ProjectRow is a project in a list. */
export interface ProjectRow {
  id: string;
  /** of its folder */
  name: string;
  /** in its folder and not archived */
  sessions: number;
  files: number;
}

/** ProjectView is a project with all its settings, without its files. */
export interface ProjectView {
  id: string;
  name: string;
  /** precede a session's own */
  instructions: string;
  /** of new sessions; empty: the default */
  model: string;
  /** "" (as configured), disabled, parse_only, enabled */
  toolsMode: string;
  /** the only ones offered, SOURCE or SOURCE/TOOL; none: all */
  tools: string[];
  /** pinned, in order */
  facts: string[];
  /** the watched folder; empty: none */
  watch: string;
  sessions: number;
  files: number;
  /** the last scan of the watched folder with a change; null: none */
  scan: ProjectScanView | null;
}

/** ProjectScanView is the result of scanning a watched folder. Long lists are shortened. */
export interface ProjectScanView {
  at: number;
  /** files that are now indexed */
  found: number;
  new: string[];
  changed: string[];
  removed: string[];
  newCount: number;
  changedCount: number;
  removedCount: number;
  /** by reason */
  skipped: SkippedCount[];
  /** the first of them */
  skippedFiles: SkippedFileView[];
  /** why the folder could not be scanned; empty: no error */
  error: string;
}

/** SkippedCount is how many files were left out for one reason. */
export interface SkippedCount {
  reason: string;
  count: number;
}

/** SkippedFileView is a file or directory that was left out. */
export interface SkippedFileView {
  path: string;
  reason: string;
}

/** ProjectFileView is a document or watched file of a project. */
export interface ProjectFileView {
  path: string;
  /** for Chat.Document */
  id: string;
  mediaType: string;
  size: number;
  tokens: number;
  /** false: it is not searchable yet */
  indexed: boolean;
}

/** ProjectFilesPage is a page of a project's files of one kind, by path. */
export interface ProjectFilesPage {
  total: number;
  files: ProjectFileView[];
}

// ---------------------------------------------------------------- backend/api/dto_queue.go

/** QueueView is the messages that wait on a branch, in order, at most 20. */
export interface QueueView {
  messages: QueuedMessage[];
  /** Held says why they are not sent automatically; "": the next one is sent when the running answer is complete. */
  held: HoldCause;
  /** Error says why the next message could not be sent, if it was refused. */
  error: ErrorView | null;
}

/** QueuedMessage is a message that waits. Text is at most its first 600 characters. */
export interface QueuedMessage {
  id: string;
  text: string;
  /** Text is not all of it */
  cut: boolean;
  images: number;
  files: FileView[];
  /** attached memory */
  memories: number;
}

// ---------------------------------------------------------------- backend/api/dto_search.go

/** SearchQuery searches all sessions. Zero fields do not filter. */
export interface SearchQuery {
  text: string;
  sessionId: string;
  /** user or assistant */
  role: string;
  /** Unix ms of the turn, inclusive */
  since: number;
  /** exclusive */
  until: number;
  /** include archived sessions */
  archived: boolean;
  /** search by vectors too */
  meaning: boolean;
  /** groups; 0: 30 */
  limit: number;
}

/** SearchResult is the result of searching all sessions, best session first. */
export interface SearchResult {
  groups: SearchGroup[];
  /** total number of results */
  hits: number;
  truncated: boolean;
  warning: Phrase;
  totalMs: number;
}

/** SearchGroup is the results in one session. */
export interface SearchGroup {
  sessionId: string;
  title: string;
  folder: string;
  archived: boolean;
  updatedAt: number;
  /** matches in the title */
  marks: Span[];
  /** at most five, 200 when searching a single session; none: only the title matches */
  hits: SearchHit[];
  /** results of this session not in Hits */
  more: number;
}

/** SearchHit is a result in one message of a turn. */
export interface SearchHit {
  turnId: string;
  /** the branch to open: if possible the active one */
  branchId: string;
  branchLabel: string;
  seq: number;
  role: string;
  at: number;
  snippet: string;
  /** matches in the snippet */
  marks: Span[];
  /** words, meaning or both */
  by: string;
  score: number;
}

/** Span is a range of a text in UTF-16 units, end exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** FindResult is the result of a search in a branch's lineage, oldest first. */
export interface FindResult {
  hits: FindHit[];
  /** occurrences, in all turns */
  total: number;
  truncated: boolean;
}

/** FindHit is a turn that contains the text. */
export interface FindHit {
  turnId: string;
  seq: number;
  count: number;
  /** the text around the first occurrence */
  first: string;
  marks: Span[];
}

/** Folder is a folder of sessions. */
export interface Folder {
  name: string;
  sessions: number;
}

/** MetricsQuery selects metrics of the newest turns (SRD 15.1). */
export interface MetricsQuery {
  /** branch, session or all */
  scope: string;
  sessionId: string;
  branchId: string;
  /** 0: 200; at most 1000 */
  limit: number;
}

/** MetricsSeries are the metrics of turns, oldest first, and their sums. */
export interface MetricsSeries {
  points: MetricPoint[];
  /** Sums over the points. Cost is in US dollars; null if no price is known. */
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cost: number | null;
  /** points whose model has no price */
  unpriced: number;
}

/** MetricPoint is one turn's figures. */
export interface MetricPoint {
  session: string;
  /** of the session */
  title: string;
  at: number;
  model: string;
  /** US dollars; -1: no price */
  cost: number;
  turn: TurnMetrics;
}

// ---------------------------------------------------------------- backend/api/dto_settings.go

/**
 * ImportedInstructions are the instructions of an imported conversation. They are sent only if the user adopts them as
 * the session's system prompt.
 */
export interface ImportedInstructions {
  /** the program, as in SessionRow */
  source: string;
  /** empty: none */
  text: string;
  /** the text is longer than shown here, and too long to be sent */
  cut: boolean;
}

/** SessionSettings are a session's own settings. */
export interface SessionSettings {
  /** empty: the default instructions */
  systemPrompt: string;
  /** a number from 0 to 2, or empty for the model's default */
  temperature: string;
  /** "", minimal, low, medium, high */
  effort: string;
}

/** ModelView is a configured model. */
export interface ModelView {
  name: string;
  /** openai, anthropic, chatcompletions, recall */
  provider: string;
  modelId: string;
  baseUrl: string;
  apiKeyEnv: string;
  /** resolved */
  contextLimit: number;
  maxOutput: number;
  /** "configured", "table: " and the matched prefix, "server", "unknown window" */
  limitSource: string;
  /** this model's working set */
  ceiling: number;
  stream: boolean;
  /**
   * KeyHeader is the header that carries the key; empty: the protocol's own. Headers are sent with every request, each
   * as "NAME: value"; secrets in them are placeholders, ${env:NAME} or ${secret:NAME}.
   */
  keyHeader: string;
  headers: string[];
  /** AllowPlainHTTP allows sending the key to another machine over plain http. */
  allowPlainHttp: boolean;
  /** recall, a key exists, or the server needs none */
  usable: boolean;
  /** why it is not usable */
  reason: Phrase;
  default: boolean;
  builtIn: boolean;
  /** provider_options as JSON, "" if none */
  options: string;
  /** Images, Tools and Reasoning are what the model supports: "yes", "no", or "" if unknown. */
  images: string;
  tools: string;
  reasoning: string;
  favourite: boolean;
  /** its server is on this machine */
  local: boolean;
  /**
   * Prices in US dollars per million tokens; PriceSource is "configured", "server", "list " and its date, or "" if
   * unknown. If only one of PriceInput and PriceOutput is configured, it is the source of the other prices.
   */
  priceInput: number;
  priceCached: number;
  priceOutput: number;
  priceSource: string;
  /** OwnPrice has the configured prices; absent: none is configured. Ignored when a model is saved. */
  ownPrice?: OwnPrice | null;
}

/** OwnPrice has a model's configured prices, in US dollars per million tokens; 0: not configured. */
export interface OwnPrice {
  input: number;
  cached: number;
  output: number;
}

/** PresetView is a service or server that can be added by name. */
export interface PresetView {
  /** as used on the command line */
  id: string;
  name: string;
  /** config.Provider... */
  protocol: string;
  /** BaseURL contains RESOURCE where the name of the user's own resource belongs. */
  baseUrl: string;
  /** the usual variable of its key; empty: it needs no key */
  env: string;
  /** listens on this machine */
  local: boolean;
  /** Note tells the user what else is needed. */
  note: string;
}

/** PlaceView is a provider or server whose models can be listed. */
export interface PlaceView {
  /** the value of --provider: "anthropic", a preset's id, or the host of a server */
  id: string;
  name: string;
  protocol: string;
  /** empty: the vendor's own */
  baseUrl: string;
  /** the usual variable of its key */
  env: string;
  local: boolean;
}

/** OfferView is a model that a place offers. Unknown values are 0 or "". */
export interface OfferView {
  modelId: string;
  /** the name of the configured model for it */
  configured: string;
  window: number;
  maxOutput: number;
  images: string;
  tools: string;
  reasoning: string;
  priceInput: number;
  priceOutput: number;
  priceSource: string;
}

/** AddedModel is an added model, and the resulting list of models. */
export interface AddedModel {
  name: string;
  models: ModelView[];
}

/**
 * CostView is the cost of answers and of background work (summaries and titles by a model), in US dollars. An amount
 * without a known price is null.
 */
export interface CostView {
  /** the newest turn, without background work */
  turn: number | null;
  /** all turns of the session, with background work */
  session: number | null;
  /** all sessions since the first of this month, with background work */
  month: number | null;
  /** The part of Session and Month that is background work; null: none with a known price. */
  sessionBackground: number | null;
  monthBackground: number | null;
  /** Estimate: a part is based on a price list, dated PricesDate, instead of configured prices. */
  estimate: boolean;
  pricesDate: string;
  /** turns of the month whose model has no price */
  unpriced: number;
  /** per month; 0: none */
  budget: number;
  /** a part uses today's prices, because none were stored with the answers */
  today: boolean;
  /** State is "" without a budget, "within", "near" or "over". */
  state: string;
}

/** KeyView says where a provider's key is stored. The key itself is never returned. */
export interface KeyView {
  /** "openai", "anthropic", or the name of a compatible server's key */
  provider: string;
  /** "keyring", "environment", "this run", "" */
  source: string;
  /** the environment variable of the key */
  env: string;
  baseUrl: string;
  models: string[];
  /** false: a server that needs none */
  needed: boolean;
  /** KeyringOK is false if this system has no keyring: a key is then kept only for this run. */
  keyringOk: boolean;
}

/** KeyTest is the result of testing a key or server. */
export interface KeyTest {
  ok: boolean;
  ms: number;
  /** "Works, 3 models" or what happened and what to do */
  message: Phrase;
  /** model ids the server lists, at most 200 */
  models: string[];
  /** Provider is the key's provider, detected from its form and the response. */
  provider: string;
  /**
   * Vendor and Server are set if the key's form belongs to a service that the program does not know, so nothing was
   * sent; otherwise empty.
   */
  vendor: string;
  server: string;
}

/** LocalServer is a model server that responded on this machine. */
export interface LocalServer {
  /** "Ollama", "LM Studio", "a local server" */
  name: string;
  baseUrl: string;
  models: string[];
}

/** Setting is one configuration key with everything needed to edit it. */
export interface Setting {
  /** "budget.working_set_tokens" */
  key: string;
  /** "General", "Context budget", ... */
  group: string;
  label: string;
  /** what it does */
  help: string;
  /** TypeInt and so on */
  type: string;
  /** in TOML syntax, strings without quotes; a list as an array on one line */
  value: string;
  default: string;
  choices: string[];
  /** Min and Max both 0: unbounded */
  min: number;
  max: number;
  /** "tokens", "ms", "bytes", "" */
  unit: string;
  /** OriginDefault, OriginFile, OriginEnvironment */
  origin: string;
}

/** SettingsView is the settings screen. */
export interface SettingsView {
  /** of config.toml */
  path: string;
  dataDir: string;
  settings: Setting[];
  /** Error is a problem of the file: the previous valid configuration (at the start: the defaults) is in effect. */
  error: string;
  /** Defaults: it was invalid from the start, so the default settings are in effect. */
  defaults: boolean;
}

/** AutostartView is the current state of starting at sign-in. */
export interface AutostartView {
  on: boolean;
  /** path of another copy of the program that is started instead; "": it is this one */
  other: string;
  /** where the system keeps the entry */
  place: string;
  /** why it cannot be enabled; "": it can */
  reason: Phrase;
}

/** QuickKeyView is the state of the keys that open quick ask from any window. */
export interface QuickKeyView {
  phase: QuickKeyPhase;
  /** the requested keys, "Ctrl+Alt+Space"; "": none */
  keys: string;
  /** for bound: the desktop's description of the keys, possibly different ones; "": unknown */
  given: string;
  /** for failed: what happened */
  reason: Phrase;
  /** for failed: what to do */
  hint: Phrase;
}

/** UpdateView is the result of the last check for updates in this run of the program. */
export interface UpdateView {
  /** a feed is configured */
  feed: boolean;
  verdict: UpdateVerdict;
  /** version, "1.2.4" */
  newest: string;
  /** its https address, or "" */
  page: string;
  /** when it was checked, in milliseconds; 0: never */
  at: number;
  /** why the last check failed; "": it did not */
  reason: Phrase;
  hint: Phrase;
}

/** Startup is the response to the window's first request. */
export interface Startup {
  version: string;
  /** no session yet and setup not completed */
  firstRun: boolean;
  dataDir: string;
  /** Fatal: the data could not be opened; Message and Hint say what is safe. Nothing was overwritten. */
  fatal: ErrorView | null;
  /** Lost: the database is missing; a new history can be started. */
  lost: boolean;
  /** DamagedLog: the write-ahead log is damaged; it can be dropped. */
  damagedLog: boolean;
  /** ReadOnly says why the data is read-only (a full disk, for example); "": it is not. */
  readOnly: string;
  configError: string;
  configPath: string;
  /** ConfigDefaults: the file was invalid from the start, so the default settings are in effect. */
  configDefaults: boolean;
  lastSession: string;
  /** this window is the small one for a quick question */
  quick: boolean;
  /** system, light, dark, contrast */
  theme: string;
  textZoom: number;
  /** CodeSize is the size of code relative to the other text, in percent. */
  codeSize: number;
  /** long lines of code are wrapped */
  codeWrap: boolean;
  /** lines of code are numbered */
  codeNumbers: boolean;
  /** diagrams, pictures and HTML in answers can be rendered */
  previews: boolean;
  /** narrow, normal, wide, full */
  messageWidth: string;
  /** system, reduced */
  motion: string;
  /** of the window: system, en, de, zh-CN */
  language: string;
  /** keys that the user chose, "new=Ctrl+Shift+M" */
  shortcuts: string[];
  /** buffered, write_ahead */
  durability: string;
  /** the most that the list shows */
  maxSessions: number;
}

// ---------------------------------------------------------------- backend/api/dto_state.go

/** PendingView is one uncommitted turn in the Pending tab. */
export interface PendingView {
  turnId: string;
  seq: number;
  /** first words of the user's message */
  title: string;
  tokens: number;
  /** why it is pending */
  reason: string;
  waitsFor: Phrase;
  /** the next context contains it */
  inContext: boolean;
  /** it does not fit in the next context; neither: that context cannot be assembled */
  leftOut: boolean;
  job: JobView;
  createdAt: number;
}

/** StateView is a committed state in the State tab. */
export interface StateView {
  id: string;
  shortId: string;
  seq: number;
  origin: StateOrigin;
  model: string;
  /** Markdown */
  summary: string;
  tokens: number;
  createdAt: number;
  head: boolean;
  /** last turn it covers, 0 for the root */
  turnSeq: number;
  /**
   * Validation is the librarian's report as JSON: what was found, kept, missing, the number of tries, why the fallback
   * was used.
   */
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

/**
 * PinSuggestion is a user's standing instruction that could be pinned. Its id includes the branch for which it is
 * suggested.
 */
export interface PinSuggestion {
  id: string;
  turnId: string;
  turnSeq: number;
  text: string;
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
  /** Validation is the librarian's report as JSON, as for a state summary; empty if no model was called. */
  validation: string;
  /** superseded, kept */
  orphan: boolean;
  /** the next context contains it */
  inUse: boolean;
  createdAt: number;
}

/** StatePanel is the State tab. */
export interface StatePanel {
  head: StateView;
  /** newest first, including the head, with their stored sizes */
  history: StateView[];
  /** oldest first, orphans last */
  ranges: RangeView[];
  /** turns up to this number are sent as summaries or extracts; 0: none */
  cut: number;
  pins: PinView[];
  pinTokens: number;
}

// ---------------------------------------------------------------- backend/api/dto_storage.go

/** StorageView is the content of the data directory, by part. */
export interface StorageView {
  dataDir: string;
  config: string;
  bytes: number;
  /** on its file system; -1: unknown */
  free: number;
  parts: StoragePart[];
  sessions: number;
  turns: number;
  movable: boolean;
  /** why it cannot be moved: a flag or a variable sets the location */
  unmovable: string;
}

/** StoragePart is a part of the data directory. */
export interface StoragePart {
  /** database, journals, backups, aside, other */
  name: string;
  label: string;
  bytes: number;
  files: number;
  /** what it is for, in a sentence */
  about: string;
}

/** BackupView is a copy of the data. */
export interface BackupView {
  path: string;
  name: string;
  kind: BackupKind;
  at: number;
  bytes: number;
  sessions: number;
  turns: number;
  checked: boolean;
  /** why it cannot be restored; empty: it can */
  problem: string;
  /** found by verify; known after a check */
  problems: number;
}

/** RestorePreview is what a restore would replace. Nothing is changed yet. */
export interface RestorePreview {
  backup: BackupView;
  /** in the current data */
  sessions: number;
  turns: number;
  /** of the current data; 0: none */
  newestTurn: number;
  /** of the backup; 0: none */
  backupNewest: number;
  /** found by verify in the backup */
  problems: number;
  /** the first of them */
  findings: string[];
  /** it is from an older version and will be upgraded */
  schemaUpgrade: boolean;
  /** Undone are permanent deletions whose content would return, newest first. */
  undone: ReceiptView[];
}

/** MovePreview is what moving the data directory would do. */
export interface MovePreview {
  /** absolute */
  from: string;
  /** absolute */
  to: string;
  /** Free -1: not known */
  bytes: number;
  /** Free -1: not known */
  free: number;
  /** why the move is not possible; empty: it is */
  reason: string;
}

/** DeletionPreview is what a permanent deletion would remove (SPEC 12). */
export interface DeletionPreview {
  /** session, turn or project */
  kind: string;
  /** of the session, or the name of the project; empty: it has none */
  title: string;
  /** of a turn; otherwise 0 */
  turnSeq: number;
  /** the word to type */
  confirm: string;
  parts: DeletedPart[];
  /** titles of others whose stored requests contain its text */
  sessions: string[];
  /** files that still contain it, and will continue to */
  backups: string[];
  /** other sessions with the same messages, which stay */
  copies: CopyView[];
  /** copies that would be deleted too */
  included: CopyView[];
  /** why it is not possible now (an answer is running); empty: it is */
  reason: string;
  /** Everywhere: the vault has it, so other computers delete it too. */
  everywhere: boolean;
}

/** DeletedPart is a table, and the number of its records. */
export interface DeletedPart {
  store: string;
  label: string;
  count: number;
}

/** ReceiptView says what was permanently deleted, never its text. */
export interface ReceiptView {
  id: string;
  kind: string;
  /** its identifier */
  subject: string;
  at: number;
  parts: DeletedPart[];
  backups: string[];
  /** other sessions that contained the same messages, and were not changed */
  copies: CopyView[];
  /**
   * Included are the identifiers of the receipts of the copies that were deleted in the same step; only in the result
   * of a deletion.
   */
  included: string[];
}

/** CopyView is a copy of a deleted session, or a session with a copy of a deleted turn. */
export interface CopyView {
  sessionId: string;
  title: string;
  /** of a receipt: deleted since */
  gone: boolean;
  /** Turns is the number of the copy's turns, Own of those that only it contains; both only in a preview for a session. */
  turns: number;
  own: number;
}

// ---------------------------------------------------------------- backend/api/dto_sync.go

/** SyncView is what is known of the vault that several computers share. A change of kind "vault" announces updates. */
export interface SyncView {
  connected: boolean;
  /** a folder, or where a server has it */
  address: string;
  /** of the server; empty: none is needed */
  user: string;
  /** exchanges happen without being asked for */
  automatic: boolean;
  /** not now, because background work is paused */
  paused: boolean;
  /** something is not as it should be, and does not pass by itself */
  attention: boolean;
  /** an exchange is running */
  busy: boolean;
  /** files of other computers that it has read */
  read: number;
  /** files of other computers that it has to read */
  all: number;
  /** that came with it, or with the last one */
  turns: number;
  /** the last exchange without an error; 0: there was none */
  exchangedAt: number;
  /** sessions that are sent when their answers are complete */
  waiting: number;
  /** the last exchange ended with it */
  error: ErrorView | null;
  /** each says what waits */
  problems: ErrorView[];
  /** empty: not known before the first exchange of this run */
  devices: SyncDevice[];
}

/** SyncDevice is a computer that writes to the vault. */
export interface SyncDevice {
  name: string;
  /** its name in the vault */
  log: string;
  this: boolean;
  /** what it writes counts no more */
  removed: boolean;
  /** in the vault */
  files: number;
  /** of these, here; of this computer: sent */
  known: number;
  /** the last file; 0: there is none */
  writtenAt: number;
}

/** SyncPlace is where a vault is, and as whom that place is used. */
export interface SyncPlace {
  address: string;
  user: string;
  password: string;
}

// ---------------------------------------------------------------- backend/api/dto_tools.go

/** ToolCallView is a tool call from the tool journal, for its card. */
export interface ToolCallView {
  id: string;
  /** identifies the call's block in the answer */
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
  state: ToolCallState;
  decision: ToolDecision;
  /** Reason is why the outcome is unknown: "cancelled", "timeout", "ended", "unreadable", "crash". */
  reason: string;
  /** Explanation is why the call waits or why its outcome is unknown, as a sentence. Empty otherwise. */
  explanation: string;
  effects: boolean;
  /** JSON, indented */
  arguments: string;
  /**
   * Preview is what a pending call would change: a line diff with lines that begin with "+", "-" or a space. Empty:
   * not supported by its source.
   */
  preview: string;
  /** number of secrets removed from the arguments */
  redactions: number;
  /** the first part of its text */
  result: string;
  /** there is more: Tools.Result has all of it */
  resultMore: boolean;
  isError: boolean;
  /** OutcomeUnknown: the model was told that nobody knows how the call ended. */
  outcomeUnknown: boolean;
  /** in the result */
  images: number;
  /** hash of what the decision was about */
  definition: string;
  runs: number;
  /** it is running in this process and can be cancelled */
  running: boolean;
  /** Progress of a running call: done of total, total 0 if unknown; and its last message. */
  progressDone: number;
  progressTotal: number;
  progressMessage: string;
  createdAt: number;
  decidedAt: number;
  startedAt: number;
  endedAt: number;
}

/** WaitingCallView is a call that waits for a decision, with its context. */
export interface WaitingCallView {
  call: ToolCallView;
  sessionId: string;
  branchId: string;
  /** title */
  session: string;
  turnSeq: number;
  /** null: it is no longer offered */
  definition: ToolDefinitionView | null;
}

/** WaitingCalls is the queue of all sessions, the oldest first. */
export interface WaitingCalls {
  rev: number;
  calls: WaitingCallView[];
}

/** ToolDefinitionView is a tool and the user's decisions about it. */
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
  /**
   * Pinned is "accepted" (offered to models), "new" or "changed" (not offered until accepted), "gone" (accepted, but
   * no longer offered by its server).
   */
  pinned: string;
  /** Before is the accepted definition, if it has changed. */
  before: ToolDefinitionView | null;
  /** Decision is "" (ask), "always" or "never"; DecisionFrom is "tool", "server", "config", "builtin" or "". */
  decision: ToolDecision;
  decisionFrom: string;
  /** AsksEachCall: each call needs approval, so only "once", "deny" and "never" can be chosen. */
  asksEachCall: boolean;
}

/** ToolPermissionView is a decision for later calls. */
export interface ToolPermissionView {
  source: string;
  /** empty: all tools of the source */
  tool: string;
  /** empty: in all sessions */
  sessionId: string;
  /** title */
  session: string;
  /** session, always; never, also for a single session */
  decision: ToolDecision;
  createdAt: number;
  /** FromConfig: it is in config.toml (tools.allow), and must be removed there. */
  fromConfig: boolean;
}

/** ToolsPanel is the page about tools: what is offered, decided, and wrong. */
export interface ToolsPanel {
  rev: number;
  /** tools.mode */
  mode: string;
  definitions: ToolDefinitionView[];
  permissions: ToolPermissionView[];
  /** Problems are refused tools, each as a sentence: a duplicate name, an invalid schema. */
  problems: ToolProblemView[];
}

/** ToolProblemView is a tool that is not offered, and why. */
export interface ToolProblemView {
  source: string;
  tool: string;
  message: string;
}

/**
 * ToolDecisionRequest decides about a call: "once", "session", "always", "deny", "never". Server applies "session",
 * "always" and "never" to all tools of its source. Hash is that of the shown definition: if it differs now, the
 * decision is refused and requested again.
 */
export interface ToolDecisionRequest {
  callId: string;
  choice: ToolDecision;
  server: boolean;
  hash: string;
}

/**
 * ToolResolveRequest resolves a call with an unknown outcome: "enter" (Text is the result that the user determined),
 * "rerun", "tell" (the model gets the answer that it is unknown). Hash is that of the shown definition: with another
 * one the tool is not run again. To give up, discard the turn.
 */
export interface ToolResolveRequest {
  callId: string;
  choice: Resolution;
  text: string;
  isError: boolean;
  hash: string;
}

/** ToolResultView is the whole result of a call. */
export interface ToolResultView {
  blocks: BlockView[];
  isError: boolean;
}

// ---------------------------------------------------------------- backend/api/dto_transfer.go

/** ExportRequest says what to export, and in which format (SPEC 12). */
export interface ExportRequest {
  /** turn, branch, session or all */
  scope: ExportingScope;
  /** may be empty for a turn or branch */
  sessionId: string;
  /** of a turn: the branch from which it is seen; of a session: instead of the active one */
  branchId: string;
  /** of scope turn */
  turnId: string;
  /** AllBranches writes every branch, including archived ones. A bundle always contains all. */
  allBranches: boolean;
  /**
   * Format is the configured one if empty. A bundle contains a whole session: part of one is then written as Markdown,
   * and an explicitly requested bundle of it is refused.
   */
  format: ExportingFormat;
  /**
   * Quotes includes in a bundle the requests that quoted other conversations or files of projects. A bundle of
   * everything always includes them.
   */
  quotes: boolean;
  /** for ScopeAll: include archived sessions */
  archived: boolean;
  /** Path is the file, or a folder; empty: the last used folder. In a folder an unused name is chosen. */
  path: string;
  replace: boolean;
  /** Sealed seals the bundle with Passphrase, which is never stored. A plan needs no passphrase. */
  sealed: boolean;
}

/** ExportPlan is what an export would write. */
export interface ExportPlan {
  format: ExportingFormat;
  /** suggested, with its extension */
  name: string;
  /** where: the folder used last, and the name */
  path: string;
  /** Path exists already */
  exists: boolean;
  sessions: number;
  branches: number;
  turns: number;
  /** turns left out because they have no answer yet */
  open: number;
  /**
   * Quoting counts the requests of a session to be written as a bundle that quoted other conversations or files of
   * projects.
   */
  quoting: number;
}

/** DraggedFile is a file written for a drag out of the window. It is deleted at the next start. */
export interface DraggedFile {
  path: string;
  /** file:///... */
  uri: string;
  name: string;
  size: number;
}

/** DroppedFile is a file that was dropped on the window, chosen, or passed to a second start of the program. */
export interface DroppedFile {
  /** absolute, unless that failed */
  path: string;
  name: string;
  size: number;
  kind: FiletypeKind;
  /** of a transcript */
  format: string;
  /** a bundle, or an archive of them, that a passphrase opens; or a folder with such files */
  sealed: boolean;
  /** why the file cannot be used; empty if it can */
  reason: Phrase;
}

/** ImportReport is the result of an import. It is kept until dismissed. */
export interface ImportReport {
  file: string;
  format: string;
  /** created */
  sessions: number;
  /** existing ones that got new turns */
  grown: number;
  /** existing ones, unchanged */
  already: number;
  /** added */
  turns: number;
  /** added, without first branches */
  branches: number;
  skippedCount: number;
  /** the first of them */
  skipped: SkippedRow[];
  notices: CountedNote[];
  /** conversations with their own instructions, which are not used */
  instructed: number;
  /** the first of them */
  instructions: Instructed[];
  torn: boolean;
  /** of a folder: the first files that end early */
  tornFiles: string[];
  cancelled: boolean;
  /** to open */
  firstSession: string;
  /** a bundle was imported as a copy, because its session exists and has diverged */
  copied: boolean;
}

/** Instructed is a conversation with its own instructions. */
export interface Instructed {
  sessionId: string;
  title: string;
  /** their first words */
  begins: string;
}

/** SkippedRow is an unreadable entry. */
export interface SkippedRow {
  file: string;
  index: number;
  id: string;
  title: string;
  offset: number;
  reason: Phrase;
}

/** CountedNote is a notice with a count. */
export interface CountedNote {
  text: string;
  count: number;
  /** of a folder: the first files that it is about */
  files: string[];
}

// ---------------------------------------------------------------- backend/api/dto_work.go

/**
 * TaskView is a task: it shows its progress, can be cancelled, and survives a restart (UX, Around it). A change of
 * kind "task" announces updates.
 */
export interface TaskView {
  id: string;
  kind: TasksKind;
  /** "Import conversations.json" */
  title: Phrase;
  state: TasksState;
  done: number;
  /** 0: unknown */
  total: number;
  /** bytes, sessions, turns; empty: nothing to count */
  unit: string;
  /** the current item */
  detail: string;
  startedAt: number;
  /** 0: running */
  endedAt: number;
  error: ErrorView | null;
  /** the file or folder that was written */
  path: string;
  /** of an import */
  import: ImportReport | null;
  /** of a check of everything */
  check: CheckReport | null;
  /** Resume continues where it stopped */
  resumable: boolean;
  /** it cannot be cancelled once begun: the program restarts for it */
  firm: boolean;
}

/** CheckReport is the result of a check of all data. Each finding names its record; at most 100 of them are kept. */
export interface CheckReport {
  problems: number;
  findings: Phrase[];
}

/** Background is the state of background work. */
export interface Background {
  paused: boolean;
  queued: number;
  running: number;
  failed: number;
}

/**
 * WindowRequest is a request to the page from outside it: from the tray, a second start of the program or a drop on
 * the window. Event ci:window-request.
 */
export interface WindowRequest {
  kind: WindowRequestKind;
  sessionId: string;
  files: DroppedFile[];
  /** of a drop, in the page; -1: no drop */
  x: number;
  y: number;
}

// ---------------------------------------------------------------- backend/api/sealing.go

/** SealingView is what is sealed. */
export interface SealingView {
  sealed: boolean;
  /** SignIn: the keyring keeps the key, so that there is no passphrase. */
  signIn: boolean;
  /**
   * Left and Outside are paths: copies in the data directory that are not sealed with its key, and copies in other
   * places, which are never converted.
   */
  left: string[];
  outside: string[];
}

/** Events to the page by their names, and what they carry. */
export interface Events {
  'ci:frame': Frame;
  'ci:change': Change;
  'ci:window-request': WindowRequest;
}

/** Transfer imports and exports conversations, and attaches files (SPEC 12). */
export interface TransferService {
  /** Inspect detects the kinds of files, by content, not only by name. */
  inspect(paths: string[]): Promise<DroppedFile[]>;
  /** PickFiles opens the system's dialog for opening files; none: the user closed it. */
  pickFiles(): Promise<string[]>;
  /** PickTarget opens the system's dialog for saving a file; empty: the user closed it. */
  pickTarget(suggested: string): Promise<string>;
  /**
   * SaveText saves a text, such as the code of an answer, to a file that the user chooses. It returns the path; empty:
   * the user closed the dialog, and nothing was written.
   */
  saveText(name: string, text: string): Promise<string>;
  /** Reveal shows a file in the system's file manager. */
  reveal(path: string): Promise<void>;
  /**
   * ImportFiles starts importing files and folders, with one task for each. An empty format is detected. The
   * passphrase opens those that are sealed; it is not stored, so their imports cannot be resumed, only started again.
   *
   * Errors: CodeInvalid, CodeBusy, CodeSealed (the passphrase does not open one of them); nothing is imported then.
   */
  importFiles(paths: string[], format: string, passphrase: string): Promise<TaskView[]>;
  /** Plan returns what an export would write. */
  plan(request: ExportRequest): Promise<ExportPlan>;
  /** Printable returns the page to print: an export as HTML, which runs no scripts and loads nothing. */
  printable(request: ExportRequest): Promise<string>;
  /**
   * Export starts writing a file. An existing one is replaced only on request. The passphrase is that of a sealed
   * bundle.
   */
  export(request: ExportRequest, passphrase: string): Promise<TaskView>;
  /**
   * PastedFiles inspects the files in the clipboard, such as those copied in a file manager, for pages that cannot
   * read it. The result is empty if there are none.
   */
  pastedFiles(): Promise<DroppedFile[]>;
  /**
   * PastedPicture returns the picture in the clipboard, for pages that cannot read it. The result has no data if there
   * is none, or if the offered data is not a picture.
   */
  pastedPicture(): Promise<ImageUpload>;
  /**
   * Attach reads a file by its path for the draft of a branch: a document is stored in the session, an image becomes
   * part of the draft.
   */
  attach(branchID: string, path: string): Promise<AttachResult>;
}

/** Storage shows and moves the data directory, and handles backups and permanent deletions. */
export interface StorageService {
  /** Check checks all stored data against its hashes, chains and rules, like the verb verify. It changes nothing. */
  check(): Promise<TaskView>;
  /** Storage returns the parts of the data directory with their sizes. */
  storage(): Promise<StorageView>;
  /** Backups lists the copies in the data directory, newest first. With check, each one is read and verified. */
  backups(check: boolean): Promise<BackupView[]>;
  /** BackUp writes a verified copy of everything. An empty path means a dated name in the folder of backups. */
  backUp(path: string): Promise<TaskView>;
  /** RestorePreview checks a backup and reports what restoring it would replace. */
  restorePreview(path: string): Promise<RestorePreview>;
  /** Restore restores a backup: the program ends, restarts, and restores it before opening anything. */
  restore(path: string): Promise<void>;
  /**
   * StartFresh moves the remaining files of a lost history, including its backups, into a folder, and returns its
   * path. The next start begins an empty history.
   *
   * Errors: CodeConflict if the data is open, and those of store.Archive.StartFresh.
   */
  startFresh(): Promise<string>;
  /**
   * DropLog makes data with a damaged write-ahead log writable again, without the unreadable changes in the log. The
   * damaged files are kept in a folder, whose path it returns.
   *
   * Errors: CodeConflict if the data is open, and those of store.Archive.DropLog.
   */
  dropLog(): Promise<string>;
  /**
   * Reopen restarts the program, which tries to open the data again.
   *
   * Errors: CodeConflict if the data is open.
   */
  reopen(): Promise<void>;
  /** PickFolder opens the system's dialog for choosing a folder; empty: the user closed it. */
  pickFolder(): Promise<string>;
  /** MovePreview checks whether the data can be moved to a folder. */
  movePreview(to: string): Promise<MovePreview>;
  /**
   * Move moves the data to a folder: the program ends, restarts, copies and compares everything while nothing is open,
   * and continues there. The old folder stays until it is deleted by hand.
   */
  move(to: string): Promise<TaskView>;
  /**
   * PreviewDeletion describes what a permanent deletion of a session or turn (kind) with the named copies would
   * remove. copies are identifiers of sessions that an earlier preview named.
   */
  previewDeletion(kind: string, id: string, copies: string[]): Promise<DeletionPreview>;
  /**
   * Delete permanently deletes a session or the content of a turn, with the copies that the preview included, and no
   * others. confirm is the text that DeletionPreview asks the user to type.
   */
  delete(kind: string, id: string, confirm: string, copies: string[]): Promise<ReceiptView>;
  /** Receipts returns the receipts of all permanent deletions, newest first. */
  receipts(): Promise<ReceiptView[]>;
}

/** Sealing seals the data, changes what opens it, and opens it. */
export interface SealingService {
  /** View returns what is sealed. */
  view(): Promise<SealingView>;
  /**
   * Unlock opens sealed data with its passphrase or recovery code, or, without one, with the keyring: the program
   * restarts and opens it.
   *
   * Errors: CodeConflict if the data is open, CodeSealed (it is neither of them), CodeNewer, CodeCorrupt.
   */
  unlock(secret: string): Promise<void>;
  /**
   * Lock restarts the program, which then asks for the passphrase. Answers that are arriving end, and what has arrived
   * of them is kept.
   *
   * Errors: CodeConflict (the data opens with the sign-in).
   */
  lock(): Promise<void>;
  /** Active is called while somebody uses the window, at least twice a minute. */
  active(): Promise<void>;
  /** NewCode makes a recovery code, which Seal or SetCode makes valid. */
  newCode(): Promise<string>;
  /**
   * Seal seals plain data with a passphrase and the code of NewCode, or renews the key of sealed data, whose
   * passphrase it must be: the program restarts and does it.
   *
   * Errors: CodeInvalid (no passphrase, no code), CodeSealed (another passphrase), CodeConflict (tasks are running).
   */
  seal(passphrase: string): Promise<void>;
  /**
   * SealSignIn is Seal without a passphrase: the keyring keeps the key, and whoever signs in opens the data.
   *
   * Errors: CodeInvalid (no code), CodeUnavailable (the keyring does not store the key), CodeSealed (the data has a
   * passphrase), CodeConflict (tasks are running).
   */
  sealSignIn(): Promise<void>;
  /**
   * Unseal stores the data plain again: the program restarts and does it. Like everything that changes what opens the
   * data, it needs the passphrase or the recovery code, unless the data opens with the sign-in: an open window alone
   * is not enough.
   *
   * Errors: CodeSealed (the secret is neither of them), CodeConflict (tasks are running), CodeNotFound (it is not
   * sealed).
   */
  unseal(secret: string): Promise<void>;
  /**
   * SealLeft seals the copies in the data directory that are plain, or have an earlier key, because they could not be
   * sealed with the data. The task fails if some still cannot be sealed.
   *
   * Errors: CodeConflict (the data is open read-only, or it is being done).
   */
  sealLeft(): Promise<TaskView>;
  /** SetPassphrase replaces the passphrase. Backups that exist keep the earlier one. For secret, see Unseal. */
  setPassphrase(secret: string, passphrase: string): Promise<void>;
  /**
   * SetSignIn has the keyring keep the key, so that the data opens with the sign-in and has no passphrase any more.
   * For secret, see Unseal.
   *
   * Errors: CodeUnavailable (the keyring does not store it).
   */
  setSignIn(secret: string): Promise<void>;
  /** SetCode makes the code of NewCode valid. Backups that exist keep the earlier one. For secret, see Unseal. */
  setCode(secret: string): Promise<void>;
}

/** Settings edits the configuration, keys and models. */
export interface SettingsService {
  /** Autostart returns whether the system starts the program at sign-in. It is read from the system. */
  autostart(): Promise<AutostartView>;
  /**
   * SetAutostart creates or removes the system's entry, and returns the resulting state.
   *
   * Errors: CodeUnavailable, if the system does not support it or refuses.
   */
  setAutostart(on: boolean): Promise<AutostartView>;
  /** Presets returns the services and servers that can be added by name. */
  presets(): Promise<PresetView[]>;
  /** ModelPlaces returns the providers and servers whose models can be listed now. */
  modelPlaces(): Promise<PlaceView[]>;
  /** OfferedModels asks a place for its models. */
  offeredModels(place: string): Promise<OfferView[]>;
  /** AddOffered configures a model of a place, or returns the model already configured for it. */
  addOffered(place: string, modelID: string): Promise<AddedModel>;
  /** SetFavourite adds a model to the favourites, which are listed first, or removes it. */
  setFavourite(name: string, favourite: boolean): Promise<ModelView[]>;
  /** SetWindow stores the context window that the user entered for a model, in tokens. */
  setWindow(name: string, tokens: number): Promise<ModelView[]>;
  /** Costs returns the cost of the newest turn of a session, of the session, and of this month so far. */
  costs(sessionID: string): Promise<CostView>;
  /** Startup is the first call from the window. It works even if nothing else does. */
  startup(): Promise<Startup>;
  /** FinishFirstRun records that the first start is completed. model becomes the default unless it is empty. */
  finishFirstRun(model: string): Promise<void>;
  /** Settings returns the configuration with everything the window needs to edit it. */
  settings(): Promise<SettingsView>;
  /** Set changes one key. An invalid value changes nothing. */
  set(key: string, value: string): Promise<SettingsView>;
  /** Reset resets a key to its default. */
  reset(key: string): Promise<SettingsView>;
  /** Models lists every model. */
  models(): Promise<ModelView[]>;
  /** SaveModel adds or changes a configured model. Limits of 0 mean that they are not configured. */
  saveModel(v: ModelView): Promise<ModelView[]>;
  /** RemoveModel removes a configured model. Its conversations are kept. */
  removeModel(name: string): Promise<ModelView[]>;
  /** SetDefaultModel sets the model for new messages. */
  setDefaultModel(name: string): Promise<ModelView[]>;
  /** Keys returns where each key is stored, but never a key itself. */
  keys(): Promise<KeyView[]>;
  /** SetKey stores a key in the system's keyring, or for this run if there is none. */
  setKey(provider: string, key: string): Promise<KeyView[]>;
  /** RemoveKey removes a stored key. A key in the environment is not affected. */
  removeKey(provider: string): Promise<KeyView[]>;
  /**
   * TestKey tests a key or server by listing its models. An empty provider is derived from the key's form, and an
   * empty key means the stored one.
   */
  testKey(provider: string, key: string, baseURL: string): Promise<KeyTest>;
  /** LocalServers lists the model servers on this machine. */
  localServers(): Promise<LocalServer[]>;
  /** OpenExternal shows a link in the system's browser: http and https only. */
  openExternal(link: string): Promise<void>;
  /** Version returns the version of this program. */
  version(): Promise<string>;
  /** QuickKey returns the state of the keys set in desktop.quick_ask_keys. */
  quickKey(): Promise<QuickKeyView>;
  /** Updates returns the result of the last check for updates. It sends no request. */
  updates(): Promise<UpdateView>;
  /** CheckForUpdates checks the release feed now. Errors are in the view. */
  checkForUpdates(): Promise<UpdateView>;
}

/** Sessions lists, opens and organizes conversations. */
export interface SessionsService {
  /** SetFolder moves sessions to a folder, all of them or none; an empty folder takes them out of theirs. */
  setFolder(ids: string[], folder: string): Promise<void>;
  /**
   * RenameFolder renames a folder with its content, including archived sessions and its project. If the new name is
   * that of another folder, the two are merged.
   */
  renameFolder(from: string, to: string): Promise<void>;
  /** Folders returns the folders of sessions, by name. */
  folders(): Promise<Folder[]>;
  /** ArchiveMany hides sessions or shows them again: all of them, or none if it fails. */
  archiveMany(ids: string[], archived: boolean): Promise<void>;
  /**
   * Duplicate creates a session with the lineage of a branch (empty: the active one). Open turns are left out, and
   * counted in the row.
   */
  duplicate(id: string, branchID: string): Promise<SessionRow>;
  /** SuggestTitle makes a title from the session's active branch, without a network request; empty if it has no turns. */
  suggestTitle(id: string): Promise<string>;
  /** List returns sessions, pinned first, newest first, at most maxListed. title filters. */
  list(archived: boolean, title: string): Promise<SessionRow[]>;
  /** Create creates an empty session. */
  create(title: string): Promise<SessionRow>;
  /** Rename changes a session's title. */
  rename(id: string, title: string): Promise<void>;
  /** Archive hides a session or shows it again. Nothing is deleted. */
  archive(id: string, archived: boolean): Promise<void>;
  /** Pin keeps a session at the top of the list. */
  pin(id: string, pinned: boolean): Promise<void>;
  /**
   * Open returns everything that the first paint of a session needs, with the newest 60 turns. An empty branch means
   * the active one.
   */
  open(sessionID: string, branchID: string): Promise<SessionSnapshot>;
  /** Turns returns the lineage between two turn_seqs, inclusive, at most 200. */
  turns(branchID: string, fromSeq: number, toSeq: number): Promise<TurnPage>;
  /** Turn returns one turn as a branch sees it. */
  turn(branchID: string, turnID: string): Promise<TurnView>;
  /** Header returns the header of a branch for a model; an empty model means the session's. */
  header(branchID: string, model: string): Promise<Header>;
  /**
   * Fork starts a branch after a turn and switches to it. With before it starts a branch before the turn, for a new
   * version of its message, which makes the branch the active one when it is sent: until then other messages to the
   * session do not go to this branch. The label is then that new version, which names the branch.
   */
  fork(turnID: string, before: boolean, label: string): Promise<BranchView>;
  /** Rollback starts a branch from an earlier state and switches to it. Nothing is deleted. */
  rollback(sessionID: string, stateID: string): Promise<BranchView>;
  /** Switch makes a branch the active one of its session. */
  switch(sessionID: string, branchID: string): Promise<void>;
  /** RenameBranch changes a branch's label. */
  renameBranch(branchID: string, label: string): Promise<void>;
  /** SessionSettings returns a session's own settings. */
  sessionSettings(sessionID: string): Promise<SessionSettings>;
  /** ImportedInstructions returns the instructions that came with a session's import. */
  importedInstructions(sessionID: string): Promise<ImportedInstructions>;
  /** SetSessionSettings changes a session's own settings, starting with the next message. */
  setSessionSettings(sessionID: string, v: SessionSettings): Promise<void>;
  /** Draft returns a branch's unsent text. */
  draft(branchID: string): Promise<Draft>;
  /** SaveDraft stores a branch's unsent text. It may refer to deleted chunks, so that no text is lost. */
  saveDraft(branchID: string, draft: Draft): Promise<void>;
}

/** Chat sends messages, and carries out the user's decisions about turns. */
export interface ChatService {
  /**
   * SendToSeveral sends a message to two to four models at once, each on its own branch. The first model answers on
   * the message's branch, which becomes the active one. The message is never queued.
   */
  sendToSeveral(req: SendRequest, models: string[]): Promise<SentToSeveral>;
  /**
   * Attach receives a piece of a document; after the last one the document is read and stored for the draft of its
   * branch.
   */
  attach(part: AttachPart): Promise<AttachResult>;
  /** AttachCancel discards the received part of a document. */
  attachCancel(upload: string): Promise<void>;
  /** Document returns an attached document to read. */
  document(fileID: string): Promise<DocumentView>;
  /**
   * Send makes a message durable and starts its turn, or queues it while another turn of the branch runs. Its branch
   * becomes the active one.
   */
  send(req: SendRequest): Promise<SendResult>;
  /** Stop ends a running answer and keeps the received part. */
  stop(turnID: string): Promise<void>;
  /** Keep makes an incomplete answer final. */
  keep(turnID: string): Promise<void>;
  /** Discard ends an incomplete, unsent or failed turn without an answer; its text can still be read. */
  discard(turnID: string): Promise<void>;
  /** Retry tries again: an incomplete turn with a new attempt, a failed one with a new turn, a final one on a fork. */
  retry(turnID: string, model: string): Promise<SendResult>;
  /**
   * Continue asks the model to continue an incomplete answer. After a stopped one, which is final, it sends a new
   * message.
   */
  continue(turnID: string, model: string): Promise<SendResult>;
  /** SendUnsent sends a turn that was accepted but never answered. */
  sendUnsent(turnID: string, model: string): Promise<SendResult>;
  /** Stream returns a step's text so far, for a window that missed frames. */
  stream(stepID: string): Promise<StreamState>;
  /** CountTokens estimates the tokens of a text. */
  countTokens(text: string): Promise<number>;
  /** SetModel sets the session's model from now on. */
  setModel(sessionID: string, model: string): Promise<void>;
  /** Queue returns the messages that wait on a branch. */
  queue(branchID: string): Promise<QueueView>;
  /**
   * SendQueue sends the messages that wait on a branch, one after another: the first now, or when the running answer
   * is complete.
   */
  sendQueue(branchID: string): Promise<void>;
  /**
   * EditQueued moves a message from the queue into the branch's draft, above the text that is already there, and
   * returns it.
   */
  editQueued(messageID: string): Promise<Draft>;
  /** RemoveQueued deletes a message from the queue, and returns it for RestoreQueued. */
  removeQueued(messageID: string): Promise<Draft>;
  /** MoveQueued moves a message to a position in its queue, counted from 0. */
  moveQueued(messageID: string, to: number): Promise<void>;
  /** RestoreQueued undoes RemoveQueued: it inserts the message at a position in the queue, counted from 0. */
  restoreQueued(branchID: string, message: Draft, at: number): Promise<void>;
  /**
   * TemporaryStart starts a chat that is never written to disk, and returns its id. It exists only in memory, during
   * this run.
   */
  temporaryStart(): Promise<string>;
  /** TemporarySend sends a message in a temporary chat. Only text, images and model of the request are used. */
  temporarySend(id: string, req: SendRequest): Promise<SendResult>;
  /** TemporaryTurns returns all turns of a temporary chat, in order. */
  temporaryTurns(id: string): Promise<TurnView[]>;
  /** TemporaryStop stops the running answer of a temporary chat; the received part is kept. */
  temporaryStop(id: string): Promise<void>;
  /** TemporaryEnd discards a temporary chat. */
  temporaryEnd(id: string): Promise<void>;
}

/**
 * Inspect shows and controls what is behind the conversation: pending turns, state summaries, pins, jobs, recovery,
 * raw requests.
 */
export interface InspectService {
  /** Activity returns the Activity tab of a branch. */
  activity(branchID: string): Promise<ActivityPanel>;
  /** RetryJob makes a job due now and resets its attempts. */
  retryJob(id: number): Promise<void>;
  /** DismissJob marks a job as failed until it is retried. */
  dismissJob(id: number): Promise<void>;
  /** Reconcile looks for unfinished work now and returns what it found. */
  reconcile(): Promise<RecoveryReport>;
  /** Steps lists a turn's provider calls, every attempt. */
  steps(turnID: string): Promise<StepView[]>;
  /** RawStep returns the exact request and response of a provider call. The middle of a very long one is left out. */
  rawStep(stepID: string): Promise<RawStep>;
  /** Context returns the X-ray of a turn: what the model saw. */
  context(turnID: string): Promise<ContextView>;
  /** NextContext returns the branch's next request with a draft and its attachments. */
  nextContext(branchID: string, model: string, draft: Draft): Promise<ContextView>;
  /** DiffContext compares a turn's request with the previous one. */
  diffContext(turnID: string): Promise<ContextDiff>;
  /** Summarize makes the branch's due range summaries now. With force, it also summarizes turns that still fit. */
  summarize(branchID: string, force: boolean): Promise<void>;
  /** SwitchPreview returns what sending to another model would change. */
  switchPreview(branchID: string, model: string): Promise<SwitchPreview>;
  /** Pending lists the branch's uncommitted turns, with the reason why each is pending. */
  pending(branchID: string): Promise<PendingView[]>;
  /** CommitNow commits the branch's pending turns now. */
  commitNow(branchID: string): Promise<void>;
  /** State returns the State tab: head, history, pins. */
  state(branchID: string): Promise<StatePanel>;
  /** StateByID returns one complete state. */
  stateByID(stateID: string): Promise<StateView>;
  /** AddPin pins a fact: it is sent verbatim with every request from now on. */
  addPin(branchID: string, text: string): Promise<PinView>;
  /** EditPin creates a new version of a pinned fact; the old one is kept. */
  editPin(branchID: string, pinID: string, text: string): Promise<PinView>;
  /** RemovePin unpins a fact on this branch. */
  removePin(branchID: string, pinID: string): Promise<void>;
  /** MovePin moves a fact to a position, counted from 0. */
  movePin(branchID: string, pinID: string, position: number): Promise<void>;
  /**
   * SuggestedPins returns the standing instructions among the user's messages on a branch that are neither pinned nor
   * dismissed, newest first. A "pins" event announces changes.
   */
  suggestedPins(branchID: string): Promise<PinSuggestion[]>;
  /**
   * AcceptSuggestedPin pins a suggestion on the branch for which it was suggested. text replaces the suggested text
   * unless it is empty.
   */
  acceptSuggestedPin(id: string, text: string): Promise<PinView>;
  /** DismissSuggestedPin dismisses a suggestion permanently. */
  dismissSuggestedPin(id: string): Promise<void>;
}

/** Memory shows memory, searches it, and shows the state of its index. */
export interface MemoryService {
  /**
   * Known returns a page of what is remembered of one kind in all sessions: pin, suggestion, instructions or summary.
   * Entries that do not contain the text are left out.
   */
  known(kind: KnownKind, text: string, offset: number, limit: number): Promise<KnownPage>;
  /** Chunks returns a page of the chunk browser, newest first. */
  chunks(filter: MemoryFilter): Promise<ChunkPage>;
  /** Search finds chunks by words and by vectors. If the embedder fails, it searches by words only and sets Warning. */
  search(filter: MemoryFilter, query: string): Promise<MemorySearch>;
  /** Chunk returns everything known about one chunk; CodeNotFound if it was deleted. */
  chunk(id: string): Promise<ChunkDetail>;
  /** Chip describes a chunk attached to a message by hand. */
  chip(id: string): Promise<MemoryChip>;
  /**
   * Status returns the state of the memory index. Turns that could not be indexed are listed with those of the
   * branch's session first.
   */
  status(branchID: string): Promise<IndexStatus>;
}

/** Branches shows a session's branches and rolls them back. */
export interface BranchesService {
  /** Answers returns all answers to the message of a turn, each on its branch. */
  answers(turnID: string): Promise<AnswerSet>;
  /** AnswerAlso answers the message of a turn with another model, on a new branch. The active branch does not change. */
  answerAlso(turnID: string, model: string): Promise<SendResult>;
  /**
   * MergeAnswers lets a model combine all final answers to the message of a turn into one, on a new branch, which
   * becomes the active one.
   */
  mergeAnswers(turnID: string, model: string): Promise<SendResult>;
  /** Tree returns a session's branches as runs of turns. */
  tree(sessionID: string): Promise<BranchTree>;
  /** Compare compares two branches of a session from where they diverge. */
  compare(leftBranchID: string, rightBranchID: string): Promise<BranchComparison>;
  /**
   * Landmarks names some turns of a run, evenly spaced between its first and last, with the first words of their
   * messages. A short run has none.
   */
  landmarks(branchID: string, fromSeq: number, toSeq: number): Promise<Landmark[]>;
  /** Archive archives or restores a branch. Nothing is deleted. The active branch cannot be archived. */
  archive(branchID: string, archived: boolean): Promise<void>;
  /** RollbackTo rolls back to a turn: a new branch that ends with it becomes active. */
  rollbackTo(branchID: string, turnID: string): Promise<BranchView>;
  /**
   * ContextAt returns the next request of a branch that would end with a turn; with an empty turn, of a branch without
   * turns. The branch is not created.
   */
  contextAt(branchID: string, turnID: string, model: string): Promise<ContextView>;
}

/**
 * Search searches all sessions and single branches, and provides the metrics of turns. A newer search ends an older
 * one of its kind.
 */
export interface SearchService {
  /** Everything finds messages and titles in all sessions. */
  everything(query: SearchQuery): Promise<SearchResult>;
  /** Find finds a text in the turns of a branch's lineage, oldest first. It ignores case unless requested otherwise. */
  find(branchID: string, text: string, matchCase: boolean): Promise<FindResult>;
  /** Metrics returns the metrics of the newest turns, oldest first, and their sums. */
  metrics(query: MetricsQuery): Promise<MetricsSeries>;
}

/** Work handles tasks, background work, and requests to the page. */
export interface WorkService {
  /** Tasks returns the running tasks, and the finished ones that were not dismissed, newest first. */
  tasks(): Promise<TaskView[]>;
  /** Cancel stops a task at a safe point. */
  cancel(id: string): Promise<void>;
  /** Resume continues an interrupted task. */
  resume(id: string): Promise<TaskView>;
  /** Dismiss removes a finished task. */
  dismiss(id: string): Promise<void>;
  /** Background returns the state of background work. */
  background(): Promise<Background>;
  /** Pause pauses background work, even across restarts. */
  pause(paused: boolean): Promise<Background>;
  /** WindowRequests returns the requests to the page from before it first asked; later ones are sent as events. */
  windowRequests(): Promise<WindowRequest[]>;
  /**
   * NewWindow opens an additional window on this data, with a session; empty: one that no window shows yet.
   *
   * Errors: CodeUnavailable if the program cannot be started again, or has opened its data read-only.
   */
  newWindow(sessionID: string): Promise<void>;
  /** ShowInFirst brings the first window to the front with a session, to continue a conversation of the small window. */
  showInFirst(sessionID: string): Promise<void>;
  /** Quit ends the program, with all its windows. */
  quit(): Promise<void>;
}

/** Tools shows tools and tool calls, and applies the user's decisions about them (SPEC 10). */
export interface ToolsService {
  /** WaitingCalls returns the calls of all sessions that wait for the user, oldest first. */
  waitingCalls(): Promise<WaitingCalls>;
  /** Calls returns all calls of turns, in the order in which models requested them. */
  calls(turnIDs: string[]): Promise<ToolCallView[]>;
  /** Decide decides about a waiting call. */
  decide(r: ToolDecisionRequest): Promise<void>;
  /** Resolve resolves a call with an unknown outcome. */
  resolve(r: ToolResolveRequest): Promise<void>;
  /** Cancel cancels a running call. If its tool may have effects, its outcome is then unknown. */
  cancel(callID: string): Promise<void>;
  /** Result returns the complete result of a call. */
  result(callID: string): Promise<ToolResultView>;
  /** Panel returns the page about tools. */
  panel(): Promise<ToolsPanel>;
  /** Accept accepts the definition with this hash, as it was shown: it is offered to models from now on. */
  accept(source: string, tool: string, hash: string): Promise<void>;
  /**
   * SetPermission stores a decision for later calls: "always" or "session" for the definition with this hash, or
   * "never". An empty tool means all tools of the source, an empty session all sessions.
   */
  setPermission(source: string, tool: string, sessionID: string, decision: ToolDecision, hash: string): Promise<void>;
  /** Forget removes a decision: later calls ask again. */
  forget(source: string, tool: string, sessionID: string): Promise<void>;
  /**
   * MarkReadOnly marks a server's tool, in the definition with this hash, as having no effects; an empty hash removes
   * the mark.
   */
  markReadOnly(source: string, tool: string, hash: string): Promise<void>;
  /** SessionMode returns a session's own mode: "disabled", "parse_only", "enabled", or "" for the configured one. */
  sessionMode(sessionID: string): Promise<string>;
  /** SetSessionMode sets a session's own mode, starting with the next step. */
  setSessionMode(sessionID: string, mode: string): Promise<void>;
}

/** Library manages the assistants and saved prompts. */
export interface LibraryService {
  /** Panel returns the whole library. */
  panel(): Promise<LibraryPanel>;
  /** SaveAssistant creates an assistant, or changes the one with its id. Sessions keep their settings. */
  saveAssistant(v: AssistantView): Promise<AssistantView>;
  /** DuplicateAssistant creates an assistant with the settings of another. */
  duplicateAssistant(id: string): Promise<AssistantView>;
  /** DeleteAssistant deletes an assistant. Sessions keep the settings copied from it. */
  deleteAssistant(id: string): Promise<void>;
  /** ApplyAssistant gives a session the current settings of an assistant, starting with the next message. */
  applyAssistant(sessionID: string, id: string): Promise<void>;
  /** StartSession creates a session with the settings of an assistant. */
  startSession(id: string): Promise<SessionRow>;
  /** SessionAssistant returns the assistant that was last applied to a session. */
  sessionAssistant(sessionID: string): Promise<SessionAssistantView>;
  /** AssistantFile returns the text of a file with an assistant, for ImportAssistant. */
  assistantFile(id: string): Promise<string>;
  /** ImportAssistant adds the assistant in the text of a file. */
  importAssistant(text: string): Promise<AssistantView>;
  /** SavePrompt saves a prompt, or changes the one with its id. Its variables are taken from its text. */
  savePrompt(v: SavedPromptView): Promise<SavedPromptView>;
  /** DeletePrompt deletes a saved prompt. */
  deletePrompt(id: string): Promise<void>;
  /** FillPrompt fills in a saved prompt with values for its variables, by name. Today's date needs no value. */
  fillPrompt(id: string, values: Record<string, string>): Promise<string>;
  /** PromptsFile returns the text of a file with all saved prompts. */
  promptsFile(): Promise<string>;
  /** ImportPrompts adds the prompts in the text of a file: the program's own format, or an export of Open WebUI. */
  importPrompts(text: string): Promise<PromptsImported>;
}

/** Projects manages projects: folders of sessions with instructions, defaults, pinned facts and files. */
export interface ProjectsService {
  /** Panel returns all projects. */
  panel(): Promise<ProjectsPanel>;
  /** Project returns one project. */
  project(id: string): Promise<ProjectView>;
  /** Create turns the folder with this name into a project; the folder need not exist. */
  create(name: string): Promise<ProjectView>;
  /** Save replaces all settings of a project. A new name renames its folder. */
  save(v: ProjectView): Promise<ProjectView>;
  /** Files returns a page of a project's files of one kind (document or watched), by path. */
  files(id: string, kind: string, offset: number, limit: number): Promise<ProjectFilesPage>;
  /**
   * AddDocument receives a piece of a document; after the last one the document is read and stored, replacing one with
   * the same name.
   */
  addDocument(id: string, part: AttachPart): Promise<AttachResult>;
  /** CancelDocument discards the received part of a document. */
  cancelDocument(upload: string): Promise<void>;
  /** RemoveDocuments removes documents from a project, by name: all of them or none. */
  removeDocuments(id: string, names: string[]): Promise<void>;
  /** Watch sets the watched folder of a project and scans it; an empty folder ends watching. */
  watch(id: string, dir: string): Promise<ProjectView>;
  /** Rescan scans the watched folder now. */
  rescan(id: string): Promise<ProjectScanView>;
  /** StartSession creates an empty session in a folder, with the defaults of its project if it has one. */
  startSession(folder: string): Promise<SessionRow>;
  /**
   * SetScope sets the scope of a session's memory: lineage, session, project or all; empty: determined by its project,
   * otherwise the configuration.
   */
  setScope(sessionID: string, scope: string): Promise<void>;
}

/**
 * Embedders shows which embedder indexes the history and switches to another one. It sends history only after the user
 * has switched.
 */
export interface EmbeddersService {
  /**
   * Embedders lists the embedders that can be used now. Servers on this machine are asked for the names of their
   * models; no text is sent.
   */
  embedders(): Promise<EmbeddersView>;
  /**
   * Estimate measures an embedder with sample texts and estimates the cost and time for all history. The history
   * itself is not sent.
   */
  estimate(id: string): Promise<EmbedderEstimate>;
  /**
   * Use configures an embedder. All history is then sent to it, redacted, in the background; until all vectors exist,
   * searches use those of the previous embedder.
   */
  use(id: string): Promise<EmbeddersView>;
  /** UseBuiltIn switches back to the built-in embedder, which needs no server. */
  useBuiltIn(): Promise<EmbeddersView>;
  /** DismissOffer records that the user has responded to the offer, so that it is not shown again. */
  dismissOffer(): Promise<void>;
}

/**
 * Servers manages the MCP servers: their configuration, their state, and their prompts and resources. Every change,
 * including questions of servers, is published as chat.ChangeServers.
 */
export interface ServersService {
  /** Servers returns the page about servers. */
  servers(): Promise<ServersPanel>;
  /** AddServer configures a server; a name that is taken is rejected. */
  addServer(v: ServerSettings): Promise<ServersPanel>;
  /** UpdateServer changes the server with this name, and may rename it. */
  updateServer(name: string, v: ServerSettings): Promise<ServersPanel>;
  /** RemoveServer stops a server and removes it from the configuration, with its secrets. */
  removeServer(name: string): Promise<ServersPanel>;
  /** EnableServer switches a server on or off. */
  enableServer(name: string, on: boolean): Promise<ServersPanel>;
  /**
   * Restart restarts a server at once, and returns when it is ready or has failed. The outcome of its running calls is
   * then unknown.
   */
  restart(name: string): Promise<ServersPanel>;
  /** Logs returns the last lines of a server's log. */
  logs(name: string): Promise<ServerLog>;
  /** Import reads a pasted configuration of another program. Nothing is added before ApplyImport. */
  import(text: string): Promise<ServerImport>;
  /** ImportFile reads a configuration, or a bundle (.mcpb), from a file that the user chose or dropped. */
  importFile(path: string): Promise<ServerImport>;
  /** ApplyImport adds the named servers of an import, all or none. */
  applyImport(choice: ServerImportChoice): Promise<ServersPanel>;
  /**
   * SetSecret stores a secret mentioned in a server's settings; an empty value removes it. It takes effect when the
   * server is started.
   */
  setSecret(server: string, name: string, value: string): Promise<ServersPanel>;
  /** SignIn opens a server's sign-in page and waits until the user is done. */
  signIn(name: string): Promise<ServersPanel>;
  /** SignOut removes the stored tokens of a server. */
  signOut(name: string): Promise<ServersPanel>;
  /** Prompts lists the prompts that servers offer. It starts enabled servers. */
  prompts(): Promise<ServerPrompts>;
  /** GetPrompt returns a prompt with its arguments filled in. */
  getPrompt(server: string, name: string, args: ServerValue[]): Promise<PromptText>;
  /** Resources lists the resources that servers offer. It starts enabled servers. */
  resources(): Promise<ServerResources>;
  /** ReadResource returns the current content of a resource. */
  readResource(server: string, uri: string): Promise<ResourceText>;
  /** Elicitations returns the open questions of servers. */
  elicitations(): Promise<Elicitations>;
  /** AnswerElicitation answers a question. An incomplete answer is rejected, and the question stays open. */
  answerElicitation(a: ElicitationAnswer): Promise<Elicitations>;
}

/** Programs lists the other programs that use this memory, and sets what they may see. */
export interface ProgramsService {
  /** Panel returns the page about other programs. */
  panel(): Promise<ProgramsPanel>;
  /** Allow sets what a program may see, and whether it may write notes. */
  allow(c: ProgramChoice): Promise<ProgramsPanel>;
  /**
   * Forget removes a program from the list, with its token; its notes and the record of its accesses are kept. If it
   * connects again, it is listed as a new one.
   */
  forget(name: string): Promise<ProgramsPanel>;
  /**
   * MakeToken creates a token for HTTP, replacing the program's previous one. It is shown only once, because only its
   * hash is kept.
   */
  makeToken(name: string): Promise<ProgramToken>;
  /** RevokeToken ends a program's access over HTTP. */
  revokeToken(name: string): Promise<ProgramsPanel>;
  /** SetHTTP turns the HTTP server on or off. */
  setHTTP(on: boolean): Promise<ProgramsPanel>;
  /**
   * Accesses returns a page of the access record, newest first; an empty name means all programs. before is Next of
   * the previous page, 0 for the first.
   */
  accesses(client: string, before: number): Promise<ProgramAccessPage>;
  /** ClearAccesses empties the access record. */
  clearAccesses(): Promise<void>;
}

/** Sync keeps the sessions of several computers together, through a vault. */
export interface SyncService {
  /** View returns what is known, without asking the vault. */
  view(): Promise<SyncView>;
  /**
   * Find reports whether there is a vault in a place; otherwise Connect creates one.
   *
   * Errors: CodeNotFound (no such folder, or parts of a vault without its vault.json), CodeUnavailable, CodeAuth,
   * CodeInvalid.
   */
  find(place: SyncPlace): Promise<boolean>;
  /** Cancel ends a running Find, Connect or Remove. */
  cancel(): Promise<void>;
  /** NewCode makes a recovery code, which Connect makes valid if it creates a vault, and Remove. */
  newCode(): Promise<string>;
  /**
   * Connect chooses the vault in a place, or creates it there with a passphrase and the code of NewCode, and exchanges
   * in the background. secret is the vault's passphrase or recovery code.
   *
   * Errors: those of Find, CodeInvalid (no passphrase, no code), CodeSealed (it is neither of them), CodeCorrupt,
   * CodeNewer.
   */
  connect(place: SyncPlace, secret: string): Promise<boolean>;
  /**
   * Remove excludes another computer, by its log, from what is written to the vault from now on: that has a new key,
   * the passphrase and the code of NewCode. secret is the passphrase or recovery code until now; anyway: what cannot
   * be read of what the computer had sent counts no more.
   *
   * Errors: those of Find, CodeInvalid (no passphrase, no code), CodeSealed (it is neither of them), CodeConflict
   * (another computer did the same), CodeCorrupt (something cannot be read).
   */
  remove(log: string, secret: string, passphrase: string, anyway: boolean): Promise<void>;
  /** Now exchanges in the background. */
  now(): Promise<void>;
  /** Check reads back everything in the vault. It changes nothing. */
  check(): Promise<TaskView>;
  /** Disconnect forgets the vault. It stays as it is, and so does everything here. */
  disconnect(): Promise<void>;
}

/** The services that the program binds. A failed call rejects with a BackendError: what happened, and what to do. */
export interface Services {
  readonly transfer: TransferService;
  readonly storage: StorageService;
  readonly sealing: SealingService;
  readonly settings: SettingsService;
  readonly sessions: SessionsService;
  readonly chat: ChatService;
  readonly inspect: InspectService;
  readonly memory: MemoryService;
  readonly branches: BranchesService;
  readonly search: SearchService;
  readonly work: WorkService;
  readonly tools: ToolsService;
  readonly library: LibraryService;
  readonly projects: ProjectsService;
  readonly embedders: EmbeddersService;
  readonly servers: ServersService;
  readonly programs: ProgramsService;
  readonly sync: SyncService;
}

export const serviceNames: readonly (keyof Services)[] = [
  'transfer',
  'storage',
  'sealing',
  'settings',
  'sessions',
  'chat',
  'inspect',
  'memory',
  'branches',
  'search',
  'work',
  'tools',
  'library',
  'projects',
  'embedders',
  'servers',
  'programs',
  'sync',
];

/** BackupKind says why a copy of the data was made. */
export type BackupKind =
  | 'by_hand'
  | 'daily'
  /** before a schema migration */
  | 'migration'
  /** of the data that a restore replaced */
  | 'before_restore';

/** BlockKind is the kind of a block. */
export type BlockKind =
  | 'text'
  | 'reasoning'
  | 'refusal'
  | 'tool_use'
  | 'tool_result'
  | 'image'
  | 'document'
  | 'memory'
  /** BlockInstructions are instructions that came with an imported conversation, which are not used. */
  | 'instructions'
  | 'unknown';

/** ChangeKind is the kind of a change. The list is closed. */
export type ChangeKind =
  /** the list */
  | 'sessions'
  /** title, branches, active branch */
  | 'session'
  /** created or changed */
  | 'turn'
  /** ID is the branch */
  | 'head'
  | 'jobs'
  /** ID is the branch */
  | 'pins'
  /** ID is the branch */
  | 'draft'
  /** messages that wait to be sent; ID is the branch */
  | 'queue'
  | 'settings'
  | 'recovery'
  /** vectors are being made again; ID is "done/total" */
  | 'reindex'
  /** a task */
  | 'task'
  /** the offered tools, or decisions about them */
  | 'tools'
  /** a tool call; ID is the call's, Session its session */
  | 'call'
  /** the state of an MCP server; ID is its name */
  | 'servers'
  /** other programs that use this memory */
  | 'programs'
  /** projects and their files */
  | 'projects'
  /** assistants and saved prompts */
  | 'library'
  /** an exchange with other devices began, progressed or ended */
  | 'vault';

/** IndexStatus is the index state of a committed turn (SPEC 8). */
export type ChatIndexStatus =
  /** not yet */
  | ''
  /** chunks and units are stored */
  | 'ok'
  /** keeps failing; retried by hand */
  | 'degraded'
  /** nothing to index (recall's own quotations) */
  | 'skipped';

/** ChunkType is the kind of a chunk's content (SRD 5.8). */
export type ChunkType =
  | 'code'
  | 'explanation'
  | 'decision'
  | 'user_context'
  | 'tool_result'
  | 'other';

/** ClientScope says which sessions another program may see through this program's MCP server. */
export type ClientScope =
  /** ClientAsked is for a program that connected and awaits the user's decision: it has no access. */
  | 'asked'
  /** ClientNone is for a program that the user refused. */
  | 'none'
  /** ClientAll is all unarchived sessions. */
  | 'all'
  /** ClientChosen is the sessions and folders chosen by the user. */
  | 'chosen';

/** Code classifies an error for programs: it is stable, part of the command line's JSON and of the window's contract. */
export type Code =
  /** the request itself is wrong */
  | 'invalid'
  /** no such record */
  | 'not_found'
  /** lost a compare-and-swap, or the record's phase does not allow it */
  | 'conflict'
  /** a turn is already running on this branch */
  | 'busy'
  /** an incomplete turn blocks its branch until the user decides */
  | 'incomplete'
  /** the context cannot be reduced to its budget */
  | 'over_budget'
  /** no key, or the provider refused it */
  | 'auth'
  /** 429 */
  | 'rate_limited'
  /** the provider returned an error */
  | 'provider'
  /** connection refused, 5xx, dropped */
  | 'unavailable'
  /** no data for too long */
  | 'timeout'
  /** stopped by the user */
  | 'cancelled'
  /** the provider rejected the request for its size */
  | 'too_large'
  /** an answer over stream.max_answer_bytes or _tokens; the partial answer is kept */
  | 'too_long'
  /** a tool call arrived while tools are disabled */
  | 'tool_call'
  /** another process is the writer */
  | 'locked'
  /** the data was written by a newer program */
  | 'newer_version'
  /** it is encrypted, and its passphrase is missing or wrong */
  | 'sealed'
  /** a record does not match its hash or is unreadable */
  | 'corrupt'
  /** the disk is full */
  | 'no_space'
  /** the configuration has an error */
  | 'config'
  /** a bug in this program */
  | 'internal';

/** Format is the file format. */
export type ExportingFormat =
  | 'bundle'
  | 'md'
  | 'json'
  | 'html';

/** Scope is how much is exported. */
export type ExportingScope =
  | 'turn'
  | 'branch'
  /** its active branch, or all branches with AllBranches */
  | 'session'
  /** every session in a file of its own, in a zip */
  | 'all';

/** Kind is the kind of a file. */
export type FiletypeKind =
  | 'transcript'
  | 'bundle'
  | 'backup'
  | 'document'
  | 'image'
  | 'folder'
  | 'unknown';

/** HoldCause says why the messages of a queue are not sent automatically. It is a closed list. */
export type HoldCause =
  /** the next one is sent when the running answer is complete */
  | ''
  /** the program was restarted after they were queued, or the message that could not be sent is no longer the first */
  | 'idle'
  /** the answer before them was stopped */
  | 'stop'
  /** the answer before them is not complete */
  | 'answer'
  /** the next one could not be sent */
  | 'error';

/** KnownKind is the kind of something remembered. */
export type KnownKind =
  /** KnownPin is a pinned fact: it is in every request of its session. */
  | 'pin'
  /** KnownSuggestion is a standing instruction of a message that is neither pinned nor dismissed. */
  | 'suggestion'
  /** KnownInstructions are a session's own instructions. */
  | 'instructions'
  /** KnownSummary is the summary that represents a session's unsent turns in requests. */
  | 'summary';

/** State is the state of a server. */
export type McpclientState =
  /** switched off */
  | 'off'
  /** not started yet */
  | 'idle'
  /** or connecting */
  | 'starting'
  | 'ready'
  /** the user must sign in */
  | 'sign_in'
  /** it failed, and is restarted automatically */
  | 'waiting'
  /** it failed, and is not restarted */
  | 'failed';

/** ExposureKind is what an imported server would get of the person's, or take over. */
export type McpsetupExposureKind =
  /** ExposesVariable: it receives a variable of this program's environment. */
  | 'variable'
  /** ExposesKey: it receives a variable that holds a key or a password. */
  | 'key'
  /** ChangesProgram: it sets a variable that decides which program or library is run. */
  | 'program';

/** NamespaceState is the use of a namespace of vectors. */
export type NamespaceState =
  /** being filled, while another one serves */
  | 'building'
  /** used by searches; at most one */
  | 'serving'
  /** its vectors are being deleted */
  | 'retired';

/** Outcome is how an answer ended. It is empty while the turn runs. */
export type Outcome =
  | ''
  /** the provider completed it */
  | 'completed'
  /** final, but cut by the provider (output limit, filter) */
  | 'truncated'
  /** final: the provider declined */
  | 'refused'
  /** final: stopped by the user */
  | 'stopped'
  /** final: an incomplete answer the user kept */
  | 'kept'
  /** final: ends in tool calls that were shown, not run */
  | 'paused'
  /** Responding, but the stream has ended; the user decides */
  | 'incomplete'
  /** phase Failed */
  | 'failed'
  /** phase Failed, by the user's Discard */
  | 'discarded';

/** Phase is the progress of a turn (SRD 5.6, 6.1). */
export type Phase =
  | 'Accepted'
  | 'ContextPrepared'
  | 'Responding'
  | 'ResponseFinalized'
  | 'StateCommitted'
  | 'Indexed'
  | 'Done'
  | 'Failed';

/** QuickKeyPhase is the state of the quick ask keys. */
export type QuickKeyPhase =
  | 'off'
  /** waiting for the desktop; it may be asking the user */
  | 'asking'
  | 'bound'
  | 'failed';

/** RecoveryKind is what was done about a finding. */
export type RecoveryKind =
  /** a complete answer, now final */
  | 'completed'
  /** a partial answer, for the user to decide */
  | 'incomplete'
  /** nothing had arrived */
  | 'failed'
  /** accepted, never sent */
  | 'unsent'
  /** pending turns committed */
  | 'committed'
  /** jobs that were missing or abandoned */
  | 'requeued'
  /** a job that failed */
  | 'dead'
  /** tool calls with an unknown outcome; they are not run again */
  | 'tools'
  /** tool calls that had not started */
  | 'tools_asked'
  /** a torn or unreadable end of a journal */
  | 'discarded_lines'
  /** journals of final turns deleted */
  | 'pruned'
  /** unused documents deleted */
  | 'swept'
  /** a damaged snapshot of a ledger */
  | 'snapshot_ignored'
  /** the daily backup could not be made */
  | 'daily'
  /** an unreadable record, which is left alone */
  | 'unreadable';

/** Resolution is what the user does about a call with an unknown outcome. */
export type Resolution =
  /** enter the result that the user determined */
  | 'enter'
  /** run it again */
  | 'rerun'
  /** tell the model that the outcome is unknown */
  | 'tell';

/** SessionStatus is the mark of a session in the list. */
export type SessionStatus =
  | 'streaming'
  /** a tool call waits for a decision */
  | 'waiting'
  | 'incomplete'
  | 'unsent'
  | 'failed'
  | 'pending'
  | '';

/** StateOrigin is how a state summary was made. */
export type StateOrigin =
  | 'root'
  | 'librarian'
  | 'fallback'
  | 'pins';

/** StepStatus is a step's outcome (SRD 5.7); StepRunning while it streams. */
export type StepStatus =
  | 'running'
  | 'completed'
  | 'incomplete'
  | 'paused'
  | 'failed'
  | 'cancelled';

/** Kind is the kind of a task. */
export type TasksKind =
  | 'import'
  | 'export'
  | 'backup'
  | 'restore'
  | 'move'
  /** or unseal */
  | 'seal'
  | 'verify'
  /** CheckVault reads back what is in the vault. */
  | 'check_vault';

/** State is the state of a task. */
export type TasksState =
  /** or waiting */
  | 'running'
  | 'done'
  | 'failed'
  | 'cancelled'
  /** the program ended while the task was running */
  | 'interrupted';

/** ToolCallState is the state of a call in the tool journal (SPEC 10). */
export type ToolCallState =
  /** waiting for a decision */
  | 'proposed'
  /** may run, not started yet */
  | 'allowed'
  /** running, or was running when the program ended */
  | 'started'
  /** started, with an unknown outcome: the user decides */
  | 'unknown'
  /** has a result, even if it was denied */
  | 'done';

/** ToolDecision is the decision about a call, and how long it applies. */
export type ToolDecision =
  | ''
  /** run it this time */
  | 'once'
  /** run it, and the same tool in this session without asking */
  | 'session'
  /** run it, and the same tool anywhere without asking */
  | 'always'
  /** do not run it this time */
  | 'deny'
  /** do not run it, and do not offer the tool any more */
  | 'never'
  /** it cannot run, or its turn ended before it could */
  | 'not_run';

/** TurnState is the state shown in the rail and the footer of a turn. */
export type TurnState =
  | 'accepted'
  | 'preparing'
  | 'responding'
  /** for a decision about a tool */
  | 'waiting'
  | 'incomplete'
  | 'failed'
  | 'unsent'
  /** the answer is complete and becomes final automatically once it can be saved */
  | 'unsaved'
  | 'pending'
  | 'committed'
  | 'head'
  | 'degraded'
  /** of a temporary chat: final, but not stored */
  | 'not kept';

/** UpdateVerdict is the result of comparing this program with the newest release. */
export type UpdateVerdict =
  /** not checked yet */
  | ''
  /** there is a newer release */
  | 'newer'
  /** there is none */
  | 'current'
  /** this copy does not know its version */
  | 'unknown';

/** WindowRequestKind is the kind of a request to the page. */
export type WindowRequestKind =
  | 'new_chat'
  | 'open_session'
  | 'files'
  /** whether to close the window although answers are arriving */
  | 'close';

/**
 * Where lists and times are: the fields that are one ("[]", "Shape[]" if its items hold some too; "time") or a shape
 * that holds any. Go sends null for a list without items, which the page reads as an empty one, and a time as text,
 * which it reads as milliseconds (wails.ts).
 */
export const lists: Record<string, Record<string, string>> = {
  ActivityPanel: { earlier: 'RecoveryReport[]', jobs: '[]', recovery: 'RecoveryReport', turns: '[]' },
  AddedModel: { models: 'ModelView[]' },
  AnswerColumn: { turn: 'TurnView' },
  AnswerSet: { columns: 'AnswerColumn[]', user: '[]' },
  BranchComparison: { left: 'BranchSide', right: 'BranchSide' },
  BranchSide: { pins: '[]', turns: 'TurnView[]' },
  BranchTree: { branches: '[]', runs: '[]' },
  CheckReport: { findings: '[]' },
  ChunkDetail: { embedders: '[]', uses: '[]' },
  ChunkPage: { chunks: '[]' },
  ContextDiff: { added: 'ContextItem[]', from: 'ContextView', removed: 'ContextItem[]', to: 'ContextView' },
  ContextItem: { memory: 'RecalledView' },
  ContextSection: { items: 'ContextItem[]' },
  ContextView: { dropped: '[]', lookedUp: '[]', redacted: '[]', sections: 'ContextSection[]', shrink: '[]', status: 'UsageStatus' },
  CountedNote: { files: '[]' },
  DeletionPreview: { backups: '[]', copies: '[]', included: '[]', parts: '[]', sessions: '[]' },
  Draft: { edit: 'DraftEdit', files: '[]', images: '[]', memories: '[]' },
  DraftEdit: { files: '[]', images: '[]', memories: '[]' },
  ElicitationField: { choices: '[]', default: '[]' },
  ElicitationView: { fields: 'ElicitationField[]' },
  Elicitations: { pending: 'ElicitationView[]' },
  EmbeddersView: { options: '[]' },
  FindHit: { marks: '[]' },
  FindResult: { hits: 'FindHit[]' },
  ImportReport: { instructions: '[]', notices: 'CountedNote[]', skipped: '[]', tornFiles: '[]' },
  ImportedServer: { exposures: '[]', notes: '[]', questions: 'ServerQuestion[]', settings: 'ServerSettings' },
  IndexStatus: { degraded: '[]', spaces: '[]' },
  KeyTest: { models: '[]' },
  KeyView: { models: '[]' },
  KnownPage: { items: '[]' },
  LibraryPanel: { assistants: '[]', prompts: 'SavedPromptView[]' },
  LocalServer: { models: '[]' },
  MatchView: { words: '[]' },
  MemoryHit: { match: 'MatchView' },
  MemorySearch: { hits: 'MemoryHit[]' },
  MetricsSeries: { points: '[]' },
  ModelView: { headers: '[]' },
  ProgramAccessPage: { accesses: 'ProgramAccessView[]' },
  ProgramAccessView: { shown: '[]' },
  ProgramClientView: { folders: '[]', sessions: '[]' },
  ProgramsPanel: { clients: 'ProgramClientView[]', folders: '[]', snippets: '[]' },
  ProjectFilesPage: { files: '[]' },
  ProjectScanView: { changed: '[]', new: '[]', removed: '[]', skipped: '[]', skippedFiles: '[]' },
  ProjectView: { facts: '[]', scan: 'ProjectScanView', tools: '[]' },
  ProjectsPanel: { projects: '[]' },
  PromptMessageView: { blocks: '[]' },
  PromptText: { messages: 'PromptMessageView[]' },
  QueueView: { messages: 'QueuedMessage[]' },
  QueuedMessage: { files: '[]' },
  RawStep: { events: '[]' },
  RecalledView: { match: 'MatchView' },
  ReceiptView: { backups: '[]', copies: '[]', included: '[]', parts: '[]' },
  RecoveryReport: { items: '[]' },
  ResourceText: { blocks: '[]' },
  RestorePreview: { findings: '[]', undone: 'ReceiptView[]' },
  SavedPromptView: { variables: '[]' },
  SealingView: { left: '[]', outside: '[]' },
  SearchGroup: { hits: 'SearchHit[]', marks: '[]' },
  SearchHit: { marks: '[]' },
  SearchResult: { groups: 'SearchGroup[]' },
  SentToSeveral: { problems: '[]' },
  ServerImport: { problems: '[]', servers: 'ImportedServer[]' },
  ServerLog: { lines: 'ServerLogLine[]' },
  ServerLogLine: { at: 'time' },
  ServerPromptView: { arguments: '[]' },
  ServerPrompts: { prompts: 'ServerPromptView[]' },
  ServerQuestion: { choices: '[]' },
  ServerResources: { resources: '[]' },
  ServerSettings: { args: '[]', env: '[]', headers: '[]' },
  ServerView: { problems: '[]', secrets: '[]', settings: 'ServerSettings' },
  ServersPanel: { servers: 'ServerView[]' },
  SessionSnapshot: { branches: '[]', draft: 'Draft', queue: 'QueueView', turns: 'TurnView[]' },
  Setting: { choices: '[]' },
  SettingsView: { settings: 'Setting[]' },
  Startup: { shortcuts: '[]' },
  StatePanel: { history: '[]', pins: '[]', ranges: '[]' },
  StorageView: { parts: '[]' },
  StreamState: { blocks: '[]' },
  SyncView: { devices: '[]', problems: '[]' },
  TaskView: { check: 'CheckReport', import: 'ImportReport' },
  ToolResultView: { blocks: '[]' },
  ToolsPanel: { definitions: '[]', permissions: '[]', problems: '[]' },
  TurnPage: { turns: 'TurnView[]' },
  TurnView: { assistant: '[]', calls: '[]', user: '[]' },
  UsageStatus: { turns: '[]' },
  WaitingCalls: { calls: '[]' },
  WindowRequest: { files: '[]' },
  results: {
    'Branches.Answers': 'AnswerSet',
    'Branches.Compare': 'BranchComparison',
    'Branches.ContextAt': 'ContextView',
    'Branches.Landmarks': '[]',
    'Branches.Tree': 'BranchTree',
    'Chat.EditQueued': 'Draft',
    'Chat.Queue': 'QueueView',
    'Chat.RemoveQueued': 'Draft',
    'Chat.SendToSeveral': 'SentToSeveral',
    'Chat.Stream': 'StreamState',
    'Chat.TemporaryTurns': 'TurnView[]',
    'Embedders.Embedders': 'EmbeddersView',
    'Embedders.Use': 'EmbeddersView',
    'Embedders.UseBuiltIn': 'EmbeddersView',
    'Inspect.Activity': 'ActivityPanel',
    'Inspect.Context': 'ContextView',
    'Inspect.DiffContext': 'ContextDiff',
    'Inspect.NextContext': 'ContextView',
    'Inspect.Pending': '[]',
    'Inspect.RawStep': 'RawStep',
    'Inspect.Reconcile': 'RecoveryReport',
    'Inspect.State': 'StatePanel',
    'Inspect.Steps': '[]',
    'Inspect.SuggestedPins': '[]',
    'Library.Panel': 'LibraryPanel',
    'Library.SavePrompt': 'SavedPromptView',
    'Memory.Chunk': 'ChunkDetail',
    'Memory.Chunks': 'ChunkPage',
    'Memory.Known': 'KnownPage',
    'Memory.Search': 'MemorySearch',
    'Memory.Status': 'IndexStatus',
    'Programs.Accesses': 'ProgramAccessPage',
    'Programs.Allow': 'ProgramsPanel',
    'Programs.Forget': 'ProgramsPanel',
    'Programs.Panel': 'ProgramsPanel',
    'Programs.RevokeToken': 'ProgramsPanel',
    'Programs.SetHTTP': 'ProgramsPanel',
    'Projects.Create': 'ProjectView',
    'Projects.Files': 'ProjectFilesPage',
    'Projects.Panel': 'ProjectsPanel',
    'Projects.Project': 'ProjectView',
    'Projects.Rescan': 'ProjectScanView',
    'Projects.Save': 'ProjectView',
    'Projects.Watch': 'ProjectView',
    'Sealing.SealLeft': 'TaskView',
    'Sealing.View': 'SealingView',
    'Search.Everything': 'SearchResult',
    'Search.Find': 'FindResult',
    'Search.Metrics': 'MetricsSeries',
    'Servers.AddServer': 'ServersPanel',
    'Servers.AnswerElicitation': 'Elicitations',
    'Servers.ApplyImport': 'ServersPanel',
    'Servers.Elicitations': 'Elicitations',
    'Servers.EnableServer': 'ServersPanel',
    'Servers.GetPrompt': 'PromptText',
    'Servers.Import': 'ServerImport',
    'Servers.ImportFile': 'ServerImport',
    'Servers.Logs': 'ServerLog',
    'Servers.Prompts': 'ServerPrompts',
    'Servers.ReadResource': 'ResourceText',
    'Servers.RemoveServer': 'ServersPanel',
    'Servers.Resources': 'ServerResources',
    'Servers.Restart': 'ServersPanel',
    'Servers.Servers': 'ServersPanel',
    'Servers.SetSecret': 'ServersPanel',
    'Servers.SignIn': 'ServersPanel',
    'Servers.SignOut': 'ServersPanel',
    'Servers.UpdateServer': 'ServersPanel',
    'Sessions.Draft': 'Draft',
    'Sessions.Folders': '[]',
    'Sessions.List': '[]',
    'Sessions.Open': 'SessionSnapshot',
    'Sessions.Turn': 'TurnView',
    'Sessions.Turns': 'TurnPage',
    'Settings.AddOffered': 'AddedModel',
    'Settings.Keys': 'KeyView[]',
    'Settings.LocalServers': 'LocalServer[]',
    'Settings.ModelPlaces': '[]',
    'Settings.Models': 'ModelView[]',
    'Settings.OfferedModels': '[]',
    'Settings.Presets': '[]',
    'Settings.RemoveKey': 'KeyView[]',
    'Settings.RemoveModel': 'ModelView[]',
    'Settings.Reset': 'SettingsView',
    'Settings.SaveModel': 'ModelView[]',
    'Settings.Set': 'SettingsView',
    'Settings.SetDefaultModel': 'ModelView[]',
    'Settings.SetFavourite': 'ModelView[]',
    'Settings.SetKey': 'KeyView[]',
    'Settings.SetWindow': 'ModelView[]',
    'Settings.Settings': 'SettingsView',
    'Settings.Startup': 'Startup',
    'Settings.TestKey': 'KeyTest',
    'Storage.BackUp': 'TaskView',
    'Storage.Backups': '[]',
    'Storage.Check': 'TaskView',
    'Storage.Delete': 'ReceiptView',
    'Storage.Move': 'TaskView',
    'Storage.PreviewDeletion': 'DeletionPreview',
    'Storage.Receipts': 'ReceiptView[]',
    'Storage.RestorePreview': 'RestorePreview',
    'Storage.Storage': 'StorageView',
    'Sync.Check': 'TaskView',
    'Sync.View': 'SyncView',
    'Tools.Calls': '[]',
    'Tools.Panel': 'ToolsPanel',
    'Tools.Result': 'ToolResultView',
    'Tools.WaitingCalls': 'WaitingCalls',
    'Transfer.Export': 'TaskView',
    'Transfer.ImportFiles': 'TaskView[]',
    'Transfer.Inspect': '[]',
    'Transfer.PastedFiles': '[]',
    'Transfer.PickFiles': '[]',
    'Work.Resume': 'TaskView',
    'Work.Tasks': 'TaskView[]',
    'Work.WindowRequests': 'WindowRequest[]',
    'ci:window-request': 'WindowRequest',
  },
};
