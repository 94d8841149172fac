import type { Backend } from '$lib/backend/backend';
import type { ElicitationAnswer, ElicitationView, ServerPromptView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** By its name, where nothing else is known of a file: it holds a tool server. */
export const looksLikeServer = (name: string): boolean => /\.mcpb$|\.dxt$|^(?:mcp|claude_desktop_config|\.mcp)\.json$/i.test(name);

/**
 * What of MCP servers concerns the whole window: their questions, which wait until one looks at them; servers that are
 * being brought in from elsewhere; and the list of their prompts and resources for the message that is written.
 */
export class ServersState {
  #asked = $state.raw<readonly ElicitationView[]>([]);
  #answering = $state('');
  #importing = $state(false);
  #picking = $state(false);
  #wanted: ServerPromptView | null = null;
  /** A file that was dropped, to be looked at by the dialog. */
  #path = $state('');
  readonly #backend: Backend;
  readonly #off: () => void;
  readonly #refresh = new Refresh(() => this.#load());

  constructor(backend: Backend, changes: Changes) {
    this.#backend = backend;
    this.#off = changes.on(['servers'], () => this.#refresh.soon());
  }

  /** Questions of servers, oldest first. */
  get asked(): readonly ElicitationView[] {
    return this.#asked;
  }

  /** The one that is being answered; undefined: none is. */
  get question(): ElicitationView | undefined {
    return this.#asked.find(({ id }) => id === this.#answering);
  }

  answer(id = this.#asked[0]?.id ?? ''): void {
    this.#answering = id;
  }

  /** The question waits on. */
  later(): void {
    this.#answering = '';
  }

  /** Throws what went wrong: the question stays open. */
  async send(answer: ElicitationAnswer): Promise<void> {
    this.#asked = (await this.#backend.servers.answerElicitation(answer)).asked;
    this.#answering = '';
  }

  /** The dialog that brings servers in. */
  get importing(): boolean {
    return this.#importing;
  }

  get path(): string {
    return this.#path;
  }

  import(path = ''): void {
    this.#path = path;
    this.#importing = true;
  }

  endImport(): void {
    this.#importing = false;
    this.#path = '';
  }

  get wanted(): ServerPromptView | null {
    return this.#wanted;
  }

  /** The list of prompts and resources. */
  get picking(): boolean {
    return this.#picking;
  }

  /** The list, or at once the prompt that was chosen elsewhere. */
  pick(wanted: ServerPromptView | null = null): void {
    this.#wanted = wanted;
    this.#picking = true;
  }

  endPick(): void {
    this.#picking = false;
  }

  load(): Promise<void> {
    return this.#refresh.now();
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
  }

  async #load(): Promise<void> {
    try {
      this.#asked = (await this.#backend.servers.elicitations()).asked;
    } catch {
      // What is shown stays; the next change asks again.
    }
  }
}
