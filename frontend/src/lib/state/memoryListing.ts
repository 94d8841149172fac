import type { Backend } from '$lib/backend/backend';
import type { ChunkRow, MemoryFilter, MemoryHit, MemorySearch } from '$lib/backend/types';
import type { MemoryNarrowing } from './memory.svelte';

/** How many chunks are asked for at once. */
export const pageSize = 50;
/** How many results a search shows. */
export const mostHits = 30;

/** A line of the list: a chunk, and how it was found if it was searched for. */
export interface Entry {
  row: ChunkRow;
  hit: MemoryHit | undefined;
}

export interface Listing {
  entries: Entry[];
  /** what there is, of which the entries are the first */
  total: number;
  /** of a search; undefined for the browser */
  search: MemorySearch | undefined;
  /** what was searched for */
  query: string;
}

export interface Wanted {
  sessionId: string;
  branchId: string;
  query: string;
  filter: MemoryNarrowing;
  /** how many lines of the browser */
  shown: number;
}

/** Everything newest first where nothing is searched for, else the hits of a search, best first. */
export async function listed(backend: Backend, wanted: Wanted): Promise<Listing> {
  const query = wanted.query.trim();
  const { sessionId, branchId } = wanted;
  const filter: MemoryFilter = { ...wanted.filter, sessionId, branchId, text: '', offset: 0, limit: pageSize };
  if (query === '') return browsed(backend, filter, wanted.shown);
  const search = await backend.memory.search({ ...filter, limit: mostHits }, query);
  return { entries: search.hits.map((hit) => ({ row: hit.chunk, hit })), total: search.hits.length, search, query };
}

async function browsed(backend: Backend, filter: MemoryFilter, shown: number): Promise<Listing> {
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
