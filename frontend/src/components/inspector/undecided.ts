import type { TurnView } from '$lib/backend/types';

/** The newest turn, if it needs a decision before anything else can be sent, including one about its tool calls. */
export function undecidedTurn(newest: TurnView | undefined): TurnView | undefined {
  return newest && ['incomplete', 'unsent', 'unsaved', 'waiting'].includes(newest.state) ? newest : undefined;
}
