import type { BlockView, ChunkRow, KnownItem, KnownKind, MatchView, MemoryChip, MemoryFilter, MemoryService, TurnView } from '../types';
import { BackendError } from '../errors';
import { block, errorView } from './shapes';
import type { FakeStore } from './store';

const embedder = 'local/hashed/256/v1';
const tokensOf = (text: string): number => Math.ceil(text.length / 4);
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

interface Chunk {
  row: ChunkRow;
  text: string;
  branchId: string;
}

/** Every message and answer of a saved turn is one chunk; a search counts the matching words. */
export function memoryService(store: FakeStore): MemoryService {
  const find = (id: string): Chunk => {
    const found = allChunks(store).find((chunk) => chunk.row.id === id);
    if (!found) throw new BackendError(errorView('This memory no longer exists', '', 'not_found'));
    return found;
  };
  return {
    chunks: async (filter) => {
      const matching = filterChunks(store, filter).filter((chunk) => chunk.text.toLowerCase().includes(filter.text.toLowerCase()));
      return { total: matching.length, chunks: matching.slice(filter.offset, filter.offset + (filter.limit || 50)).map((chunk) => chunk.row) };
    },
    chunk: async (id) => {
      const { row, text } = find(id);
      const uses = turnsOf(store).filter((turn) => turn.user.some((part: BlockView) => part.kind === 'memory' && part.id === id));
      return {
        chunk: row, text, start: 0, end: text.length, embedders: [embedder],
        uses: uses.map((turn, i) => ({ turnId: turn.id, turnSeq: turn.seq, sessionId: row.sessionId, rank: i + 1, score: 1, form: 'full', at: turn.createdAt, tool: '' })),
      };
    },
    search: async (filter, query) => {
      const queryWords = new Set(wordsOf(query));
      const scored = filterChunks(store, filter).map((chunk) => ({ chunk, shared: wordsOf(chunk.text).filter((word) => queryWords.has(word)).length }));
      const found = scored.filter(({ shared }) => shared > 0).sort((a, b) => b.shared - a.shared);
      const best = found[0]?.shared ?? 1;
      return {
        hits: found.slice(0, filter.limit || 20).map(({ chunk, shared }, i) => ({
          chunk: chunk.row, rank: i + 1, score: shared / best, match: matchOf(chunk, queryWords),
        })),
        candidates: scored.length, embedder, warning: '', totalMs: 3.4, embedMs: 0.2, vectorMs: 1.1, keywordMs: 1.9,
      };
    },
    status: async () => {
      const units = allChunks(store).length;
      return { on: true, scope: 'lineage', units, spaces: units > 0 ? [{ embedder, state: 'serving', done: units, total: units, error: '' }] : [], degraded: [] };
    },
    chip: async (id) => chipOf(find(id)),
    known: async (kind, text, offset, limit) => {
      const found = knownItems(store, kind).filter((item) => item.text.toLowerCase().includes(text.toLowerCase()));
      return { total: found.length, items: found.slice(offset, offset + (limit || 50)) };
    },
  };
}

/** The pinned facts, suggestions, instructions or state summary of each session's active branch. */
function knownItems(store: FakeStore, kind: KnownKind): KnownItem[] {
  return [...store.sessions.values()].flatMap(({ row, settings }): KnownItem[] => {
    const branch = store.branches.get(row.activeBranch);
    const turn = branch?.turns.at(-1);
    const item = (id: string, text: string): KnownItem => ({
      kind, id, text, sessionId: row.id, sessionTitle: row.title, archived: row.archived, branchId: row.activeBranch, turnId: turn?.id ?? '', turnSeq: turn?.seq ?? 0, at: row.updatedAt,
    });
    if (!branch) return [];
    if (kind === 'pin') return branch.pins.map((pin) => item(pin.id, pin.text));
    if (kind === 'suggestion') return branch.suggested.map((suggestion) => item(suggestion.id, suggestion.text));
    if (kind === 'instructions') return settings.systemPrompt ? [item(row.id, settings.systemPrompt)] : [];
    const head = branch.states.at(0);
    return head?.summary ? [item(head.id, head.summary)] : [];
  });
}

function matchOf({ row, text }: Chunk, queryWords: ReadonlySet<string>): MatchView {
  const words = [...new Set(text.match(/[\p{L}\p{N}]{2,}/gu) ?? [])].filter((word) => queryWords.has(word.toLowerCase()));
  return { words, similarity: 0.97, role: row.role, reason: `Matched: ${words.join(', ')} · more similar than 97 % of unrelated text.` };
}

/** The row of a chunk; throws if it does not exist. */
export function chunkRowOf(store: FakeStore, id: string): ChunkRow {
  const found = allChunks(store).find((chunk) => chunk.row.id === id);
  if (!found) throw new BackendError(errorView('This memory no longer exists', '', 'not_found'));
  return found.row;
}

function chipOf({ row, text }: Chunk): MemoryChip {
  return { id: row.id, at: row.at, role: row.role, speaker: row.speaker, document: row.document, title: text.slice(0, 60) };
}

/** Attached memories as blocks of a message. */
export function memoryBlocks(memories: readonly MemoryChip[]): BlockView[] {
  return memories.map((memory) => block('memory', memory.title, { id: memory.id, memory }));
}

function filterChunks(store: FakeStore, filter: MemoryFilter): Chunk[] {
  const lineage = new Set(filter.scope === 'lineage' && filter.branchId ? store.lineage(filter.branchId).map((turn) => turn.id) : []);
  const project = filter.scope === 'project' && filter.branchId ? store.session(store.branch(filter.branchId).sessionId).row.folder : '';
  return allChunks(store).filter(({ row }) =>
    (filter.scope !== 'project' || (project !== '' && store.session(row.sessionId).row.folder === project)) &&
    (filter.scope !== 'lineage' || lineage.has(row.turnId)) && (filter.scope !== 'session' || row.sessionId === filter.sessionId) &&
    (!filter.type || row.type === filter.type) && (!filter.role || row.role === filter.role) &&
    (!filter.since || row.at >= filter.since) && (!filter.until || row.at < filter.until));
}

function turnsOf(store: FakeStore): TurnView[] {
  return [...store.branches.values()].flatMap((branch) => branch.turns);
}

function allChunks(store: FakeStore): Chunk[] {
  return turnsOf(store).filter((turn) => ['committed', 'head'].includes(turn.state)).flatMap((turn) => chunksOf(store, turn)).sort((a, b) => b.row.at - a.row.at || b.row.id.localeCompare(a.row.id));
}

function chunksOf(store: FakeStore, turn: TurnView): Chunk[] {
  const session = store.session(store.branch(turn.branchId).sessionId);
  const sides = [['user', turn.user], ['assistant', turn.assistant]] as const;
  return sides.flatMap(([role, blocks]) => {
    const text = blocks.filter((part) => part.kind === 'text').map((part) => part.text).join('\n\n');
    if (text.trim() === '') return [];
    const row: ChunkRow = {
      id: `${turn.id}-${role}`, turnId: turn.id, turnSeq: turn.seq, sessionId: session.row.id, sessionTitle: session.row.title, branchId: turn.branchId, role, speaker: '',
      type: text.includes('```') ? 'code' : role === 'user' ? 'user_context' : 'explanation', excerpt: text.slice(0, 300), summary: text.slice(0, 120), tokens: tokensOf(text), document: '', at: turn.createdAt,
    };
    return [{ row, text, branchId: turn.branchId }];
  });
}
