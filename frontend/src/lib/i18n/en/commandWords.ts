/** More search words of commands, by id, for those whose description lacks a likely word. */
export default {
  rollback: 'earlier state undo turns',
  codeWrap: 'line breaks',
  codeNumbers: 'line numbers',
  light: 'bright day white mode',
  dark: 'night black mode',
  contrast: 'accessible readable mode',
  system: 'automatic mode',
} as const;
