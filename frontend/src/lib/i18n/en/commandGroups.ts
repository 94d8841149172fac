export default {
  sessions: 'Sessions',
  branches: 'Branches',
  search: 'Search',
  memory: 'Memory and context',
  writing: 'Writing',
  reading: 'Reading',
  window: 'Window',
} as const;
