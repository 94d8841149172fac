import { flushSync } from 'svelte';
import { groupSessions } from './sessionGroups';
import { BackendError } from '$lib/backend/errors';
import { selectedText } from '$lib/selectedText';
import { findState } from '$lib/commands/commands';
import type { CommandId } from '$lib/commands/list';
import { onMac } from '$lib/keys';
import { t } from '$lib/i18n/i18n.svelte';
import { formatList } from '$shared/format';
import { program } from '$lib/i18n/program';
import type { App } from './app.svelte';
import type { ExportingScope } from '$lib/backend/types';
import { targetOf } from './exporting.svelte';
import { printPage } from './printing';
import { zoomMax, zoomMin } from './theme.svelte';

type Parts = Pick<
  App,
  | 'arranging' | 'artifact' | 'backend' | 'branches' | 'closeOver' | 'closing' | 'composer' | 'conversation' | 'draft' | 'exporting' | 'find' | 'goTo' | 'importing' | 'inspector' | 'layout' | 'library' | 'memory' | 'models' | 'modelSwitch' | 'navigation' | 'palette' | 'recent' | 'search' | 'servers' | 'sessions' | 'sessionSettings' | 'sharing'
  | 'temporary' | 'theme' | 'toasts' | 'tools' | 'turnActions' | 'undo' | 'work' | 'projects' | 'sessionActions' | 'storage'
>;

const zoomStep = 10;
const refused = (message: string, hint: string): BackendError => new BackendError({ code: 'invalid', op: 'command', message, hint });

/** Commands that need a saved session. */
const needsSession = new Set<CommandId>([
  'renameSession',
  'archiveSession',
  'duplicateSession',
  'deleteSession',
  'sessionSettings',
  'newInProject',
  'projectPage',
  'projectSettings',
  'goTo',
  'recall',
  'switch',
  'tree',
  'fork',
  'rollback',
  'compare',
  'renameBranch',
  'model',
  'pin',
  'commit',
  'summarize',
  'context',
  'serverItems',
  'insertPrompt',
  'savePrompt',
  'assistant',
  'print',
  'share',
]);
/** Commands that also need a turn in it. */
const needsTurn = new Set<CommandId>(['find', 'goTo', 'fork', 'rollback', 'print', 'share']);

