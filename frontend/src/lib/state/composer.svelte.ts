import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import type { BlockView, DraftEdit, ErrorView, FileView, ImageUpload, MemoryChip, SendRequest, SendResult, TurnView } from '$lib/backend/types';
import { parse, unescaped, type Command, type Parsed } from '$lib/commands/commands';
import { t } from '$lib/i18n/i18n.svelte';
import type { CommandRunner } from './commands.svelte';
import type { ConversationState } from './conversation.svelte';
import { merge, nothing, type DraftContent, type DraftState, type Editing } from './draft.svelte';
import { Refresh } from './refresh';
import type { UndoState } from './undo.svelte';

/** What to do with an incomplete turn that blocks sending; empty: do not send. */
export type Incomplete = '' | 'keep' | 'discard';

/** The share of the working set that all documents of a message may use; the program leaves the rest to memory. */
const documentShare = 0.25;

/** Overrides for the next message only; "" means as in the session. */
export interface Once {
  model: string;
  effort: string;
}

/** Sending: the message being written, its size, and what prevents sending it. */
export class ComposerState {
  #sending = $state(false);
  #error = $state.raw<BackendError | null>(null);
  #textTokens = $state(0);
  #focusRequests = $state(0);
  #hint = $state('');
  #once = $state.raw<Once | null>(null);
  #several = $state.raw<{ sessionId: string; models: readonly string[] }>({ sessionId: '', models: [] });
  #toSeveral: (turnId: string, problems: readonly ErrorView[]) => void = () => undefined;
  /** Enter was pressed while a command ran: text written meanwhile is sent after it. */
  #submitAgain = false;
  #commandRuns = false;
  #commands: CommandRunner | undefined;
  readonly #backend: Backend;
  readonly #conversation: ConversationState;
  readonly #draft: DraftState;
  readonly #undo: UndoState;
  #delivered: { turnId: string; problems: readonly ErrorView[] } | null = null;
  readonly #isAttaching: () => boolean;
  /** Waits until the session to send into exists. */
  readonly #sessionReady: () => Promise<void>;
  readonly #count = new Refresh(() => this.#countTokens(), 200);

