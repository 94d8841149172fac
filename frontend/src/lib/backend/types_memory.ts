/** The shapes of backend/api/dto_memory.go, field by field. */

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

/** ChunkUseView is a context that a chunk was put into, or a turn whose model looked it up. */
export interface ChunkUseView {
  turnId: string;
  turnSeq: number;
  sessionId: string;
  rank: number;
  score: number;
  /** full, slice or summary */
  form: string;
  at: number;
  /** with which the model looked it up; empty: it was put into the context */
  tool: string;
}

/** MatchWhy says why a search found a chunk, or why a prompt holds it. */
export interface MatchWhy {
  /** of the question, as the chunk writes them */
  words: string[];
  /** 0 to 1: the share of unrelated texts that are less similar; null: not found by vectors */
  similarity: number | null;
  /** who said it: user or assistant */
  role: string;
  /** a sentence */
  reason: string;
}

/** MemoryHit is a chunk that a search found. */
export interface MemoryHit {
  chunk: ChunkRow;
  rank: number;
  /** 0 to 1; results are in its order */
  score: number;
  why: MatchWhy;
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

/** KnownPage is a page of what is remembered, of the sessions used last first. */
export interface KnownPage {
  total: number;
  items: KnownItem[];
}

/** KnownItem is something that is remembered of a session's active branch. */
export interface KnownItem {
  /** pin, suggestion, instructions, summary */
  kind: string;
  /** of the pin, of the suggestion with its branch, of the state, or the session's */
  id: string;
  sessionId: string;
  sessionTitle: string;
  archived: boolean;
  branchId: string;
  /** it was made after or in; empty: before any */
  turnId: string;
  turnSeq: number;
  /** 0 where nobody knows */
  at: number;
  text: string;
}
