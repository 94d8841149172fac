/** The actions on something remembered. */
export type KnownAct = 'edit' | 'remove' | 'pin' | 'dismiss' | 'correct' | 'delete';

/**
 * By kind. A summary is derived from the conversation: it is corrected with a pinned fact, and deleted with the
 * session.
 */
export const actsOf: Record<string, readonly KnownAct[]> = {
  pin: ['edit', 'remove'],
  suggestion: ['pin', 'dismiss'],
  instructions: ['edit', 'remove'],
  summary: ['correct', 'delete'],
};
