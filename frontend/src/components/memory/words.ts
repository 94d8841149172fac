/** How pieces of memory are said: their types, who said them, and which of their words were searched for. */
import type { ChunkRow } from '$lib/backend/types';

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