  /** isAttaching: something that belongs to the message is still being attached. */
  constructor(backend: Backend, conversation: ConversationState, draft: DraftState, undo: UndoState, isAttaching: () => boolean = () => false, sessionReady: () => Promise<void> = async () => {}) {
    this.#isAttaching = isAttaching;
    this.#sessionReady = sessionReady;
    this.#backend = backend;
    this.#conversation = conversation;
    this.#draft = draft;
    this.#undo = undo;
    conversation.onNavigate(() => (this.#once = null));
  }

  get sending(): boolean {
    return this.#sending;
  }

  /** Why the last message could not be sent. The text is still in the composer. */
  get error(): BackendError | null {
    return this.#error;
  }

  /** Tokens of the message, as the model counts them. */
  get tokens(): number {
    return this.#inModelTokens(this.#textTokens) + this.#fileTokens();
  }

  /** The text and the fixed part of the next request do not fit the working set together. */
  get overBudget(): boolean {
    const header = this.#conversation.header;
    return header !== null && header.contextCeiling > 0 && header.contextTokens - header.contextRecalled + this.tokens > header.contextCeiling;
  }

  /** The unknown command in the text, while the user is asked whether to send it as text. */
  get hint(): string {
    return this.#hint;
  }

  /** The turn whose message is being rewritten; sending then forks before it. */
  get editing(): Editing | null {
    return this.#draft.editing;
  }

  /** The model and effort of the next message, if they differ from the session's. */
  get once(): Once | null {
    return this.#once;
  }

  /** The models that the messages of the open session are sent to, until one model is chosen; fewer than two: only one model. */
  get several(): readonly string[] {
    return this.#several.sessionId === this.#conversation.sessionId ? this.#several.models : [];
  }

  useSeveral(models: readonly string[]): void {
    this.#several = { sessionId: this.#conversation.sessionId, models: models.length > 1 ? models : [] };
  }

  /** Registers a listener for messages sent to several models, with the errors of those that failed. */
  onSeveral(listener: (turnId: string, problems: readonly ErrorView[]) => void): void {
    this.#toSeveral = listener;
  }

  /**
   * Applies to the next message only; null: as in the session. A queued message is sent with the session's model and
   * effort.
   */
  useOnce(once: Once | null): void {
    this.#once = once && (once.model !== '' || once.effort !== '') ? once : null;
  }

  /** Changes each time the composer should take the focus. */
  get focusRequests(): number {
    return this.#focusRequests;
  }

  /** The newest turn needs a decision before another message can be sent. */
  get blocked(): boolean {
    return this.editing === null && !this.#conversation.newestIsForeign && this.#conversation.newest?.state === 'incomplete';
  }

  /** A document is still being attached. */
  get attaching(): boolean {
    return this.#isAttaching();
  }

  /** A conversation is being opened: text written meanwhile belongs to it. */
  get opening(): boolean {
    return this.#draft.branchId !== this.#conversation.branchId;
  }

  get canSend(): boolean {
    return !this.#sending && this.disabledReason === '' && this.#conversation.branchId !== '';
  }

  /** Why nothing can be sent yet; empty: it can. */
  get disabledReason(): string {
    if (this.attaching) return t('state.attaching');
    if (this.opening) return t('state.opening');
    if (this.several.length > 1 && this.#conversation.running && this.editing === null && !this.isCommand) return t('state.severalOnce');
    if (!this.#draft.isEmpty) return '';
    return this.#draft.memories.length > 0 ? t('state.addMessage') : t('state.writeFirst');
  }

  focus(): void {
    this.#focusRequests++;
  }

  /** Reports that the text changed; it is counted shortly afterwards. */
  changed(): void {
    this.#error = null;
    this.#hint = '';
    this.#count.soon();
  }

  dismissError(): void {
    this.#error = null;
  }

  /** Sets the runner of slash commands. */
  setCommands(commands: CommandRunner): void {
    this.#commands = commands;
  }

  /** The text is a command, or looks like one. Text with a picture, or in an edit, is never a command. */
  get isCommand(): boolean {
    return this.#parsed().kind !== 'text';
  }

  /** Sends the message, or runs the command in it. For an unknown command it asks first. */
  async submit(): Promise<void> {
    this.#submitAgain ||= this.#commandRuns;
    if (!this.canSend) return;
    const parsed = this.#parsed();
    switch (parsed.kind) {
      case 'command': return this.#run(parsed.command, parsed.argument);
      case 'incomplete': return this.#attempt(() => Promise.reject(incompleteCommand(parsed.command)));
      case 'unknown':
        if (this.#hint === parsed.name) return this.send();
        this.#hint = parsed.name;
        return;
      default: return this.send();
    }
  }

  #parsed(): Parsed {
    const { typed, text, images, files } = this.#draft;
    return this.editing !== null || images.length > 0 || files.length > 0 || text !== typed ? { kind: 'text', text } : parse(typed);
  }

  async send(incomplete: Incomplete = ''): Promise<void> {
    if (!this.canSend) return;
    this.#hint = '';
    await this.#attempt(() => (this.editing ? this.#sendEdited(this.editing) : this.#sendNext(incomplete)));
  }

  /** The field is only cleared when the command has succeeded, whatever it has opened meanwhile. */
  async #run(command: Command, argument: string): Promise<void> {
    const { text, branchId } = this.#draft;
    let more = false;
    this.#commandRuns = true;
    await this.#attempt(async () => {
      await this.#commands?.run(command.id, argument);
      if (this.#draft.branchId !== branchId) await this.#backend.sessions.saveDraft(branchId, nothing);
      else if (this.#draft.text.startsWith(text)) this.#draft.text = this.#draft.text.slice(text.length).trimStart();
      more = this.#submitAgain && this.#draft.branchId === branchId;
    });
    this.#commandRuns = this.#submitAgain = false;
    if (more && !this.#draft.isEmpty) await this.submit();
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    this.#sending = true;
    this.#error = null;
    try {
      await act();
    } catch (error) {
      this.#error = toBackendError(error);
    } finally {
      this.#sending = false;
    }
  }

  /** Puts a message into the field to be rewritten. An existing one is not changed. */
  edit(turn: TurnView): void {
    if (this.editing?.turnId !== turn.id) {
      this.#keepForUndo(this.#draft.branchId, this.#draft.rewritten);
      this.#draft.beginEdit({ turnId: turn.id, seq: turn.seq }, { text: textOf(turn.user), images: imagesOf(turn.user), files: filesOf(turn.user), memories: memoriesOf(turn.user) });
      this.changed();
    }
    this.focus();
  }

  /** Ends the edit and restores the draft that it replaced. A changed edit can be brought back with undo. */
  cancelEdit(): void {
    this.#keepForUndo(this.#draft.branchId, this.#draft.rewritten);
    this.endEdit();
  }

  /** The same for an edit that was sent, or whose turn was deleted permanently: nothing brings it back. */
  endEdit(): void {
    if (this.editing === null) return;
    this.#draft.restoreBefore();
    this.changed();
  }

  /** An edit of this branch is about to be replaced. */
  #keepForUndo(branchId: string, edit: DraftEdit | null | undefined): void {
    if (!edit) return;
    const { seq } = edit;
    this.#undo.record({ text: t('state.editDiscarded', { seq }), undone: t('state.editRestored', { seq }), undo: () => this.#restoreEdit(branchId, edit), holdsText: true });
  }

  /** Another edit that was begun there since can be brought back in turn. */
  async #restoreEdit(branchId: string, edit: DraftEdit): Promise<void> {
    if (this.#draft.branchId === branchId) {
      this.#keepForUndo(branchId, this.#draft.rewritten);
      this.#draft.resume(edit);
      this.changed();
      return this.focus();
    }
    const { edit: other, ...before } = await this.#backend.sessions.draft(branchId);
    await this.#backend.sessions.saveDraft(branchId, { ...before, edit });
    this.#keepForUndo(branchId, other);
  }

  async #sendNext(incomplete: Incomplete): Promise<void> {
    if (this.#conversation.sessionId === '') await this.#sessionReady(); // otherwise a second session would be created
    const { content, branchId } = this.#draft;
    const request = this.#request(this.#conversation.branchId, { ...content, text: unescaped(content.text) }, incomplete);
    const sent = await this.#draft.handOver(() => this.#deliver(request));
    if (sent.branchId !== request.branchId && this.#draft.branchId === branchId) {
      // The branch is another machine's: the conversation continues here on a branch of its own.
      this.#draft.sent(content);
      await this.#conversation.open(sent.sessionId, sent.branchId);
    }
    if (sent.queued) {
      if (this.#draft.branchId === sent.branchId) this.#draft.sent(content);
      await this.#conversation.queue.reload(sent.branchId);
    } else {
      this.#once = null;
      await this.#sent(sent, content);
      this.#deliveredToSeveral();
    }
  }

  /** To the model of the message, or to several at once. */
  async #deliver(request: SendRequest): Promise<SendResult> {
    const several = this.several;
    if (several.length < 2) return this.#backend.chat.send(request);
    const { first, problems } = await this.#backend.chat.sendToSeveral(request, [...several]);
    this.#delivered = { turnId: first.turnId, problems };
    return first;
  }

  #deliveredToSeveral(): void {
    const delivered = this.#delivered;
    this.#delivered = null;
    if (delivered) this.#toSeveral(delivered.turnId, delivered.problems);
  }

  /**
   * Sends the new version of a message on a fork before its turn, so that the turn stays unchanged. The edit stays saved
   * on the branch where it was written until the message is stored.
   */
  async #sendEdited({ turnId }: Editing): Promise<void> {
    const { content, before, branchId } = this.#draft;
    const isCurrent = this.#conversation.request();
    const fork = await this.#backend.sessions.fork(turnId, true, content.text);
    const request = this.#request(fork.id, content, '');
    if (isCurrent()) await this.#conversation.open(request.sessionId, fork.id);
    try {
      const sent = await this.#deliver(request);
      await this.#edited(branchId, content, before);
      await this.#sent(sent, nothing);
      this.#deliveredToSeveral();
    } catch (error) {
      // Its text moves to the fork if that is open; otherwise it is still where it was written.
      if (this.#draft.branchId === fork.id) {
        this.#draft.content = merge(this.#draft.content, content);
        await this.#draft.flush();
        await this.#draft.keep(branchId, before);
        await this.#backend.sessions.switch(request.sessionId, fork.id).catch(() => undefined); // the session opens there next time
      }
      throw error;
    }
  }

