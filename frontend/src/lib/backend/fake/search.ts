/** The search of the fake program: the same groups, marks and totals as backend/api returns. */
import type {
  BlockView,
  FindHit,
  FindResult,
  MetricPoint,
  MetricsQuery,
  MetricsSeries,
  SearchGroup,
  SearchHit,
  SearchQuery,
  SearchResult,
  SearchService,
  Span,
  TurnView,
} from '../types';
import { BackendError } from '../errors';
import { turnMetrics } from './inspect';
import { errorView } from './shapes';
import type { FakeSession, FakeStore } from './store';

const defaultGroups = 30;
const groupHits = 5;
const sessionHits = 200;
const defaultPoints = 200;
const maxPoints = 1000;
const maxFindHits = 5000;
const charsBefore = 48;
const snippetLength = 200;
/** Input and output price in dollars per million tokens, of the models that have a price. */
const prices: Record<string, [number, number]> = { sonnet: [3, 15] };

export function searchService(store: FakeStore): SearchService {
  return {
    everything: async (query) => everything(store, query),
    find: async (branchId, text, matchCase) => find(store, branchId, text, matchCase),
    metrics: async (query) => metrics(store, query),
  };
}

function everything(store: FakeStore, query: SearchQuery): SearchResult {
  const started = performance.now();
  if (query.until > 0 && query.until < query.since) throw new BackendError(errorView('The last day is before the first.'));
  const terms = termsOf(query.text);
  const result: SearchResult = { groups: [], hits: 0, truncated: false, warning: '', totalMs: 0 };
  if (terms.length === 0) return result;
  const maxHits = query.sessionId === '' ? groupHits : sessionHits;
  const scored: { group: SearchGroup; score: number }[] = [];
  for (const session of store.sessions.values()) {
    if ((query.sessionId !== '' && session.row.id !== query.sessionId) || (session.row.archived && !query.archived && query.sessionId === '')) continue;
    const hits = hitsOf(store, session, query, terms);
    const { id, title, folder, archived, updatedAt } = session.row;
    const marks = query.role === '' ? marksOf(title, terms) : [];
    result.hits += hits.length;
    if (hits.length === 0 && marks.length === 0) continue;
    scored.push({ group: { sessionId: id, title, folder, archived, updatedAt, marks, hits: hits.slice(0, maxHits), more: Math.max(0, hits.length - maxHits) }, score: (marks.length > 0 ? 3 : 0) + (hits[0]?.score ?? 0) });
  }
  scored.sort((a, b) => b.score - a.score || b.group.hits.length + b.group.more - a.group.hits.length - a.group.more || b.group.updatedAt - a.group.updatedAt);
  const limit = query.limit > 0 ? query.limit : defaultGroups;
  return { ...result, groups: scored.slice(0, limit).map(({ group }) => group), truncated: scored.length > limit, totalMs: Math.round(performance.now() - started) };
}

/** The matches in a session's turns, best first. */
function hitsOf(store: FakeStore, session: FakeSession, query: SearchQuery, terms: readonly Term[]): SearchHit[] {
  const active = new Set(store.lineage(session.row.activeBranch).map((turn) => turn.id));
  const hits: SearchHit[] = [];
  for (const branchId of session.branchIds) {
    for (const turn of store.branch(branchId).turns) {
      if ((query.since > 0 && turn.createdAt < query.since) || (query.until > 0 && turn.createdAt >= query.until)) continue;
      for (const [role, blocks] of [['user', turn.user], ['assistant', turn.assistant]] as const) {
        if (query.role !== '' && query.role !== role) continue;
        const text = wordsOf(blocks);
        const marks = marksOf(text, terms);
        const alike = query.meaning && isAlike(text, terms);
        if (marks.length === 0 && !alike) continue;
        const opens = active.has(turn.id) ? session.row.activeBranch : branchId;
        hits.push({
          turnId: turn.id, branchId: opens, branchLabel: store.branch(opens).view.label, seq: turn.seq, role, at: turn.createdAt, ...snippet(text, marks),
          by: marks.length === 0 ? 'meaning' : alike ? 'both' : 'words', score: Math.min(1, marks.length / (terms.length + 2)) + (alike ? 0.8 : 0),
        });
      }
    }
  }
  return hits.sort((a, b) => b.score - a.score || b.at - a.at);
}

/** A word, or a quoted phrase; the last one may be incomplete. */
type Term = RegExp;

