export default {
  notOffered: 'The program does not offer {method}',
  notWritten: 'The file was not written.',
} as const;
