import type { Code, TurnView } from '$lib/backend/types';
import type { PlainKey } from '$lib/i18n/i18n.svelte';

export interface Remedy {
  /**
   * What to do, in terms of the window: the program's hint is also for the command line, and names configuration keys.
   */
  text: PlainKey;
  button: PlainKey;
  /** A page of the settings (settings/sections.ts). */
  section: string;
}

/** The settings page that helps with a failed turn, by error code. */
const remedies: Readonly<Partial<Record<Code, Remedy>>> = {
  auth: { text: 'transcript.authRemedy', button: 'transcript.authButton', section: 'providers' },
  unavailable: { text: 'transcript.unavailableRemedy', button: 'transcript.unavailableButton', section: 'models' },
  timeout: { text: 'transcript.timeoutRemedy', button: 'transcript.timeoutButton', section: 'group:Streaming' },
  over_budget: { text: 'transcript.budgetRemedy', button: 'transcript.budgetButton', section: 'models' },
  tool_call: { text: 'transcript.toolsRemedy', button: 'transcript.toolsButton', section: 'group:Tools' },
  config: { text: 'transcript.configRemedy', button: 'shell.openSettings', section: 'models' },
};

/** The remedy for a failed turn. The built-in model has no server, so nothing can be wrong with its connection. */
export function remedyOf({ error, provider }: Pick<TurnView, 'error' | 'provider'>): Remedy | undefined {
  return error && !(error.code === 'unavailable' && provider === 'recall') ? remedies[error.code] : undefined;
}
