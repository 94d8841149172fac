/** What can be done with something that is remembered. */
export type KnownAct = 'edit' | 'remove' | 'pin' | 'dismiss' | 'correct' | 'erase';

/** By kind. A summary is made from the conversation: it is corrected by a pinned fact, and goes with the session. */
export const actsOf: Record<string, readonly KnownAct[]> = {
  pin: ['edit', 'remove'],
  suggestion: ['pin', 'dismiss'],
  instructions: ['edit', 'remove'],
  summary: ['correct', 'erase'],
};
