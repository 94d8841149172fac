import { occurrences } from './text';
import type { FindResult, TurnView } from '$lib/backend/types';

const contextChars = 60;

/** Searches turns that are all loaded, with the same results as the program's search of a branch. */
export function findIn(turns: readonly TurnView[], text: string, matchCase: boolean): FindResult {
  const hits = turns.flatMap((turn) => {
    const body = [...turn.user, ...turn.assistant].filter((block) => ['text', 'reasoning', 'refusal'].includes(block.kind)).map((block) => block.text).join('\n\n');
    const found = occurrences(body, [text], matchCase);
    if (found.length === 0) return [];
    const from = Math.max(0, found[0]!.from - contextChars);
    const first = body.slice(from, found[0]!.to + contextChars).replace(/\s/g, ' ');
    const marks = found.filter(({ to }) => to - from <= first.length).map((span) => ({ from: span.from - from, to: span.to - from }));
    return [{ turnId: turn.id, seq: turn.seq, count: found.length, first, marks }];
  });
  return { hits, total: hits.reduce((sum, hit) => sum + hit.count, 0), truncated: false };
}
