import type { GivenFile, Summons } from '$lib/backend/types';
import type { App } from './app.svelte';

type Parts = Pick<App, 'backend' | 'conversation' | 'documents' | 'draft' | 'dragOut' | 'importing' | 'layout' | 'startup' | 'temporary' | 'toasts' | 'work' | 'newSession' | 'openSession'>;

/** By its name, where nothing else is known of a file: it holds conversations. */
export const looksLikeHistory = (name: string): boolean => /\.(cinf|zip)$|^conversations.*\.json$/i.test(name);

/** What comes to the window from outside: files that hover or are dropped, and what tray and second starts ask for. */
export class DroppingState {
  #hovering = $state(false);
  /** Names of pictures the page took from the last drop itself. */
  #taken: ReadonlySet<string> = new Set();
  readonly #parts: Parts;
  readonly #off: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#off = parts.backend.onSummons((summons) => void this.heed(summons));
  }

  /** Files of another program hover over the window. */
  get hovering(): boolean {
    return this.#hovering;
  }

  hover(hovering: boolean): void {
    this.#hovering = hovering;
  }

  /** Documents and pictures can go with the message now. */
  get attaches(): boolean {
    const { layout, conversation, draft, startup, temporary } = this.#parts;
    return layout.view === 'chat' && !startup.firstRun && !temporary.active && conversation.session !== null && !draft.queued;
  }

  /** Pictures can: also in a temporary chat. */
  get attachesPictures(): boolean {
    const { temporary } = this.#parts;
    return this.attaches || (this.#parts.layout.view === 'chat' && temporary.active && !temporary.draft.queued);
  }

  /** What was asked before the page was there. */
  async begin(): Promise<void> {
    try {
      for (const summons of await this.#parts.backend.work.summonses()) await this.heed(summons);
    } catch (error) {
      this.#parts.toasts.error(error);
    }
  }

  async heed(summons: Summons): Promise<void> {
    const { startup, work } = this.#parts;
    if (!startup.info || startup.fatal) return;
    if (summons.kind === 'files') return this.given(summons.files, summons.x >= 0);
    if (summons.kind === 'report') return work.show();
    if (startup.firstRun) return;
    if (summons.kind === 'new_chat') await this.#parts.newSession();
    else if (summons.kind === 'open_session' && summons.sessionId !== '') await this.#parts.openSession(summons.sessionId);
  }

  /** Pictures of a drop that the page reads itself; their paths may come beside them. */
  took(names: readonly string[]): void {
    this.#taken = new Set(names);
  }

  /** Files with their paths: documents go with the message, everything else is listed with what can be done with it. */
  async given(files: readonly GivenFile[], dropped: boolean): Promise<void> {
    this.#hovering = false;
    const { dragOut, importing } = this.#parts;
    const taken = dropped ? this.#taken : new Set<string>();
    this.#taken = new Set();
    const foreign = files.filter((file) => !dragOut.isOurs(file.path) && !(file.kind === 'image' && taken.has(file.name)));
    const attached = this.attaches && dropped ? foreign.filter((file) => file.kind === 'document') : [];
    const rest = foreign.filter((file) => !attached.includes(file));
    if (rest.length > 0) importing.show(rest);
    for (const file of attached) await this.attach(file);
  }

  /** Puts a document into the open draft, by its path. */
  async attach(file: GivenFile): Promise<boolean> {
    const { backend, conversation, documents } = this.#parts;
    const { branchId } = conversation;
    return documents.attachBy(file.name, () => backend.transfer.attach(branchId, file.path));
  }

  stop(): void {
    this.#off();
  }
}

