/**
 * Clean-up functions of the current test, run after it by setup.ts. Hooks registered in a module that several files
 * share would apply only to the first of them.
 */
export const endings = new Set<() => void>();
