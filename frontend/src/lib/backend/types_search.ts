/** The shapes of backend/api/dto_search.go, field by field. */
import type { TurnMetrics } from './types';

/** SearchQuery asks all sessions for what was said. Zero fields do not filter. */
export interface SearchQuery {
  text: string;
  sessionId: string;
  /** user or assistant */
  role: string;
  /** Unix ms of the turn, inclusive */
  since: number;
  /** exclusive */
  until: number;
  /** archived sessions too */
  archived: boolean;
  /** by vectors as well as by words */
  meaning: boolean;
  /** groups; 0: 30 */
  limit: number;
}

/** SearchResult is what a search of all sessions found, the best session first. */
export interface SearchResult {
  groups: SearchGroup[];
  /** in the groups and beyond them */
  hits: number;
  truncated: boolean;
  warning: string;
  totalMs: number;
}

/** SearchGroup is the finds of one session. */
export interface SearchGroup {
  sessionId: string;
  title: string;
  folder: string;
  archived: boolean;
  updatedAt: number;
  /** where the title matches */
  marks: Span[];
  /** at most five, in a search of one session 200; none: the title matches alone */
  hits: SearchHit[];
  /** finds of this session that are not in Hits */
  more: number;
}

/** SearchHit is a find in one message of one turn. */
export interface SearchHit {
  turnId: string;
  /** one to open it in: the active branch if that holds it */
  branchId: string;
  branchLabel: string;
  seq: number;
  role: string;
  at: number;
  snippet: string;
  /** in the snippet */
  marks: Span[];
  /** words, meaning or both */
  by: string;
  score: number;
}

/** Span is a piece of a text, in UTF-16 units as the page counts, end exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** FindResult is where a text stands in a branch's lineage, oldest first. */
export interface FindResult {
  hits: FindHit[];
  /** occurrences, in all turns */
  total: number;
  truncated: boolean;
}

/** FindHit is a turn that holds the text. */
export interface FindHit {
  turnId: string;
  seq: number;
  count: number;
  /** the words around the first occurrence */
  first: string;
  marks: Span[];
}

/** Folder is a name that sessions are kept under. */
export interface Folder {
  name: string;
  sessions: number;
}

/** MetricsQuery asks for the figures of the newest turns (SRD 15.1). */
export interface MetricsQuery {
  /** branch, session or all */
  scope: string;
  sessionId: string;
  branchId: string;
  /** 0: 200; at most 1000 */
  limit: number;
}

/** MetricsSeries are figures of turns, oldest first, and what they add up to. */
export interface MetricsSeries {
  points: MetricPoint[];
  /** Sums over the points. Cost is "" where no price is configured. */
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  cost: string;
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
  /** -1: no price */
  cost: number;
  turn: TurnMetrics;
}