  /** An edit was sent: the draft that it replaced comes back on its branch. */
  async #edited(branchId: string, sent: DraftContent, before: DraftContent): Promise<void> {
    if (this.#draft.branchId !== branchId) await this.#draft.keep(branchId, before);
    else if (this.#draft.text === sent.text) this.endEdit();
  }

  /** inField: the part of the message that was in the field. */
  async #sent(sent: SendResult, inField: DraftContent): Promise<void> {
    // If another branch was opened meanwhile, its text is not the sent message.
    if (this.#draft.branchId !== sent.branchId) return;
    this.#draft.sent(inField);
    this.#count.soon();
    await this.#conversation.refreshTurn(sent.turnId);
    await this.#conversation.jumpToLatest();
  }

  #request(branchId: string, content: DraftContent, incomplete: Incomplete): SendRequest {
    return { sessionId: this.#conversation.sessionId, branchId, ...content, model: this.#once?.model ?? '', effort: this.#once?.effort ?? '', incomplete };
  }

  #inModelTokens(tokens: number): number {
    return Math.round(tokens * (this.#conversation.header?.tokenFactor || 1));
  }

  #fileTokens(): number {
    const all = this.#inModelTokens(this.#draft.files.reduce((sum, file) => sum + file.tokens, 0));
    const header = this.#conversation.header;
    return header?.infinity ? Math.min(all, Math.round(header.contextCeiling * documentShare)) : all;
  }

  async #countTokens(): Promise<void> {
    const text = this.#draft.text;
    if (text === '') {
      this.#textTokens = 0;
      return;
    }
    try {
      this.#textTokens = await this.#backend.chat.countTokens(text);
    } catch {
      // The old count stays; the message is counted again when it is sent.
    }
  }
}

