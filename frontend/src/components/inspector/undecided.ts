import type { TurnView } from '$lib/backend/types';

/** The newest turn, if it needs a decision of the user before anything else can be sent. */
export function undecidedTurn(newest: TurnView | undefined): TurnView | undefined {
  return newest && ['incomplete', 'unsent'].includes(newest.state) ? newest : undefined;
}