/** Runs commands from any source: a key, the palette, a slash command. A command that cannot run reports why. */
export class CommandRunner {
  readonly #parts: Parts;
  #pauseNotice = 0;
  #switchNotice = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Why a command cannot run now; empty: it can. */
  disabledReason(id: CommandId): string {
    const { conversation, temporary, undo } = this.#parts;
    if (temporary.active && needsSession.has(id)) return t('state.notTemporary');
    if (needsSession.has(id) && !conversation.session) return t('state.noSession');
    if (needsTurn.has(id) && !temporary.active && conversation.turns.length === 0) return t('state.noTurns');
    switch (id) {
      case 'undo': return undo.next === '' ? t('state.nothingToUndo') : '';
      case 'fork': return conversation.running ? t('state.stillArriving') : '';
      case 'newInProject':
      case 'projectPage':
      case 'projectSettings': return conversation.header?.projectId ? '' : t('projects.notIn');
      case 'compare': return conversation.branches.length < 2 ? t('state.oneBranch') : '';
      case 'artifact': return this.#parts.artifact.hasAny ? '' : t('state.noCode');
      case 'quote': return selectedText() === '' ? t('state.nothingSelected') : '';
      case 'savePrompt': return this.#parts.draft.text.trim() === '' ? t('state.noText') : '';
      case 'commit': return (conversation.header?.pending ?? 0) === 0 ? t('state.nonePending') : '';
      case 'stop': return (temporary.active ? temporary.running : conversation.running || this.#parts.composer.editing !== null) ? '' : t('state.nothingArrives');
      default: return '';
    }
  }

  /** Throws on failure; the composer then keeps its text. */
  async run(id: CommandId, argument = ''): Promise<void> {
    const why = this.disabledReason(id);
    if (why !== '') throw refused(why, '');
    const act = this.#acts()[id];
    await act?.(argument);
  }

  /** Like run, but reports a failure in a toast. */
  async try(id: CommandId, argument = ''): Promise<void> {
    try {
      await this.run(id, argument);
    } catch (error) {
      this.#parts.toasts.error(error);
    }
  }

  #acts(): Partial<Record<CommandId, (argument: string) => unknown>> {
    const { backend, branches, composer, conversation, find, inspector, layout, library, memory, palette, projects, search, servers, sessions, sessionSettings, temporary, theme, toasts, tools, turnActions, undo } = this.#parts;
    const { sessionId, branchId } = conversation;
    const zoom = (delta: number) => theme.setZoom(Math.max(zoomMin, Math.min(zoomMax, theme.zoom + delta)));
    return {
      palette: () => palette.toggle(),
      help: () => palette.showKeys(),
      undo: () => undo.undo(),
      new: () => this.#parts.navigation.newSession(),
      temporary: () => this.#parts.navigation.newTemporary(),
      decide: () => (tools.waiting.length === 0 && servers.pending.length > 0 ? servers.answer() : tools.show()),
      serverItems: () => servers.pick(),
      insertPrompt: () => library.choose(),
      savePrompt: () => library.saveText(this.#parts.draft.text),
      artifact: () => this.#parts.artifact.showNewest(),
      quote: () => library.quote(selectedText()),
      assistant: (name) => this.#assistant(name),
      assistants: () => layout.openSettings('assistants'),
      prompts: () => layout.openSettings('prompts'),
      knows: () => layout.openSettings('knows'),
      renameSession: (title) => (title === '' ? branches.ask({ kind: 'session', sessionId, title: conversation.session?.title ?? '' }) : sessions.rename(sessionId, title)),
      archiveSession: () => this.#parts.sessionActions.archive(sessionId, conversation.session?.archived !== true),
      duplicateSession: () => this.#parts.sessionActions.duplicate(sessionId),
      deleteSession: () => this.#parts.sessionActions.askToDelete(sessionId),
      sessionSettings: () => sessionSettings.show(),
      newProject: () => projects.ask(),
      newInProject: () => this.#parts.navigation.newSessionIn(conversation.header?.project ?? ''),
      projectPage: () => branches.showProject(conversation.header?.projectId ?? ''),
      projectSettings: () => projects.show(conversation.header?.projectId ?? ''),
      import: () => this.#parts.importing.show(),
      export: (scope) => this.#export(scope.toLowerCase()),
      newWindow: () => backend.work.newWindow(''),
      share: () => this.#parts.sharing.show(targetOf(conversation)),
      work: () => this.#parts.work.show(),
      pauseWork: () => this.#pauseWork(),
      storage: () => layout.openSettings('storage'),
      backUp: () => this.#parts.storage.askBackup(),
      stop: () => (temporary.active ? temporary.stop() : composer.editing ? composer.cancelEdit() : conversation.newest && turnActions.stop(conversation.newest)),
      search: () => searchTitles(layout),
      searchAll: (text) => search.show(text === '' ? undefined : text),
      find: (text) => find.show(text),
      findNext: () => find.step(1),
      findPrevious: () => find.step(-1),
      goTo: () => this.#parts.goTo.show(),
      recall: (text) => memory.search(text),
      switch: () => document.querySelector<HTMLElement>('[data-shortcut="switch"]')?.click(),
      tree: () => branches.showFullTree(),
      fork: (label) => this.#fork(label),
      rollback: (state) => this.#rollback(state),
      compare: (label) => this.#compare(label),
      renameBranch: () => branches.ask({ kind: 'rename', branchId, label: conversation.header?.branchLabel ?? '' }),
      model: (name) => this.#model(name),
      pin: (text) => turnActions.pinText(text),
      commit: async () => {
        await backend.inspect.commitNow(branchId);
        conversation.refreshHeader();
        toasts.show(t('state.committing'), { action: { label: t('shared.show'), run: () => inspector.showPending() } });
      },
      summarize: async () => {
        await backend.inspect.summarize(branchId, false);
        toasts.show(t('state.summarized'), { action: { label: t('shared.show'), run: () => inspector.show('state') } });
      },
      context: () => inspector.show('xray'),
      tabBranches: () => inspector.show('branches'),
      tabPending: () => inspector.showPending(),
      tabMemory: () => inspector.show('memory'),
      tabState: () => inspector.show('state'),
      tabActivity: () => inspector.show('activity'),
      sessions: () => layout.toggle('sessions'),
      inspector: () => layout.toggle('inspector'),
      composer: () => (temporary.active ? temporary : composer).focus(),
      settings: () => (layout.view === 'settings' ? layout.closeSettings() : layout.openSettings()),
      closeView: () => this.#closeView(),
      quit: () => this.#quit(),
      nextSession: () => this.#parts.recent.step(1),
      previousSession: () => this.#parts.recent.step(-1),
      ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((place) => [`session${place}`, () => this.#openPlace(place)])),
      print: () => this.#print(),
      codeWrap: () => {
        this.#confirm(t(theme.wrap ? 'state.codeNotWrapped' : 'state.codeWrapped'));
        return theme.setWrap(!theme.wrap);
      },
      codeNumbers: () => {
        this.#confirm(t(theme.numbers ? 'state.codeNotNumbered' : 'state.codeNumbered'));
        return theme.setNumbers(!theme.numbers);
      },
      zoomIn: () => zoom(zoomStep),
      zoomOut: () => zoom(-zoomStep),
      zoomReset: () => theme.setZoom(100),
      light: () => theme.setChoice('light'),
      dark: () => theme.setChoice('dark'),
      contrast: () => theme.setChoice('contrast'),
      system: () => theme.setChoice('system'),
    };
  }

  /** Exports the given scope, or the open branch; all sessions if none is open. */
  #export(scope: string): void {
    const { conversation, exporting, temporary } = this.#parts;
    if (!['', 'turn', 'branch', 'session', 'all'].includes(scope)) throw refused(t('state.noSuchExport', { scope }), t('state.exportIs'));
    if (temporary.active && scope !== '' && scope !== 'all') throw refused(t('state.temporaryUnsaved'), t('state.copyToKeep'));
    if (temporary.active || !conversation.session) return exporting.show({}, 'all');
    const turn = conversation.newest;
    if (scope === 'turn' && !turn) throw refused(t('state.noTurns'), t('state.sendFirst'));
    const target = targetOf(conversation);
    exporting.show(scope === 'turn' && turn ? { ...target, turnId: turn.id, seq: turn.seq } : target, (scope || 'session') as ExportingScope);
  }

  /**
   * Closes the topmost view: a dialog, the settings, what covers the conversation; otherwise the window, as its close
   * button does.
   */
  async #closeView(): Promise<void> {
    const { backend, layout, temporary } = this.#parts;
    const dialog = [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')].at(-1);
    if (dialog) return void dialog.dispatchEvent(new Event('cancel', { cancelable: true }));
    if (layout.view === 'settings') return layout.closeSettings();
    if (this.#parts.closeOver()) return;
    if (temporary.active) return void (await this.#parts.navigation.leaveTemporary());
    await this.#parts.draft.flush();
    backend.leaveWindow();
  }

  /** Asks first if an answer would be interrupted or a temporary chat lost. */
  async #quit(): Promise<void> {
    const { closing, draft, sessions, temporary } = this.#parts;
    if (closing.asked || !(await temporary.mayLeave())) return;
    await draft.flush();
    closing.quit(temporary.running || sessions.list.some((row) => row.status === 'streaming'));
  }

  /** Opens the session at a position of the list as displayed. */
  async #openPlace(place: number): Promise<void> {
    const { arranging, sessions } = this.#parts;
    const lines = groupSessions(sessions.list, Date.now(), sessions.filter === '' ? arranging.collapsed : undefined);
    const line = lines.filter((entry) => entry.kind === 'session')[place - 1];
    if (line) await this.#parts.navigation.openSession(line.id);
  }

  /**
   * Prints the open branch from its first turn. The web view of macOS cannot print, so there an HTML file is exported
   * instead.
   */
  async #print(): Promise<void> {
    const { backend, conversation, exporting, toasts } = this.#parts;
    const target = targetOf(conversation);
    if (onMac() && backend.nativeDrops) {
      exporting.show(target, 'branch');
      exporting.choose({ format: 'html' });
      toasts.show(t('state.exportToPrint'));
      return;
    }
    const { sessionId, branchId } = target;
    await printPage(await backend.transfer.printable({ scope: 'branch', sessionId, branchId, turnId: '', allBranches: false, format: 'html', quotes: false, sealed: false, archived: false, path: '', replace: false }));
  }

  /** Says the new value of a setting, whose effect may be out of sight. */
  #confirm(text: string): void {
    const { toasts } = this.#parts;
    toasts.dismiss(this.#switchNotice); // an earlier one may say the opposite
    this.#switchNotice = toasts.show(text);
  }

  async #pauseWork(): Promise<void> {
    const { toasts, work } = this.#parts;
    await work.pause(!work.paused);
    toasts.dismiss(this.#pauseNotice); // it would contradict the new state
    if (work.paused) this.#pauseNotice = toasts.show(t('state.workPaused'), { hint: t('state.workPausedMore'), action: { label: t('shared.resume'), run: () => void work.pause(false).catch((error: unknown) => toasts.error(error)) } });
    else toasts.show(t('state.workResumed'));
  }

  /**
   * Gives the session the settings of an assistant; without a name it opens the choice beside the session's settings.
   */
  async #assistant(name: string): Promise<void> {
    const { library, sessionSettings, toasts } = this.#parts;
    if (name === '') return sessionSettings.show();
    const found = library.assistants.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    if (!found) throw refused(t('library.noAssistantNamed', { name }), t('library.noAssistantHint'));
    await library.apply(found.id);
    this.#parts.conversation.refreshHeader();
    toasts.show(t('library.applied', { name: found.name }));
  }