function incompleteCommand(command: Command): BackendError {
  return new BackendError({ code: 'invalid', op: 'command', message: command.argument === 'NAME' ? t('state.needsName', { command: `/${command.name}` }) : t('state.needsText', { command: `/${command.name}` }), hint: t('storage.sentence', { what: command.does }) });
}

/** The text of a message, for copying or editing. */
export function textOf(blocks: readonly BlockView[]): string {
  return blocks.filter((block) => block.kind === 'text').map((block) => block.text).join('\n\n');
}

/** The images of a message, for sending again. */
export function imagesOf(blocks: readonly BlockView[]): ImageUpload[] {
  return blocks.flatMap((block) => {
    const found = /^data:(image\/[a-z]+);base64,(.+)$/s.exec(block.kind === 'image' ? block.data : '');
    return found ? [{ mediaType: found[1]!, data: found[2]!, name: block.text }] : [];
  });
}

/** The documents of a message, for sending again. */
export function filesOf(blocks: readonly BlockView[]): FileView[] {
  return blocks.filter((block) => block.kind === 'document').map(({ id, name, tokens }) => ({ id, name, mediaType: '', tokens }));
}

/** The attached memory of a message, for sending again. */
export function memoriesOf(blocks: readonly BlockView[]): MemoryChip[] {
  return blocks.flatMap((block) => (block.kind === 'memory' && block.memory ? [block.memory] : []));
}
