/**
 * The maximum length in characters of a session or branch name that a user types. The program accepts any length, but
 * long names make lists worse.
 */
export const longestName = 200;
