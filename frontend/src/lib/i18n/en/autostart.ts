/** Starting at sign-in, in the general settings. */
export default {
  label: 'Start when you sign in',
  help: 'The program starts hidden in the tray, and the window opens from there. Where there is no tray, the window opens.',
  on: 'On',
  off: 'Off',
  place: 'Stored in {place}',
  other: 'The system starts another copy of the program: {path}.',
  useThis: 'Start this one instead',
} as const;
