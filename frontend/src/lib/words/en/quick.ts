/** The small window for a quick question. */
export default {
  folder: 'Quick ask',
  title: 'Quick ask',
  more: 'Kept in its own session. Esc closes.',
  continue: 'Continue in the window',
} as const;
