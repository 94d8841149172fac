/** Fields of types.ts that are lists (types.test.ts checks that none is missing). */
export const listFields: ReadonlySet<string> = new Set([
  'user',
  'assistants',
  'prompts',
  'variables',
  'assistant',
  'branches',
  'turns',
  'undone',
  'images',
  'blocks',
  'history',
  'pins',
  'events',
  'items',
  'jobs',
  'models',
  'choices',
  'settings',
  'ranges',
  'sections',
  'shrink',
  'dropped',
  'redacted',
  'removed',
  'added',
  'files',
  'memories',
  'chunks',
  'embedders',
  'uses',
  'lookedUp',
  'hits',
  'spaces',
  'degraded',
  'earlier',
  'runs',
  'groups',
  'marks',
  'points',
  'skipped',
  'instructions',
  'notices',
  'parts',
  'findings',
  'sessions',
  'backups',
  'words',
  'options',
  'calls',
  'definitions',
  'permissions',
  'problems',
  'columns',
  'clients',
  'snippets',
  'folders',
  'accesses',
  'shortcuts',
  'shown',
  'servers',
  'secrets',
  'args',
  'env',
  'headers',
  'lines',
  'asks',
  'answers',
  'prompts',
  'arguments',
  'messages',
  'resources',
  'asked',
  'fields',
  'default',
  'values',
  'notes',
]);

/** An empty Go slice may arrive as null. The window never has to ask: lists are lists, all the way down. */
export function withEmptyLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const item of value) withEmptyLists(item);
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(object)) {
    if (field === null && listFields.has(name)) object[name] = [];
    else withEmptyLists(field);
  }
  return object;
}
