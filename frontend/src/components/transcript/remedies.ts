export interface Remedy {
  /** What to do, in the window's own terms: the program's hint is for the command line too, and names configuration keys. */
  words: string;
  button: string;
  /** A page of the settings (settings/sections.ts). */
  section: string;
}

/** Where the settings help against a failed turn, by the code of its error. */
export const remedies: Readonly<Record<string, Remedy | undefined>> = {
  auth: { words: 'Check the key of this provider, or send the message to another model.', button: 'Check the key', section: 'providers' },
  unavailable: { words: 'Try again in a moment, check your connection and the address of the server, or send the message to another model.', button: 'Check the server', section: 'models' },
  timeout: { words: 'Try again, raise the stream idle timeout, or send the message to another model.', button: 'Change the timeout', section: 'group:Streaming' },
  over_budget: { words: 'Shorten the message, unpin facts, or send it to a model with a larger context window.', button: 'Change the model', section: 'models' },
  tool_call: { words: 'Try again, allow tool calls, or send it to another model.', button: 'Change the setting for tools', section: 'group:Tools' },
  config: { words: 'The settings do not fit this model.', button: 'Open settings', section: 'models' },
};
