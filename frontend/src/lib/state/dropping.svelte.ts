import type { DroppedFile, WindowRequest } from '$lib/backend/types';
import type { App } from './app.svelte';
import { looksLikeServer } from './servers.svelte';

type Parts = Pick<App, 'backend' | 'closing' | 'conversation' | 'documents' | 'draft' | 'dragOut' | 'importing' | 'layout' | 'servers' | 'startup' | 'temporary' | 'toasts' | 'navigation'>;

/** Whether a file contains conversations, judged by its name when nothing else is known. */
export const looksLikeHistory = (name: string): boolean => /\.(cinf|zip)$|^conversations.*\.json$/i.test(name);

/**
 * Requests from outside the window: files that are dragged over it or dropped, and requests of the tray and of second
 * starts.
 */
export class DroppingState {
  #hovering = $state(false);
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.backend.onWindowRequest((request) => void this.handle(request));
  }

  /** Files of another program are being dragged over the window. */
  get hovering(): boolean {
    return this.#hovering;
  }

  hover(hovering: boolean): void {
    this.#hovering = hovering;
  }

  /** Documents and pictures can be attached to the message now. */
  get attaches(): boolean {
    const { layout, conversation, startup, temporary } = this.#parts;
    return layout.view === 'chat' && !startup.firstRun && !temporary.active && conversation.session !== null;
  }

  /** Pictures can be attached, also in a temporary chat. */
  get attachesPictures(): boolean {
    const { temporary } = this.#parts;
    return this.attaches || (this.#parts.layout.view === 'chat' && temporary.active);
  }

  /** Handles the requests that came before the page was ready. */
  async begin(): Promise<void> {
    try {
      for (const request of await this.#parts.backend.work.windowRequests()) await this.handle(request);
    } catch (error) {
      this.#parts.toasts.error(error);
    }
  }

  async handle(request: WindowRequest): Promise<void> {
    const { startup } = this.#parts;
    if (!startup.info || startup.fatal) return;
    if (request.kind === 'files') return this.handleFiles(request.files, request.x >= 0);
    if (request.kind === 'close') return this.#parts.closing.ask();
    if (startup.firstRun) return;
    if (request.kind === 'new_chat') await this.#parts.navigation.newSession();
    else if (request.kind === 'open_session' && request.sessionId !== '') await this.#parts.navigation.openSession(request.sessionId);
  }

  /**
   * Handles files with their paths: documents and pictures are attached to the message, all others are listed with the
   * possible actions.
   */
  async handleFiles(files: readonly DroppedFile[], dropped: boolean): Promise<void> {
    this.#hovering = false;
    const { dragOut, importing, servers } = this.#parts;
    const foreign = files.filter((file) => !dragOut.isOurs(file.path));
    const server = foreign.find((file) => servers.importing || looksLikeServer(file.name));
    if (server) return servers.import(server.path);
    const attached = dropped ? foreign.filter((file) => this.accepts(file)) : [];
    const rest = foreign.filter((file) => !attached.includes(file));
    if (rest.length > 0) importing.show(rest);
    for (const file of attached) await this.attach(file);
  }

  /** Whether a file is attached to the message that is being written. */
  accepts(file: DroppedFile): boolean {
    return file.reason === '' && ((file.kind === 'document' && this.attaches) || (file.kind === 'image' && this.attachesPictures));
  }

  /** Attaches a file to the open draft by its path. */
  async attach(file: DroppedFile): Promise<void> {
    const { backend, conversation, documents, temporary, toasts } = this.#parts;
    if (!temporary.active) return void (await documents.attachBy(file.name, () => backend.transfer.attach(conversation.branchId, file.path)));
    try {
      const { image } = await backend.transfer.attach('', file.path);
      if (image && temporary.active) temporary.draft.images = [...temporary.draft.images, image];
    } catch (error) {
      toasts.error(error);
    }
  }

  stop(): void {
    this.#off();
  }
}

