import type { Backend } from '$lib/backend/backend';
import type { ElicitationAnswer, ElicitationView, ServerPromptView } from '$lib/backend/types';
import type { Changes } from './changes';
import { Refresh } from './refresh';

/** Whether a file contains a tool server, judged by its name when nothing else is known. */
export const looksLikeServer = (name: string): boolean => /\.mcpb$|\.dxt$|^(?:mcp|claude_desktop_config|\.mcp)\.json$/i.test(name);

/**
 * The parts of MCP servers that concern the whole window: their questions, which wait until the user opens them;
 * servers being imported; and the list of their prompts and resources for the message being written.
 */
export class ServersState {
  #pending = $state.raw<readonly ElicitationView[]>([]);
  #answering = $state('');
  #importing = $state(false);
  #picking = $state(false);
  #pickedPrompt: ServerPromptView | null = null;
  /** A dropped file for the dialog to read. */
  #path = $state('');
  readonly #backend: Backend;
  readonly #off: () => void;
  readonly #refresh = new Refresh(() => this.#load());

  constructor(backend: Backend, changes: Changes) {
    this.#backend = backend;
    this.#off = changes.on(['servers'], () => this.#refresh.soon());
  }

  /** Questions that servers ask the user, oldest first. */
  get pending(): readonly ElicitationView[] {
    return this.#pending;
  }

  /** The question that is being answered; undefined: none. */
  get question(): ElicitationView | undefined {
    return this.#pending.find(({ id }) => id === this.#answering);
  }

  answer(id = this.#pending[0]?.id ?? ''): void {
    this.#answering = id;
  }

  /** Closes the question; it keeps waiting. */
  later(): void {
    this.#answering = '';
  }

  /** Throws on failure; the question then stays open. */
  async send(answer: ElicitationAnswer): Promise<void> {
    this.#pending = (await this.#backend.servers.answerElicitation(answer)).pending;
    this.#answering = '';
  }

  /** The dialog to import servers is open. */
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

  get pickedPrompt(): ServerPromptView | null {
    return this.#pickedPrompt;
  }

  /** The list of prompts and resources is open. */
  get picking(): boolean {
    return this.#picking;
  }

  /** Opens the list, or directly a prompt chosen elsewhere. */
  pick(prompt: ServerPromptView | null = null): void {
    this.#pickedPrompt = prompt;
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
      this.#pending = (await this.#backend.servers.elicitations()).pending;
    } catch {
      // The current list stays; the next change reads it again.
    }
  }
}
