/** How pieces of memory are said: their types, who said them, and which of their words were searched for. */
import type { ChunkRow, IndexSpace, IndexStatus, MemorySearch } from '$lib/backend/types';
import { counted, grouped } from '$shared/format';

const narrow = '\u202f';

/** The types a chunk can have, with the word for one of them. */
export const chunkTypes: readonly { value: string; label: string }[] = [
  { value: 'decision', label: 'Decision' },
  { value: 'code', label: 'Code' },
  { value: 'explanation', label: 'Explanation' },
  { value: 'user_context', label: 'About you' },
  { value: 'tool_result', label: 'Tool result' },
  { value: 'other', label: 'Other' },
];

export function typeWord(type: string): string {
  return chunkTypes.find((known) => known.value === type)?.label ?? type;
}

/** Who said it: a name in a group chat, else you or the model. */
export function whoSaid(row: Pick<ChunkRow, 'speaker' | 'role'>): string {
  if (row.speaker) return row.speaker;
  return row.role === 'user' ? 'you' : row.role === 'assistant' ? 'the model' : row.role;
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** A text in pieces, those that begin with a searched word's letters marked. */
export function markWords(text: string, query: string): Piece[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
  if (words.size === 0) return [{ text, marked: false }];
  const pieces: Piece[] = [];
  for (const part of text.split(/([\p{L}\p{N}]+)/u)) {
    const marked = part !== '' && words.has(part.toLowerCase());
    const last = pieces.at(-1);
    if (last && !marked && !last.marked) last.text += part;
    else if (part !== '') pieces.push({ text: part, marked });
  }
  return pieces;
}

/** An embedder's short name: "local", or the server and the model of another. */
export function vectorsOf(embedder: string): string {
  const [maker = '', model = ''] = embedder.split('/');
  return maker === 'local' || model === '' ? maker : `${maker} ${model}`;
}

/** How much of its vectors is made, in whole percent; 100 only when all of it is. */
export function spaceShare(space: Pick<IndexSpace, 'done' | 'total'>): number {
  return space.total > 0 ? Math.floor((space.done / space.total) * 100) : 100;
}

/** "12 840 passages, local vectors complete". */
export function indexWords(status: IndexStatus): string {
  const off = status.on ? '' : '. Memory is off: no turn is given any of it';
  if (status.units === 0) return `Nothing is indexed yet${off}`;
  const serving = status.spaces.find((space) => space.state === 'serving');
  const building = status.spaces.find((space) => space.state !== 'serving');
  const how =
    !serving ? 'found by their words alone'
    : serving.done < serving.total ? `${vectorsOf(serving.embedder)} vectors of ${grouped(serving.done)}`
    : `${vectorsOf(serving.embedder)} vectors complete`;
  return `${counted(status.units, 'passage')}, ${how}${building ? `, reindexing for ${vectorsOf(building.embedder)}` : ''}${off}`;
}

/** What a search found and how long its parts took. */
export function timingWords(search: MemorySearch): string {
  const parts = [`words ${ms(search.keywordMs)}`, ...(search.embedder ? [`meaning ${ms(search.vectorMs)}`, `embedding ${ms(search.embedMs)}`] : [])];
  return `of ${grouped(search.candidates)} in ${ms(search.totalMs)}${narrow}ms: ${parts.join(', ')}`;
}

function ms(value: number): string {
  return value < 10 ? value.toFixed(1) : grouped(value);
}

/** The first moment of a day as a date field writes it, "2026-11-21", in the user's own zone; 0 where it is none. */
export function startOfDay(day: string, later = 0): number {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  return found ? new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + later).getTime() : 0;
}

/** The day of a moment as a date field writes it; "" for 0. */
export function dayOf(at: number): string {
  if (at === 0) return '';
  const date = new Date(at);
  return `${String(date.getFullYear()).padStart(4, '0')}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}
