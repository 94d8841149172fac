import type { StateView } from '$lib/backend/types';

/** Who made a state, in words. */
export function madeBy(state: Pick<StateView, 'origin' | 'model'>): string {
  switch (state.origin) {
    case 'root':
      return 'start';
    case 'librarian':
      return state.model ? `librarian, ${state.model}` : 'librarian';
    case 'fallback':
      return 'built-in rules';
    case 'pins':
      return 'pinned facts';
    default:
      return state.origin;
  }
}
