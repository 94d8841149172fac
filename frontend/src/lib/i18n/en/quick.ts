/** The small window for a quick question. */
export default {
  folder: 'Quick ask',
  title: 'Quick ask',
  more: 'Kept in its own session. Esc closes.',
  continue: 'Continue in the window',
  keysAsking: 'Waiting for the desktop. It may be asking you in a separate window.',
  keysBound: 'Active: {keys} opens the small window.',
  keysRefused: 'Hold Ctrl, Alt or Super with a letter, a digit or another key such as Space or an arrow, or press F1 to F12.',
} as const;
