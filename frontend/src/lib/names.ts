/** What a person may type as the name of a session or a branch, in characters. The program takes any length; lists do not get better by it. */
export const longestName = 200;
