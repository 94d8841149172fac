import type { TurnView } from '$lib/backend/types';

/** The number of turns loaded when the user scrolls to either end of the loaded turns. */
export const pageSize = 60;
/** The maximum number of loaded turns. */
export const maxLoaded = 5 * pageSize;

/** The loaded part of a lineage: ordered by seq, without gaps or duplicates. */
export function merge(loaded: readonly TurnView[], page: readonly TurnView[]): TurnView[] {
  const bySeq = new Map<number, TurnView>();
  for (const turn of loaded) bySeq.set(turn.seq, turn);
  for (const turn of page) bySeq.set(turn.seq, turn);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Replaces one turn by a newer view of it; returns the same array if it is not in it. */
export function replace(loaded: readonly TurnView[], turn: TurnView): readonly TurnView[] {
  const at = loaded.findIndex((candidate) => candidate.id === turn.id);
  return at < 0 ? loaded : loaded.with(at, turn);
}

/** States in which a turn still runs, so that a new message has to wait. */
const running = new Set(['accepted', 'preparing', 'responding', 'waiting']);

export function isRunning(turn: TurnView | undefined): boolean {
  return turn !== undefined && running.has(turn.state);
}
