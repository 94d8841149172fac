export default {
  keysAndCommands: 'Keys and commands',
  searchKeys: 'Search keys and commands',
  or: 'or',
  noResults: 'No results for “{text}”.',
  noResultsHere: 'No results for “{text}”. A few letters of the name are enough.',
  find: 'Find a command, session, branch, model or setting',
  ask: 'What do you want to do?',
  writeText: 'Write its text, then Enter',
  results: 'Results',

  // The keys at the foot.
  move: 'move',
  run: 'run',
  onlyCommands: 'only commands',
  aTurn: 'a turn',
  allKeys: 'all keys',

  // Groups and lines.
  recent: 'Recent',
  command: 'Commands',
  session: 'Sessions',
  branch: 'Branches',
  model: 'Models',
  setting: 'Settings',
  turn: 'Turns',
  search: 'Messages',
  turns: '{count, plural, one {# turn} other {# turns}}',
  answerWith: 'Answer with {model}',
  inUse: 'in use',
  thereAre: 'There are #{first} to #{last}',
  goToTurn: 'Go to turn #{seq}',
  searchMessages: 'Search messages for “{text}”',
} as const;
