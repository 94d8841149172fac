import { t } from '$lib/i18n/i18n.svelte';
import type { App } from './app.svelte';

type Parts = Pick<
  App,
  | 'arranging' | 'backend' | 'composer' | 'conversation' | 'costs' | 'draft' | 'layout' | 'library' | 'modelPicker' | 'models' | 'modelSwitch' | 'recent' | 'search' | 'sessions' | 'sessionSettings'
  | 'temporary' | 'toasts'
>;

/** What the centre of the window shows: a session at its end or at a turn, a new one, or a temporary chat. */
export class Navigation {
  readonly #parts: Parts;
  /** Called when a session was opened, because the counts of jobs belong to the open branch. */
  readonly #opened: () => void;

  /** Resolves when the session requested last is open, or could not be created. */
  #creating: Promise<void> = Promise.resolve();

  constructor(parts: Parts, opened: () => void) {
    this.#parts = parts;
    this.#opened = opened;
  }

  get creating(): Promise<void> {
    return this.#creating;
  }

  /** Opens an empty conversation. An unused one is reused, so that they do not accumulate. */
  async newSession(): Promise<void> {
    if (await this.leaveTemporary()) await this.#new();
  }

  /** The same in a folder, with the defaults of its project if it has one. */
  async newSessionIn(folder: string): Promise<void> {
    if (await this.leaveTemporary()) await this.#new(folder);
  }

  #new(folder = ''): Promise<void> {
    return (this.#creating = this.#createOrReuse(folder));
  }

  async #createOrReuse(folder: string): Promise<void> {
    const { arranging, backend, composer, conversation, draft, sessions, toasts } = this.#parts;
    this.#uncover();
    void draft.leave(); // text typed from now on is for the new session, however long creating it takes
    composer.focus();
    try {
      // The list may not know the first turn of the open session yet.
      const used = conversation.turns.length > 0 ? conversation.sessionId : '';
      const blank = sessions.list.find((row) => row.id !== used && row.turns === 0 && row.branches <= 1 && row.folder === folder && !row.pinned && !row.archived && row.status === '');
      const row = blank ?? (await (folder === '' ? backend.sessions.create('') : backend.projects.startSession(folder)));
      await this.#open(row.id);
      if (folder !== '') arranging.collapse(folder, false); // so that the new conversation is in sight
      if (!blank) await sessions.load();
    } catch (error) {
      if (conversation.session) toasts.error(error);
      else conversation.refused(error); // a toast would disappear and leave an empty window
      await draft.stay();
    }
    composer.focus();
  }

  /** Opens a new conversation with the settings of an assistant. */
  async startWith(assistantId: string): Promise<void> {
    if (!(await this.leaveTemporary())) return;
    const row = await this.#parts.backend.library.startSession(assistantId);
    await this.#parts.sessions.load();
    await this.#open(row.id);
    this.#parts.composer.focus();
  }

  /** Opens a session at its end. If a temporary chat with content is open, the user is asked first. */
  async openSession(sessionId: string, branchId = ''): Promise<void> {
    if (await this.leaveTemporary()) await this.#open(sessionId, branchId);
  }

  /** Opens the session that was open last, otherwise the newest, otherwise a new one. */
  async openLast(lastSession: string): Promise<void> {
    const { sessions } = this.#parts;
    const row = sessions.find(lastSession) ?? sessions.list[0];
    if (row) await this.#open(row.id);
    else if (lastSession !== '') await this.#open(lastSession);
    else await this.#new();
  }

  /** Tries again after opening failed. */
  async openAgain(): Promise<void> {
    await this.#parts.sessions.load();
    await this.openLast(this.#parts.conversation.sessionId);
  }

  /**
   * Opens a session for a question in the small window. Such sessions have their own folder, so that they do not fill
   * the list. An unused one is reused.
   */
  async openQuick(): Promise<void> {
    const { backend, composer, sessions } = this.#parts;
    const folder = t('quick.folder');
    const blank = sessions.list.find((row) => row.folder === folder && row.turns === 0 && row.status === '');
    const row = blank ?? (await backend.sessions.create(''));
    if (!blank) {
      await backend.sessions.setFolder([row.id], folder);
      await sessions.load();
    }
    await this.#open(row.id);
    composer.focus();
  }

  /** Continues the conversation of the small window in the main one. */
  async continueInFirst(): Promise<void> {
    const { backend, conversation, draft } = this.#parts;
    await draft.flush();
    await backend.work.showInFirst(conversation.sessionId);
    backend.leaveWindow();
  }

  /** Opens a temporary chat in place of the session; the given model answers in it. */
  async newTemporary(): Promise<void> {
    const { composer, conversation, draft, models, temporary, toasts } = this.#parts;
    this.#uncover();
    if (!(await temporary.mayLeave())) return;
    this.#parts.sessionSettings.close();
    this.#parts.modelSwitch.cancel();
    const saved = draft.flush();
    const started = temporary.start(conversation.model || (models.byDefault?.name ?? ''));
    temporary.focus();
    try {
      await started;
      await saved;
    } catch (error) {
      toasts.error(error);
      composer.focus();
    }
  }

  /** Returns from a temporary chat to the session. False: the user chose not to lose it. */
  async leaveTemporary(): Promise<boolean> {
    const { temporary } = this.#parts;
    if (!temporary.active) return true;
    this.#uncover();
    if (!(await temporary.mayLeave())) return false;
    await temporary.end();
    return true;
  }

  /** Scrolls to a turn and marks texts in it. A turn that is not on the open branch is shown on its own. */
  async visitTurn(turnId: string, highlight: string | readonly string[] = ''): Promise<void> {
    if (!(await this.leaveTemporary())) return;
    const { backend, conversation } = this.#parts;
    const isCurrent = conversation.request();
    const branchId = await this.#otherBranchOf(turnId);
    if (branchId !== '') {
      const { sessionId } = await backend.sessions.header(branchId, '');
      if (!isCurrent()) return;
      await this.#open(sessionId, branchId);
      if (conversation.branchId !== branchId) return; // it could not be opened, or another one was opened meanwhile
    }
    await conversation.jumpTo(turnId, highlight);
  }

  /** The branch on which a turn was created, or '' if the open branch has it. */
  async #otherBranchOf(turnId: string): Promise<string> {
    const { backend, conversation } = this.#parts;
    if (conversation.turns.some((turn) => turn.id === turnId)) return '';
    const turn = await backend.sessions.turn(conversation.branchId, turnId);
    const [there] = (await backend.sessions.turns(conversation.branchId, turn.seq, turn.seq)).turns;
    return there?.id === turnId ? '' : turn.branchId;
  }

  /** Shows the open session where the reader is. */
  showOpen(): void {
    this.#uncover();
    this.#parts.composer.focus();
  }

  async #open(sessionId: string, branchId = ''): Promise<void> {
    const { conversation, costs, library, modelPicker, modelSwitch, recent, search, sessionSettings } = this.#parts;
    this.#uncover();
    sessionSettings.close();
    modelSwitch.cancel();
    modelPicker.close();
    await conversation.open(sessionId, branchId);
    recent.visited(sessionId);
    library.sessionChanged();
    costs.changed();
    search.moved();
    this.#opened();
  }

  #uncover(): void {
    this.#parts.layout.closeSettings();
    this.#parts.layout.closeDrawer();
  }
}
