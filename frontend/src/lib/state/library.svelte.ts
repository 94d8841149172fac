import { tick } from 'svelte';
import type { AssistantView, SavedPromptView, ServerPromptView, SessionAssistantView } from '$lib/backend/types';
import type { App } from './app.svelte';
import { Refresh } from './refresh';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'draft' | 'toasts'>;

/** The message field, for texts that other parts of the window put into it. */
export interface TextField {
  /** At the caret; `replaces` is the text that is replaced if it is all the field contains. */
  insert: (text: string, replaces: string) => void;
  /** At the caret, as a quotation. */
  quote: (text: string) => void;
}

/**
 * The open dialog about prompts: the list, the values of a prompt's variables, or the name under which to save a text.
 */
export type PromptQuestion =
  | { kind: 'choose' }
  | { kind: 'fill'; prompt: SavedPromptView; known: Record<string, string>; replaces: string; back: boolean }
  | { kind: 'save'; text: string };

const none: SessionAssistantView = { id: '', name: '', known: false, differs: false };

/** The assistants and saved prompts, the assistant of the open session, and inserting prompts into the message. */
export class LibraryState {
  #assistants = $state.raw<readonly AssistantView[]>([]);
  #prompts = $state.raw<readonly SavedPromptView[]>([]);
  #serverPrompts = $state.raw<readonly ServerPromptView[]>([]);
  #current = $state.raw<SessionAssistantView>(none);
  #asking = $state.raw<PromptQuestion | null>(null);
  #serversAsked = false;
  #field: TextField | null = null;
  readonly #parts: Parts;
  readonly #offs: (() => void)[];
  readonly #refresh = new Refresh(() => this.#load());
  readonly #session = new Refresh(() => this.#loadSession());

  constructor(parts: Parts) {
    this.#parts = parts;
    const { changes } = parts;
    this.#offs = [
      changes.on(['library'], () => (this.#refresh.soon(), this.#session.soon())),
      changes.on(['session'], () => this.#session.soon()),
      changes.on(['servers'], () => (this.#serversAsked = false)),
    ];
  }

  get assistants(): readonly AssistantView[] {
    return this.#assistants;
  }

  get prompts(): readonly SavedPromptView[] {
    return this.#prompts;
  }

  /** Prompts of running tool servers, loaded when the user is about to choose one. */
  get serverPrompts(): readonly ServerPromptView[] {
    return this.#serverPrompts;
  }

  /** Of the open session; its id is empty if it has none. */
  get current(): SessionAssistantView {
    return this.#current;
  }

  get asking(): PromptQuestion | null {
    return this.#asking;
  }

  load(): Promise<void> {
    return this.#refresh.now();
  }

  /** Another session is open, or this one has other settings. */
  sessionChanged(): void {
    this.#session.soon();
  }

  registerField(field: TextField): () => void {
    this.#field = field;
    return () => {
      if (this.#field === field) this.#field = null;
    };
  }

  /** Puts a quotation at the caret of the message. */
  quote(text: string): void {
    this.#field?.quote(text);
  }

  choose(): void {
    this.#asking = { kind: 'choose' };
    this.askServers();
  }

  saveText(text: string): void {
    this.#asking = { kind: 'save', text };
  }

  close(): void {
    this.#asking = null;
  }

  /** Inserts a prompt after the values of its variables are known. */
  async use(prompt: SavedPromptView, replaces = '', back = false): Promise<void> {
    const known: Record<string, string> = {};
    for (const { name, builtin } of prompt.variables) {
      const value = builtin ? await builtins[name]?.() : undefined;
      if (value) known[name] = value;
    }
    if (missingVariables(prompt, known).length > 0) this.#asking = { kind: 'fill', prompt, known, replaces, back };
    else await this.fill(prompt, known, replaces);
  }

  async fill(prompt: SavedPromptView, values: Record<string, string>, replaces: string): Promise<void> {
    const text = await this.#parts.backend.library.fillPrompt(prompt.id, values);
    this.#asking = null;
    await tick(); // the dialog must have closed before the field can take the focus
    this.#field?.insert(text, replaces);
  }

  async apply(id: string): Promise<void> {
    await this.#parts.backend.library.applyAssistant(this.#parts.conversation.sessionId, id);
    await this.#session.now();
  }

  askServers(): void {
    if (this.#serversAsked) return;
    this.#serversAsked = true;
    this.#parts.backend.servers.prompts().then(({ prompts }) => (this.#serverPrompts = prompts), () => (this.#serversAsked = false));
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#refresh.cancel();
    this.#session.cancel();
  }

  async #load(): Promise<void> {
    try {
      ({ assistants: this.#assistants, prompts: this.#prompts } = await this.#parts.backend.library.panel());
    } catch {
      // The current list stays; the next change reads it again.
    }
  }

  async #loadSession(): Promise<void> {
    const { backend, conversation } = this.#parts;
    const { sessionId } = conversation;
    try {
      const current = sessionId === '' ? none : await backend.library.sessionAssistant(sessionId);
      if (sessionId === conversation.sessionId) this.#current = current;
    } catch {
      if (sessionId === conversation.sessionId) this.#current = none;
    }
  }
}

/** Values of the built-in variables that the window provides. Today's date comes from the program. */
const builtins: Record<string, () => Promise<string> | string> = {
  clipboard: async () => (await navigator.clipboard?.readText().catch(() => '')) ?? '',
  selection: () => String(getSelection() ?? ''),
};

/** The variables of a prompt that the user must fill in. */
export function missingVariables(prompt: SavedPromptView, known: Record<string, string>): SavedPromptView['variables'] {
  return prompt.variables.filter(({ name, builtin }) => !(name in known) && !(builtin && name === 'date'));
}
