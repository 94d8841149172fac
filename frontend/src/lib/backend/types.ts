/**
 * What crosses between the window and the program: the shapes of backend/api/dto.go, field by field
 * (types.test.ts compares the two). Moments are Unix milliseconds, sizes bytes, lengths tokens.
 */
export type * from './types_branches';
export type * from './types_search';

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
  contextCeiling: number;
  /** the [2S] of the meter */
  summaries: number;
  /** false: plain chat, context.infinity is off */
  infinity: boolean;
  /** "plenty" (under 70 %), "filling" (under 90), "nearly full" */
  contextState: string;
  /** "12.4k / 50k (25%) [2S]" */
  contextFormat: string;
  model: string;
  modelWindow: number;
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
  /** State is the one word the rail and footer draw: "accepted", "preparing", "responding", "incomplete", "failed", "unsent", "pending", "committed", "head", "degraded". */
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
  /** Memories is how many pieces of memory the model saw with it. */
  memories: number;
  /** MemoryError says why the model saw none; empty if nothing failed. */
  memoryError: string;
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

/** AttachResult is what became of a piece. File is there after the last. */
export interface AttachResult {
  upload: string;
  file: FileView | null;
}

/** SendRequest is a message to send. Empty SessionID starts a new session; empty BranchID takes the active one; empty Model the session's. */
export interface SendRequest {
  sessionId: string;
  branchId: string;
  text: string;
  images: ImageUpload[];
  files: FileView[];
  memories: MemoryChip[];
  model: string;
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
  /** in words: why it waits */
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
  /** superseded, kept */
  orphan: boolean;
  /** the next context holds it */
  inUse: boolean;
  createdAt: number;
}

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
  /** RetrievalError says why nothing was retrieved; empty if nothing failed. */
  retrievalError: string;
  /** pending turns left out, by number */
  dropped: number[];
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
  /** Source: config, pin, summary, extract, turn, state, chunk, message, partial. */
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
  /** of a chunk: why it is here */
  why: MemoryWhy | null;
}

/** MemoryWhy says why a chunk stands in a prompt. */
export interface MemoryWhy {
  /** from 1, among what was packed */
  rank: number;
  score: number;
  /** 0 to 1, against the embedder's own noise */
  similarity: number;
  cosine: number;
  /** 0 to 1, of the best match */
  keyword: number;
  /** full, slice or summary */
  form: string;
  /** by hand */
  attached: boolean;
  sessionId: string;
  turnSeq: number;
  /** in words */
  words: string;
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
  /** Cost is what the next input would cost on that model before its answer, "0.0310"; empty without prices. */
  cost: string;
  /** the same in a sentence */
  message: string;
  /** the conversation does not fit that model at all */
  error: ErrorView | null;
}

/** SessionSettings are a session's own choices. */
export interface SessionSettings {
  /** empty: the default instructions */
  systemPrompt: string;
  /** a number from 0 to 2, or empty for the model's default */
  temperature: string;
  /** "", minimal, low, medium, high */
  effort: string;
}

/** RawStep is the exact request and response of a step. */
export interface RawStep {
  request: string;
  /** empty when it was a stream */
  response: string;
  events: RawEvent[];
}

/** RawEvent is one event of a stream, byte for byte. */
export interface RawEvent {
  type: string;
  data: string;
}

/** RecoveryReport says what the reconciler found and did, at the start or later. */
export interface RecoveryReport {
  at: number;
  /** nothing needed doing */
  clean: boolean;
  /** in one line */
  summary: string;
  items: RecoveryItem[];
}

/** RecoveryItem is one finding: "completed", "incomplete", "failed", "unsent", "committed", "requeued", "dead", "tools", "discarded_lines", "pruned", "swept", "snapshot_ignored", "daily", "unreadable". */
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
  /** "configured", "table", "unknown window" */
  limitSource: string;
  /** working set this model gets */
  ceiling: number;
  stream: boolean;
  /** recall, a key is there, or the server needs none */
  usable: boolean;
  /** if not usable: in words */
  why: string;
  default: boolean;
  builtIn: boolean;
  /** provider_options as JSON, "" if none */
  options: string;
}

/** KeyView says where a provider's key is. The key itself never crosses. */
export interface KeyView {
  /** "openai", "anthropic", or the key's name of a compatible server */
  provider: string;
  /** "keyring", "environment", "this run", "" */
  source: string;
  /** the variable it is or would be read from */
  env: string;
  baseUrl: string;
  models: string[];
  /** KeyringOK is false where this system has no keyring: a key then lasts for this run. */
  keyringOk: boolean;
}

/** KeyTest is the result of trying a key or server. */
export interface KeyTest {
  ok: boolean;
  ms: number;
  /** "Works, 3 models" or what happened and what to do */
  message: string;
  /** model ids the server lists, at most 200 */
  models: string[];
  /** Provider is what the key turned out to be, by its form and answer. */
  provider: string;
}

