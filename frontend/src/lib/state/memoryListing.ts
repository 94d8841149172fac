import type { Backend } from '$lib/backend/backend';
import type { ChunkRow, MemoryFilter, MemoryHit, MemorySearch } from '$lib/backend/types';
import type { MemoryFilters } from './memory.svelte';

/** The number of chunks requested at once. */
export const pageSize = 50;
/** The maximum number of results of a search. */
export const maxHits = 30;

/** A line of the list: a chunk, and for a search how it was found. */
export interface Entry {
  row: ChunkRow;
  hit: MemoryHit | undefined;
}

export interface Listing {
  entries: Entry[];
  /** The total number, of which the entries are the first. */
  total: number;
  /** Of a search; undefined for the full list. */
  search: MemorySearch | undefined;
  /** The text searched for. */
  query: string;
}

export interface ListQuery {
  sessionId: string;
  branchId: string;
  query: string;
  filter: MemoryFilters;
  /** The number of lines of the full list. */
  shown: number;
}

/** Everything, newest first, or for a query its results, best first. */
export async function listChunks(backend: Backend, request: ListQuery): Promise<Listing> {
  const query = request.query.trim();
  const { sessionId, branchId } = request;
  const filter: MemoryFilter = { ...request.filter, sessionId, branchId, text: '', offset: 0, limit: pageSize };
  if (query === '') return browse(backend, filter, request.shown);
  const search = await backend.memory.search({ ...filter, limit: maxHits }, query);
  return { entries: search.hits.map((hit) => ({ row: hit.chunk, hit })), total: search.hits.length, search, query };
}

async function browse(backend: Backend, filter: MemoryFilter, shown: number): Promise<Listing> {
  const rows = new Map<string, ChunkRow>(); // by id: a chunk indexed between two requests would be on both pages
  let total = 0;
  for (let offset = 0; offset < shown; offset += pageSize) {
    const page = await backend.memory.chunks({ ...filter, offset });
    total = page.total;
    for (const row of page.chunks) rows.set(row.id, row);
    if (page.chunks.length < pageSize) break;
  }
  return { entries: [...rows.values()].map((row) => ({ row, hit: undefined })), total, search: undefined, query: '' };
}
