import type { Code } from '$lib/backend/types';
import type { PlainKey } from '$lib/words/words.svelte';

export interface Remedy {
  /** What to do, in the window's own terms: the program's hint is for the command line too, and names configuration keys. */
  words: PlainKey;
  button: PlainKey;
  /** A page of the settings (settings/sections.ts). */
  section: string;
}

/** Where the settings help against a failed turn, by the code of its error. */
export const remedies: Readonly<Partial<Record<Code, Remedy>>> = {
  auth: { words: 'transcript.authRemedy', button: 'transcript.authButton', section: 'providers' },
  unavailable: { words: 'transcript.unavailableRemedy', button: 'transcript.unavailableButton', section: 'models' },
  timeout: { words: 'transcript.timeoutRemedy', button: 'transcript.timeoutButton', section: 'group:Streaming' },
  over_budget: { words: 'transcript.budgetRemedy', button: 'transcript.budgetButton', section: 'models' },
  tool_call: { words: 'transcript.toolsRemedy', button: 'transcript.toolsButton', section: 'group:Tools' },
  config: { words: 'transcript.configRemedy', button: 'shell.openSettings', section: 'models' },
};