/** LocalServer is a model server that answered on this machine. */
export interface LocalServer {
  /** "Ollama", "LM Studio", "a local server" */
  name: string;
  baseUrl: string;
  models: string[];
}

/** Setting is one configuration key with all the window needs to edit it. */
export interface Setting {
  /** "budget.working_set_tokens" */
  key: string;
  /** "General", "Context budget", ... */
  group: string;
  label: string;
  /** what it does and its effect on the token budget */
  help: string;
  /** "int", "float", "bool", "string", "choice", "list" (its value is a TOML array of texts on one line) */
  type: string;
  /** as TOML would print it, strings unquoted */
  value: string;
  default: string;
  choices: string[];
  min: number;
  max: number;
  /** "tokens", "ms", "bytes", "" */
  unit: string;
  /** "default", "file", "environment" */
  origin: string;
}

/** SettingsView is the settings screen. */
export interface SettingsView {
  /** of config.toml */
  path: string;
  dataDir: string;
  settings: Setting[];
  /** Error is a fault of the file: the previous good configuration (at start: the defaults) is in force. */
  error: string;
}

/** Startup is the first thing the window asks. */
export interface Startup {
  version: string;
  /** no session yet and no choice made */
  firstRun: boolean;
  dataDir: string;
  /** Fatal: the data could not be opened; Message and Hint say what is safe. Nothing was overwritten. */
  fatal: ErrorView | null;
  configError: string;
  lastSession: string;
  /** system, light, dark, contrast */
  theme: string;
  textZoom: number;
  /** of code beside the rest of the text, percent */
  codeSize: number;
  /** narrow, normal, wide, full */
  messageWidth: string;
  /** system, reduced */
  motion: string;
  /** buffered, write_ahead */
  durability: string;
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
  | 'sessions' | 'session' | 'turn' | 'head' | 'jobs' | 'pins' | 'draft' | 'settings' | 'recovery' | 'reindex';

/** MemoryFilter says which chunks of memory are meant. Empty fields do not filter. */
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
  /** of the browser: stands in the chunk's own words */
  text: string;
  offset: number;
  /** 0: 50 */
  limit: number;
}

/** ChunkRow is a chunk of memory in a list. */
export interface ChunkRow {
  id: string;
  turnId: string;
  turnSeq: number;
  sessionId: string;
  sessionTitle: string;
  branchId: string;
  role: string;
  /** of a group chat; else empty */
  speaker: string;
  type: string;
  /** its beginning, or of a hit what matched best */
  excerpt: string;
  summary: string;
  tokens: number;
  /** name of the document it is of; else empty */
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
  /** as it was said */
  text: string;
  start: number;
  end: number;
  /** identities of the vectors there are */
  embedders: string[];
  /** newest first */
  uses: ChunkUseView[];
}

/** ChunkUseView is a context that a chunk was put into. */
export interface ChunkUseView {
  turnId: string;
  turnSeq: number;
  sessionId: string;
  rank: number;
  score: number;
  /** full, slice or summary */
  form: string;
  at: number;
}

/** MemoryHit is a chunk that a search found, with both scores. */
export interface MemoryHit {
  chunk: ChunkRow;
  rank: number;
  /** by which it is ranked */
  score: number;
  /** 0: vectors did not find it */
  cosine: number;
  /** 0 to 1, against the embedder's own noise */
  similarity: number;
  /** 0: no word matched */
  bm25: number;
  /** 0 to 1, of the best match */
  keyword: number;
}

/** MemorySearch is what a search of memory found, best first. */
export interface MemorySearch {
  hits: MemoryHit[];
  candidates: number;
  /** empty: words alone */
  embedder: string;
  warning: string;
  totalMs: number;
  embedMs: number;
  vectorMs: number;
  keywordMs: number;
}

/** IndexSpace is the vectors of one embedder. */
export interface IndexSpace {
  embedder: string;
  /** building or serving */
  state: string;
  done: number;
  total: number;
  /** why it does not get on */
  error: string;
}

/** DegradedTurn is a turn whose indexing was given up. */
export interface DegradedTurn {
  turnId: string;
  turnSeq: number;
  sessionId: string;
  title: string;
  /** to be retried */
  jobId: number;
  error: string;
}

/** IndexStatus is where the index of memory stands. */
export interface IndexStatus {
  /** false: memory is off, or nothing may be retrieved */
  on: boolean;
  /** of what turns retrieve */
  scope: string;
  units: number;
  spaces: IndexSpace[];
  degraded: DegradedTurn[];
}

/** MemoryChip is a chunk attached to a message by hand. */
export interface MemoryChip {
  /** chunk */
  id: string;
  /** when and who, in words: "12 May 2026, you" */
  label: string;
  /** its first words */
  title: string;
}
