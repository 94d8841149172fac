/** Runs a way to start: prepare saves what it needs and returns the model to begin with. */
export type Start = (way: string, prepare: () => Promise<string>) => Promise<boolean>;

/** The state of keys: none, a stored one, one pasted here. */
export type KeyState = 'none' | 'stored' | 'pasted';

/** Whether a model server responds on this machine. */
export type MachineState = 'looking' | 'none' | 'found';
