/** Runs a way in: prepare writes what it needs and names the model to begin with. */
export type Start = (way: string, prepare: () => Promise<string>) => Promise<boolean>;
