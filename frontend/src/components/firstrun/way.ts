/** Runs a way in: prepare writes what it needs and names the model to begin with. */
export type Start = (way: string, prepare: () => Promise<string>) => Promise<boolean>;

/** How it is with keys: being looked for, none, one that is kept already, one that was pasted here. */
export type KeyStand = 'looking' | 'none' | 'stored' | 'pasted';

/** Whether a model server answers on this machine. */
export type MachineStand = 'looking' | 'none' | 'found';