  async #model(name: string): Promise<void> {
    const { models, modelSwitch } = this.#parts;
    const model = models.find(name) ?? models.list.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    if (!model) throw refused(t('state.noModel', { name }), t('state.modelsAre', { names: formatList(models.list.map((known) => known.name)) }));
    if (!model.usable) throw refused(t('state.modelUnusable', { name: model.name, why: program(model.reason) }), t('state.fixModel'));
    await modelSwitch.ask(model.name);
  }

  async #fork(label: string): Promise<void> {
    const { conversation, turnActions } = this.#parts;
    if (conversation.hasNewer) await conversation.jumpToLatest();
    if (!conversation.newest) throw refused(t('state.noTurnToFork'), t('state.sendFirst'));
    await turnActions.forkAfter(conversation.newest, label);
  }

  /** Compares with the branch of that name; without a name it asks for one. */
  #compare(label: string): void {
    const { branches, conversation } = this.#parts;
    const left = conversation.branchId;
    if (label === '') return branches.ask({ kind: 'compare', left });
    const right = conversation.branches.find((branch) => branch.id !== left && branch.label.toLowerCase() === label.toLowerCase());
    if (!right) throw refused(t('state.noBranch', { label }), t('state.branchesAre', { names: formatList(conversation.branches.filter((branch) => branch.id !== left).slice(0, 8).map((branch) => branch.label)) }));
    branches.compare(left, right.id);
  }

  /** Rolls back to the named state, or to the one before the head. */
  async #rollback(argument: string): Promise<void> {
    const { backend, conversation, toasts } = this.#parts;
    const { branchId: from, sessionId } = conversation;
    const isCurrent = conversation.request();
    const { history, head } = await backend.inspect.state(from);
    const before = history.find((state) => state.turnSeq < head.turnSeq); // pins create states too, at the same turn
    const state = argument === '' ? before : findState(history, argument);
    if (!state) throw refused(argument === '' ? t('state.noStateBefore') : t('state.noState', { state: argument }), t('state.stateTab'));
    const branch = await backend.sessions.rollback(sessionId, state.id);
    const message = t('state.rolledBack', { seq: state.turnSeq, branch: branch.label });
    if (!isCurrent()) return void toasts.show(message);
    await conversation.open(sessionId, branch.id);
    const goBack = () => void conversation.switchBranch(from, sessionId).catch((error: unknown) => toasts.error(error));
    toasts.show(message, { action: { label: t('state.back'), run: goBack } });
  }
}

/** The field takes the focus at once, and again after a closing dialog has returned the focus. */
function searchTitles(layout: Parts['layout']): void {
  const focus = () => document.querySelector<HTMLInputElement>('[data-shortcut="search"]')?.focus();
  layout.reveal('sessions');
  flushSync();
  focus();
  if (document.querySelector('dialog[open]')) requestAnimationFrame(focus);
}
