import type { Backend } from '$lib/backend/backend';
import type { SendResult, TurnView } from '$lib/backend/types';
import { copyText } from '$lib/clipboard';
import { t } from '$lib/i18n/i18n.svelte';
import type { ComposerState } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

/**
 * The actions on a turn. An action that fails changes nothing, and reports the error in a toast or, where noted, to its
 * caller.
 */
export class TurnActions {
  readonly #backend: Backend;
  readonly #conversation: ConversationState;
  readonly #composer: ComposerState;
  readonly #toasts: ToastsState;
  readonly #undo: UndoState;
  readonly #showAnswers: (turnId: string) => void;

  constructor(backend: Backend, conversation: ConversationState, composer: ComposerState, toasts: ToastsState, undo: UndoState, showAnswers: (turnId: string) => void) {
    this.#showAnswers = showAnswers;
    this.#undo = undo;
    this.#backend = backend;
    this.#conversation = conversation;
    this.#composer = composer;
    this.#toasts = toasts;
  }

  stop = (turn: TurnView): Promise<void> => this.#guard(() => this.#on(turn, () => this.#backend.chat.stop(turn.id)));

  // Decisions about a turn that waits for one. They throw their errors, which are shown next to the decision.
  keep = (turn: TurnView): Promise<void> => this.#on(turn, () => this.#backend.chat.keep(turn.id));
  discard = (turn: TurnView): Promise<void> => this.#on(turn, () => this.#backend.chat.discard(turn.id));

  /** Starts a new attempt at a turn without a final answer, optionally with another model. */
  retry = (turn: TurnView, model = ''): Promise<void> => this.#sending(() => this.#backend.chat.retry(turn.id, model), turn);
  continue = (turn: TurnView, model = ''): Promise<void> => this.#sending(() => this.#backend.chat.continue(turn.id, model), turn);
  sendUnsent = (turn: TurnView, model = ''): Promise<void> => this.#sending(() => this.#backend.chat.sendUnsent(turn.id, model), turn);

  /** Asks for the rest of a final answer that was cut off, in a new message. */
  askForRest = (turn: TurnView): Promise<void> => this.#guard(() => this.continue(turn));

  /** Generates another answer to the same message, on a fork before the turn. */
  regenerate = (turn: TurnView): Promise<void> => this.#guard(() => this.retry(turn));

  /** Sends the same message to another model, which answers on a branch of its own. */
  askAlso = (turn: TurnView, model: string): Promise<void> =>
    this.#guard(async () => {
      const isCurrent = this.#conversation.request();
      await this.#backend.branches.answerAlso(turn.id, model);
      if (isCurrent()) this.#showAnswers(turn.id);
    });

  /** Creates a branch that continues after this turn. */
  fork = (turn: TurnView, label = ''): Promise<void> => this.#guard(() => this.forkAfter(turn, label));

  /** Like fork, but throws its error, for callers that show it themselves. */
  async forkAfter(turn: TurnView, label: string): Promise<void> {
    const { branchId: before, sessionId } = this.#conversation;
    const isCurrent = this.#conversation.request();
    const branch = await this.#backend.sessions.fork(turn.id, false, label);
    const message = t('state.forked', { branch: branch.label, seq: turn.seq });
    if (!isCurrent()) return void this.#toasts.show(message);
    await this.#conversation.open(sessionId, branch.id);
    const back = { label: t('state.back'), run: () => void this.#guard(() => this.#conversation.switchBranch(before, sessionId)) };
    this.#toasts.show(message, { action: back });
    this.#composer.focus();
  }

  edit = (turn: TurnView): void => this.#composer.edit(turn);

  pin = (text: string): Promise<void> => this.#guard(() => this.pinText(text));

  /** Like pin, but throws its error. */
  async pinText(text: string): Promise<void> {
    const branchId = this.#conversation.branchId;
    const pin = await this.#backend.inspect.addPin(branchId, text);
    this.#undo.record({ text: t('state.pinnedWhole'), undone: t('state.unpinned'), undo: () => this.#backend.inspect.removePin(branchId, pin.id) });
  }

  copy = (text: string): Promise<void> =>
    this.#guard(async () => {
      await copyText(text);
      this.#toasts.show(t('shared.copied'));
    });

  /** Saves code as a file, at the location the user chooses. */
  saveCode = (name: string, text: string): Promise<void> =>
    this.#guard(async () => {
      const path = await this.#backend.transfer.saveText(name, text);
      if (path !== '') this.#toasts.show(t('state.saved', { path }), { tone: 'ok', action: { label: t('shared.showInFolder'), run: () => void this.#guard(() => this.#backend.transfer.reveal(path)) } });
    });

  async #sending(act: () => Promise<SendResult>, turn: TurnView): Promise<void> {
    const isCurrent = this.#conversation.request();
    const sent = await this.#reloading(act, turn);
    if (!isCurrent()) return; // the user has gone elsewhere: the answer arrives in its own session
    if (sent.branchId !== '' && sent.branchId !== this.#conversation.branchId) {
      await this.#conversation.open(sent.sessionId, sent.branchId);
      return;
    }
    await this.#conversation.refreshTurn(turn.id);
    if (sent.turnId !== '' && sent.turnId !== turn.id) await this.#conversation.refreshTurn(sent.turnId);
    await this.#conversation.jumpToLatest();
  }

  async #on(turn: TurnView, act: () => Promise<void>): Promise<void> {
    await this.#reloading(act, turn);
    await this.#conversation.refreshTurn(turn.id);
  }

  /** Reloaded even after a refusal: the reason may be that the turn is already decided. */
  async #reloading<T>(act: () => Promise<T>, turn: TurnView): Promise<T> {
    try {
      return await act();
    } catch (error) {
      await this.#conversation.refreshTurn(turn.id).catch(() => undefined);
      throw error;
    }
  }

  async #guard(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#toasts.error(error);
    }
  }
}