function termsOf(text: string): Term[] {
  const parts = [...text.matchAll(/"([^"]+)"?|(\S+)/g)].map((found) => ({ words: (found[1] ?? found[2]!).trim(), phrase: found[0].length > 1 && found[0].startsWith('"') && found[0].endsWith('"') })).filter((part) => /[\p{L}\p{N}]/u.test(part.words));
  return parts.map(({ words, phrase }, i) => new RegExp(`(?<![\\p{L}\\p{N}])${literally(words)}${phrase || i < parts.length - 1 ? '(?![\\p{L}\\p{N}])' : ''}`, 'giu'));
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** The positions of the terms, in order; empty unless all of them occur. */
function marksOf(text: string, terms: readonly Term[]): Span[] {
  const marks: Span[] = [];
  for (const term of terms) {
    const found = [...text.matchAll(term)];
    if (found.length === 0) return [];
    for (const match of found) marks.push({ from: match.index, to: match.index + match[0].length });
  }
  return marks.sort((a, b) => a.from - b.from).filter((mark, i, all) => i === 0 || mark.from >= all[i - 1]!.to);
}

/** Simulates vector similarity: the text contains a long word of the query, with any ending. */
function isAlike(text: string, terms: readonly Term[]): boolean {
  const stems = terms.flatMap((term) => term.source.match(/\p{L}{6,}/gu) ?? []).map((word) => word.slice(0, 5).toLowerCase());
  const lower = text.toLowerCase();
  return stems.some((stem) => lower.includes(stem));
}

const wordsOf = (blocks: readonly BlockView[]): string => blocks.filter((block) => block.kind === 'text').map((block) => block.text).join('\n');

/** The words around the first mark, on one line, and the positions of the marks in them. */
function snippet(text: string, marks: readonly Span[]): { snippet: string; marks: Span[] } {
  const first = marks[0];
  let from = first ? Math.max(0, first.from - charsBefore) : 0;
  if (from > 0) {
    const space = text.slice(from, first!.from).search(/\s/);
    if (space >= 0) from += space + 1;
  }
  const to = Math.min(text.length, Math.max(from + snippetLength, first ? Math.min(first.to, from + 2 * snippetLength) : 0));
  const head = from > 0 ? '…' : '';
  const inside = marks.filter((mark) => mark.from >= from && mark.from < to).map((mark) => ({ from: mark.from - from + head.length, to: Math.min(mark.to, to) - from + head.length }));
  return { snippet: `${head}${text.slice(from, to).replace(/\s/g, ' ')}${to < text.length ? '…' : ''}`, marks: inside };
}

function find(store: FakeStore, branchId: string, text: string, matchCase: boolean): FindResult {
  const turns = store.lineage(branchId);
  if (text === '') return { hits: [], total: 0, truncated: false };
  const pattern = new RegExp(literally(text), matchCase ? 'gu' : 'giu');
  const hits = turns.flatMap((turn): FindHit[] => {
    const words = [wordsOf(turn.user), wordsOf(turn.assistant)].join('\n');
    const marks = [...words.matchAll(pattern)].map((found) => ({ from: found.index, to: found.index + found[0].length }));
    if (marks.length === 0) return [];
    const cut = snippet(words, marks);
    return [{ turnId: turn.id, seq: turn.seq, count: marks.length, first: cut.snippet, marks: cut.marks }];
  });
  return { hits: hits.slice(0, maxFindHits), total: hits.reduce((sum, hit) => sum + hit.count, 0), truncated: hits.length > maxFindHits };
}

function metrics(store: FakeStore, query: MetricsQuery): MetricsSeries {
  const limit = query.limit > 0 ? Math.min(query.limit, maxPoints) : defaultPoints;
  const turns = measured(store, query).filter((turn) => turn.inputTokens > 0).sort((a, b) => a.createdAt - b.createdAt).slice(-limit);
  const points = turns.map((turn): MetricPoint => {
    const { id, title } = store.sessionOf(turn).row;
    return { session: id, title, at: turn.createdAt, model: turn.model, cost: costOf(turn), turn: turnMetrics(turn) };
  });
  const sum = (valueOf: (turn: TurnView) => number) => turns.reduce((all, turn) => all + valueOf(turn), 0);
  const priced = points.filter((point) => point.cost >= 0);
  return {
    points, inputTokens: sum((turn) => turn.inputTokens), outputTokens: sum((turn) => turn.outputTokens), cachedTokens: sum((turn) => turn.cachedTokens),
    cost: priced.length === 0 ? null : priced.reduce((all, point) => all + point.cost, 0), unpriced: points.length - priced.length,
  };
}

function measured(store: FakeStore, { scope, sessionId, branchId }: MetricsQuery): TurnView[] {
  if (scope === 'branch') return store.lineage(branchId);
  if (scope === 'session') return store.session(sessionId).branchIds.flatMap((id) => store.branch(id).turns);
  if (scope === 'all') return [...store.branches.values()].flatMap((branch) => branch.turns);
  throw new BackendError(errorView(`“${scope}” is not a scope of metrics`, 'Choose branch, session or all.'));
}

function costOf(turn: TurnView): number {
  const price = prices[turn.model];
  return price ? (turn.inputTokens * price[0] + turn.outputTokens * price[1]) / 1e6 : -1;
}
