/** Texts of the Memory tab: types, speakers, matched words, the state of the index. */
import type { ChunkRow, IndexSpace, IndexStatus, MemoryChip, MemorySearch } from '$lib/backend/types';
import { stripMarkdown } from '$lib/markdown/stripMarkdown';
import { number } from '$lib/i18n/format';
import { locale, t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatDate, formatCount } from '$shared/format';

/** The types a chunk can have. */
export const chunkTypes: readonly { value: string; label: PlainKey }[] = [
  { value: 'decision', label: 'memory.decision' },
  { value: 'code', label: 'memory.code' },
  { value: 'explanation', label: 'memory.explanation' },
  { value: 'user_context', label: 'memory.youAsked' },
  { value: 'tool_result', label: 'memory.toolResult' },
  { value: 'other', label: 'memory.other' },
];

/** The types worth a tag; for the others the speaker is enough. */
const tagged = new Set(['decision', 'code', 'tool_result']);

export function tagOf(type: string): string {
  const known = tagged.has(type) ? chunkTypes.find(({ value }) => value === type) : undefined;
  return known ? t(known.label) : '';
}

/** The speaker: a name in a group chat, otherwise you or the model. */
export function whoSaid(row: Pick<ChunkRow, 'speaker' | 'role'>): string {
  if (row.speaker) return row.speaker;
  return row.role === 'user' ? t('memory.you') : row.role === 'assistant' ? t('memory.theModel') : row.role;
}

/** The time and speaker of an attached chunk: "12 May 2026, you". One that no longer exists is named by its id. */
export function chipLabel(chip: MemoryChip): string {
  if (chip.at === 0) return t('memory.chipGone', { id: chip.id.slice(-4) });
  return t('memory.chipOf', { day: formatDate(chip.at, { day: 'numeric', month: 'long', year: 'numeric' }), who: chip.document || whoSaid(chip) });
}

/** Speaker and place: "you", "#12", the document, the session if it is not the open one. */
export function factsOf(row: ChunkRow, sessionId: string): string[] {
  if (row.turnSeq === 0) return [row.document]; // a project's file has no speaker
  const elsewhere = row.sessionId !== sessionId ? t('memory.inSession', { title: row.sessionTitle }) : '';
  return [whoSaid(row), `#${row.turnSeq}`, row.document, elsewhere].filter(Boolean);
}

/**
 * A chunk's text without Markdown syntax. Source code is unchanged; a chunk of code with fences is prose around them.
 */
export function readable(text: string, code: boolean, document: string): string {
  const isSource = document === '' ? code && !/^[ \t]*(?:```|~~~)/m.test(text) : !/\.(?:md|markdown)$/i.test(document);
  return isSource ? text : stripMarkdown(text);
}

/** A summary that only repeats the beginning of the text adds nothing. */
export function isBeginning(summary: string, text: string): boolean {
  const plain = (source: string) => stripMarkdown(source).replace(/\s+/g, ' ').trim();
  return plain(text).startsWith(plain(summary).replace(/\s*(?:…|\.\.\.)$/, ''));
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** A text in pieces, with the matched words marked. */
export function markWords(text: string, matched: readonly string[]): Piece[] {
  const words = new Set(matched.flatMap((word) => word.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []));
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

/** The visible length of an excerpt on a card; it must include the matched words. */
const shown = 110;
const lead = 30;

/** An excerpt that starts shortly before its first matched word if that would otherwise be cut off. */
export function fromMatch(pieces: readonly Piece[]): Piece[] {
  const at = pieces.findIndex((piece) => piece.marked);
  const before = pieces.slice(0, Math.max(at, 0)).map((piece) => piece.text).join('');
  if (before.length <= shown) return [...pieces];
  const kept = before.slice(-lead).replace(/^\S*\s+/, '');
  return [{ text: `… ${kept}`, marked: false }, ...pieces.slice(at)];
}

/**
 * An embedder's name in the window: "nomic-embed-text (ollama)". The built-in one is named for what it knows: words and
 * parts of words, not their meaning.
 */
export function embedderName(embedder: string): string {
  const [maker = '', ...rest] = embedder.split('/');
  const model = rest.slice(0, -2).join('/');
  if (maker === 'local') return model === 'hashed' ? t('memory.words') : t('memory.builtIn');
  return model === '' ? maker : `${model} (${maker})`;
}

/** The share of complete vectors, in whole percent; 100 only when all are. */
export function spaceShare(space: Pick<IndexSpace, 'done' | 'total'>): number {
  return space.total > 0 ? Math.floor((space.done / space.total) * 100) : 100;
}

/** "164 memories in all sessions, index up to date": the index does not depend on the selected scope. */
export function indexText(status: IndexStatus): string {
  return status.on ? amountIndexed(status) : `${amountIndexed(status)}. ${t('memory.memoryOff')}`;
}

function amountIndexed(status: IndexStatus): string {
  if (status.units === 0) return t('memory.nothingIndexed');
  const count = status.units;
  const serving = status.spaces.find((space) => space.state === 'serving');
  const building = status.spaces.find((space) => space.state !== 'serving');
  if (building) return t('memory.indexing', { count, embedder: embedderName(building.embedder) });
  if (!serving) return t('memory.wordsOnly', { count });
  return serving.done < serving.total ? t('memory.beingIndexed', { count, rest: serving.total - serving.done }) : t('memory.upToDate', { count });
}

/** The duration of a search, for its tooltip. */
export function timingText(search: MemorySearch): string {
  const found = { count: search.candidates, total: ms(search.totalMs), words: ms(search.keywordMs) };
  return search.embedder ? t('memory.timingVectors', { ...found, vectors: ms(search.vectorMs), embedding: ms(search.embedMs) }) : t('memory.timingText', found);
}

function ms(value: number): string {
  return value < 10 ? number(locale(), value, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) : formatCount(value);
}

/** The beginning of a date field's day, "2026-11-21", in the user's time zone; 0 if it is not a date. */
export function startOfDay(day: string, later = 0): number {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  return found ? new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + later).getTime() : 0;
}

/** The day of a time in the format of a date field; "" for 0. */
export function dayOf(at: number): string {
  if (at === 0) return '';
  const date = new Date(at);
  return `${String(date.getFullYear()).padStart(4, '0')}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}
