/** What a test has started, to be ended after it by setup.ts: hooks of a module that several files share are those of the first file alone. */
export const endings = new Set<() => void>();
