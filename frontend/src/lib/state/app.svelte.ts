/**
 * Everything the window knows, one class per concern, put together once. Components take what they need from
 * getApp(): `const { conversation, toasts } = getApp()`.
 */
import { getContext, setContext } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import { t } from '$lib/words/words.svelte';
import { program } from '$lib/words/program';
import { ArrangingState } from './arranging.svelte';
import { BranchesState } from './branches.svelte';
import { Changes } from './changes';
import { CommandRunner } from './commands.svelte';
import { ComposerState } from './composer.svelte';
import { ConversationState } from './conversation.svelte';
import { DocumentsState } from './documents.svelte';
import { DraftState } from './draft.svelte';
import { DragOut } from './dragOut';
import { ClosingState } from './closing.svelte';
import { DroppingState } from './dropping.svelte';
import { EmbeddersState } from './embedders.svelte';
import { ErasingState, type EraseTarget } from './erasing.svelte';
import { ExportState } from './exporting.svelte';
import { FindState } from './find.svelte';
import { GoToState } from './goto.svelte';
import { HistoryState } from './history.svelte';
import { ImportState } from './importing.svelte';
import { InspectorState } from './inspector.svelte';
import { JobsState } from './jobs.svelte';
import { Keymap } from './keymap.svelte';
import { LibraryState } from './library.svelte';
import { ProjectsState } from './projects.svelte';
import { LayoutState } from './layout.svelte';
import { MemoryScope } from './memoryScope.svelte';
import { MemoryState } from './memory.svelte';
import { ModelsState } from './models.svelte';
import { CostsState } from './costs.svelte';
import { ModelPickerState } from './modelPicker.svelte';
import { ModelSwitch } from './modelSwitch.svelte';
import { PinSuggestionsState } from './pinSuggestions.svelte';
import { PaletteState } from './palette.svelte';
import { RecentSessions } from './recent.svelte';
import { Refresh } from './refresh';
import { SearchState } from './search.svelte';
import { ServersState } from './servers.svelte';
import { SessionSettingsState } from './sessionSettings.svelte';
import { SessionsState } from './sessions.svelte';
import { SharingState } from './sharing.svelte';
import { SpeechState } from './speech.svelte';
import { StartupState } from './startup.svelte';
import { StorageState } from './storage.svelte';
import { TemporaryConversation } from './temporary.svelte';
import { ThemeState } from './theme.svelte';
import { setToasts, ToastsState } from './toasts.svelte';
import { ToolsState } from './tools.svelte';
import { TurnActions } from './turnActions';
import { UndoState } from './undo.svelte';
import { WorkState } from './work.svelte';

/** When the recovery report was made that was told last. */
const toldKey = 'contextinfinity.recovery';

export class App {
  readonly backend: Backend;
  readonly changes: Changes;
  readonly toasts = new ToastsState();
  readonly undo = new UndoState(this.toasts);
  readonly layout: LayoutState;
  readonly keymap: Keymap;
  readonly theme: ThemeState;
  readonly startup: StartupState;
  readonly models: ModelsState;
  readonly sessions: SessionsState;
  readonly arranging: ArrangingState;
  readonly draft: DraftState;
  readonly documents: DocumentsState;
  readonly conversation: ConversationState;
  readonly composer: ComposerState;
  readonly history: HistoryState;
  readonly recent: RecentSessions;
  readonly turnActions: TurnActions;
  readonly inspector: InspectorState;
  readonly branches: BranchesState;
  readonly memory: MemoryState;
  readonly suggestions: PinSuggestionsState;
  readonly embedders: EmbeddersState;
  readonly search: SearchState;
  readonly palette: PaletteState;
  readonly commands: CommandRunner;
  readonly modelSwitch: ModelSwitch;
  readonly modelPicker: ModelPickerState;
  readonly costs: CostsState;
  readonly sessionSettings = new SessionSettingsState();
  readonly jobs: JobsState;
  readonly temporary: TemporaryConversation;
  readonly work: WorkState;
  readonly tools: ToolsState;
  readonly servers: ServersState;
  readonly library: LibraryState;
  readonly projects: ProjectsState;
  readonly memoryScope: MemoryScope;
  readonly importing: ImportState;
  readonly speech: SpeechState;
  readonly exporting: ExportState;
  readonly sharing: SharingState;
  readonly dragOut: DragOut;
  readonly closing: ClosingState;
  readonly dropping: DroppingState;
  readonly erasing: ErasingState;
  readonly storage: StorageState;
  #recoveryTold = $state(0);
  readonly #storage: Storage;
  readonly find: FindState;
  readonly goTo: GoToState;
  readonly #jobsRefresh: Refresh;
  readonly #modelsRefresh: Refresh;
  readonly #settingsRefresh: Refresh;
  readonly #offs: (() => void)[];

  /** The session that was asked for last: done when it is open, or could not be made. */
  #making: Promise<void> = Promise.resolve();

  constructor(backend: Backend, storage: Storage = localStorage) {
    this.backend = backend;
    this.#storage = storage;
    this.changes = new Changes(backend);
    this.layout = new LayoutState(storage);
    this.keymap = new Keymap(backend, this.toasts);
    this.theme = new ThemeState(backend, this.toasts);
    this.startup = new StartupState(backend);
    this.models = new ModelsState(backend);
    this.sessions = new SessionsState(backend, this.changes, this.toasts, this.undo);
    this.arranging = new ArrangingState(backend, this.sessions, this.toasts, this.undo, storage);
    this.draft = new DraftState(backend);
    this.documents = new DocumentsState(backend, this.draft);
    this.conversation = new ConversationState(backend, this.changes, this.draft);
    this.conversation.onNavigate(() => this.speech.stop());
    this.composer = new ComposerState(backend, this.conversation, this.draft, () => this.documents.arriving.length > 0, () => this.#making);
    this.history = new HistoryState(this.conversation, this.draft);
    this.recent = new RecentSessions(() => this.sessions.list.map((row) => row.id), (id) => this.openSession(id));
    this.turnActions = new TurnActions(backend, this.conversation, this.composer, this.toasts, this.undo, (turnId) => this.branches.showAnswers(turnId));
    this.inspector = new InspectorState(this.layout);
    this.branches = new BranchesState(this);
    this.memory = new MemoryState(this);
    this.suggestions = new PinSuggestionsState(this);
    this.embedders = new EmbeddersState(this);
    this.search = new SearchState(this);
    this.modelSwitch = new ModelSwitch(backend, this.conversation, this.toasts);
    this.modelPicker = new ModelPickerState(this, storage);
    this.costs = new CostsState(backend, this.conversation);
    this.palette = new PaletteState(storage);
    this.commands = new CommandRunner(this);
    this.composer.takeCommands(this.commands);
    this.composer.onSeveral((turnId, problems) => {
      this.branches.showAnswers(turnId);
      for (const problem of problems) this.toasts.error(new BackendError(problem));
    });
    this.jobs = new JobsState(backend);
    this.temporary = new TemporaryConversation(backend, this.changes, this.toasts);
    this.find = new FindState(this);
    this.goTo = new GoToState(this.conversation);
    this.work = new WorkState(backend, this.changes, this.toasts);
    this.tools = new ToolsState(backend, this.changes, this.conversation);
    this.servers = new ServersState(backend, this.changes);
    this.library = new LibraryState(this);
    this.projects = new ProjectsState(this);
    this.memoryScope = new MemoryScope(this);
    this.importing = new ImportState(backend, this.work);
    this.speech = new SpeechState(this.toasts);
    this.exporting = new ExportState(backend, this.work);
    this.sharing = new SharingState(backend, this.work);
    this.dragOut = new DragOut(backend, this.exporting);
    this.closing = new ClosingState(backend);
    this.dropping = new DroppingState(this);
    this.storage = new StorageState(backend, this.work);
    this.erasing = new ErasingState(backend, this.changes, () => this.draft.flush(), (target) => this.#afterErasing(target), () => this.#forget());
    this.#jobsRefresh = new Refresh(() => this.#quietly(() => this.jobs.load(this.conversation.branchId)), 250);
    this.#modelsRefresh = new Refresh(() => this.#quietly(() => this.models.load()));
    this.#settingsRefresh = new Refresh(() => this.#quietly(() => this.#loadSettings()));
    this.#offs = [
      this.changes.on(['jobs', 'head'], () => this.#jobsRefresh.soon()),
      this.changes.on(['turn', 'settings'], () => this.costs.changed()),
      this.changes.on(['turn', 'sessions'], () => {
        if (this.recoveryNews) this.#jobsRefresh.soon(); // it may have been decided, or deleted
      }),
      this.changes.on(['settings'], () => {
        this.#modelsRefresh.soon();
        this.#settingsRefresh.soon();
      }),
    ];
  }

  /** Asks the program what it is and opens what was open last. */
  async start(): Promise<void> {
    await this.startup.load();
    const info = this.startup.info;
    if (!info || this.startup.fatal) return;
    this.theme.adopt(info);
    this.keymap.adopt(info.shortcuts);
    void this.projects.load(); // the list shows them when they come; nothing waits for them
    await Promise.all([this.#modelsRefresh.now(), this.sessions.load()]);
    if (this.startup.firstRun) return void (await this.#handle());
    if (info.quick) await this.#openQuick();
    else await this.#openLast(info.lastSession);
    await this.#jobsRefresh.now();
    this.#tellRecovery();
    await this.#handle();
  }

  /** Long work of before, and what was asked of the page while it was not there. */
  async #handle(): Promise<void> {
    await Promise.all([this.work.load(), this.tools.load(), this.servers.load(), this.library.load(), this.#settingsRefresh.now(), this.erasing.load()]);
    await this.dropping.begin();
  }

  /** The first start is over: a conversation with the chosen model, ready to be written in. */
  async begin(): Promise<void> {
    await this.#modelsRefresh.now();
    await this.newSession();
  }

  /** An empty conversation. One that was never written in is taken again, so that they do not pile up. */
  async newSession(): Promise<void> {
    if (await this.leaveTemporary()) await this.#newSession();
  }

  /** The same in a folder, with the defaults of its project if it has one. */
  async newSessionIn(folder: string): Promise<void> {
    if (await this.leaveTemporary()) await this.#newSession(folder);
  }

  #newSession(folder = ''): Promise<void> {
    return (this.#making = this.#makeSession(folder));
  }

  async #makeSession(folder: string): Promise<void> {
    this.layout.closeSettings();
    this.layout.closeDrawer();
    this.composer.cancelEdit();
    void this.draft.leave(); // what is typed from now on is for the new one, however long that takes
    this.composer.focus();
    try {
      const blank = this.sessions.list.find((row) => row.turns === 0 && row.branches <= 1 && row.folder === folder && !row.pinned && !row.archived && row.status === '');
      const row = blank ?? (await (folder === '' ? this.backend.sessions.create('') : this.backend.projects.startSession(folder)));
      await this.#openSession(row.id);
      if (!blank) await this.sessions.load();
    } catch (error) {
      if (this.conversation.session) this.toasts.error(error);
      else this.conversation.refused(error); // a toast goes, and would leave nothing
      await this.draft.stay();
    }
    this.composer.focus();
  }

  /** A new conversation with the settings of an assistant. */
  async startWith(assistantId: string): Promise<void> {
    if (!(await this.leaveTemporary())) return;
    const row = await this.backend.library.startSession(assistantId);
    await this.sessions.load();
    await this.#openSession(row.id);
    this.composer.focus();
  }

  /** Again, after there was nothing to show: the session, the newest, or a new one. */
  async openAgain(): Promise<void> {
    await this.sessions.load();
    await this.#openLast(this.conversation.sessionId);
  }

  /** Opens a session at its end. A temporary chat in its place asks first, if it holds anything. */
  async openSession(sessionId: string, branchId = ''): Promise<void> {
    if (await this.leaveTemporary()) await this.#openSession(sessionId, branchId);
  }

  /** A chat of which nothing is written, in place of the session, with the model that answers there. */
  async newTemporary(): Promise<void> {
    this.layout.closeSettings();
    this.layout.closeDrawer();
    if (!(await this.temporary.mayLeave())) return;
    this.composer.cancelEdit();
    this.sessionSettings.close();
    this.modelSwitch.cancel();
    const saved = this.draft.flush();
    const started = this.temporary.start(this.conversation.model || (this.models.byDefault?.name ?? ''));
    this.temporary.focus();
    try {
      await started;
      await saved;
    } catch (error) {
      this.toasts.error(error);
      this.composer.focus();
    }
  }

  /** Back to the session behind a temporary chat. False: the question whether to lose it was answered with no. */
  async leaveTemporary(): Promise<boolean> {
    if (!this.temporary.active) return true;
    this.layout.closeSettings();
    this.layout.closeDrawer();
    if (!(await this.temporary.mayLeave())) return false;
    await this.temporary.end();
    return true;
  }

  /** Brings a turn of the open branch into view, with texts marked in it. */
  async visitTurn(turnId: string, highlight: string | readonly string[] = ''): Promise<void> {
    if (await this.leaveTemporary()) await this.conversation.jumpTo(turnId, highlight);
  }

  async #openSession(sessionId: string, branchId = ''): Promise<void> {
    this.layout.closeSettings();
    this.layout.closeDrawer();
    this.composer.cancelEdit();
    this.sessionSettings.close();
    this.modelSwitch.cancel();
    this.modelPicker.close();
    await this.conversation.open(sessionId, branchId);
    this.recent.visited(sessionId);
    this.library.sessionChanged();
    this.costs.changed();
    this.search.moved();
    this.#jobsRefresh.soon();
  }

  /** Puts a session away; if it was the open one, the next takes its place. */
  async archiveSession(sessionId: string, archived: boolean): Promise<void> {
    const row = this.sessions.find(sessionId) ?? (sessionId === this.conversation.sessionId ? this.conversation.session : null);
    if (!row || !(await this.sessions.archive(row, archived))) return;
    if (archived && sessionId === this.conversation.sessionId) await this.#openLast('');
  }

  /** The same for several: all of them or none. */
  async archiveSessions(ids: readonly string[], archived: boolean): Promise<void> {
    if (ids.length === 1) return this.archiveSession(ids[0]!, archived);
    if (!(await this.arranging.archive(ids, archived))) return;
    if (archived && ids.includes(this.conversation.sessionId)) await this.#openLast('');
  }

  /** A session to be deleted for good, its name typed out first. */
  askToErase(sessionId: string): void {
    const row = this.sessions.find(sessionId) ?? (sessionId === this.conversation.sessionId ? this.conversation.session : null);
    this.erasing.show({ kind: 'session', id: sessionId, archivable: row !== null && !row.archived });
  }

  /** The list and the open conversation follow what was deleted; another takes the place of a session that is gone. */
  async #afterErasing(target: EraseTarget): Promise<void> {
    await this.sessions.load();
    if (target.kind === 'project') {
      await this.projects.load();
      this.conversation.refreshHeader();
    } else if (target.kind === 'turn') {
      if (this.composer.editing?.id === target.id) this.composer.cancelEdit();
      await this.conversation.refreshTurn(target.id);
    } else if (target.id === this.conversation.sessionId && (await this.#gone(target.id))) await this.#openLast('');
  }

  /** Something was deleted for good: what was read before may hold it. */
  #forget(): void {
    this.search.forget();
    this.branches.forget();
    this.memory.forget();
    this.documents.read(null);
    this.conversation.readAgain();
    this.#jobsRefresh.soon();
    void this.#quietly(() => Promise.all([this.draft.reload(this.conversation.branchId), this.work.load()]).then(() => undefined));
  }

  async #gone(sessionId: string): Promise<boolean> {
    try {
      await this.backend.sessions.open(sessionId, '');
      return false;
    } catch (error) {
      return toBackendError(error).code === 'not_found';
    }
  }

  /** A copy of a session, opened. */
  async duplicateSession(sessionId: string): Promise<void> {
    const row = await this.arranging.duplicate(sessionId);
    if (row) await this.openSession(row.id);
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#jobsRefresh.cancel();
    this.#modelsRefresh.cancel();
    this.#settingsRefresh.cancel();
    this.speech.close();
    this.costs.stop();
    this.work.stop();
    this.tools.stop();
    this.servers.stop();
    this.library.stop();
    this.projects.stop();
    this.memoryScope.stop();
    this.dropping.stop();
    this.erasing.stop();
    this.sessions.stop();
    this.conversation.stop();
    this.branches.stop();
    this.suggestions.stop();
    this.search.stop();
    this.find.stop();
    this.temporary.close();
    this.theme.stop();
    this.changes.stop();
  }

  /** A session for what is asked here, in a folder of its own, so that such questions do not fill the list. One that was never written in is taken again. */
  async #openQuick(): Promise<void> {
    const folder = t('quick.folder');
    const blank = this.sessions.list.find((row) => row.folder === folder && row.turns === 0 && row.status === '');
    const row = blank ?? (await this.backend.sessions.create(''));
    if (!blank) {
      await this.backend.sessions.setFolder([row.id], folder);
      await this.sessions.load();
    }
    await this.#openSession(row.id);
    this.composer.focus();
  }

  /** What was asked in the small window continues in the first one. */
  async continueInFirst(): Promise<void> {
    await this.draft.flush();
    await this.backend.work.showInFirst(this.conversation.sessionId);
    this.backend.leaveWindow();
  }

  async #openLast(lastSession: string): Promise<void> {
    const row = this.sessions.find(lastSession) ?? this.sessions.list[0];
    if (row) await this.#openSession(row.id);
    else if (lastSession !== '') await this.#openSession(lastSession);
    else await this.#newSession();
  }

  /** Closes what lies over the conversation or beside it for a moment. Says whether there was anything. */
  closeOver(): boolean {
    return this.layout.closeDrawer() || this.branches.closeWide() || (this.layout.isDrawer('inspector') && this.layout.closeSearch()) || this.find.close();
  }

  /** Nothing lies over the conversation, so that its own line for notices is in sight. */
  get chatInFront(): boolean {
    return this.layout.chatInFront && !this.branches.wide;
  }

  /** What start-up found and mended, in a line: told once, until it is put away or settled; Activity keeps it in full. */
  get recoveryNews(): string {
    const report = this.jobs.recovery;
    return report && report.at === this.#recoveryTold && report.items.length > 0 ? program(report.summary) : '';
  }

  dismissRecovery(): void {
    this.#recoveryTold = 0;
  }

  #tellRecovery(): void {
    const report = this.jobs.recovery;
    if (!report || report.clean || report.items.length === 0) return;
    if (this.#storage.getItem(toldKey) === String(report.at)) return; // the page was loaded again, the program was not
    this.#storage.setItem(toldKey, String(report.at));
    this.#recoveryTold = report.at;
  }

  /** What parts of the window take from the settings. */
  async #loadSettings(): Promise<void> {
    const { settings } = await this.backend.settings.settings();
    this.exporting.adoptDefault(settings);
    this.keymap.adoptSettings(settings);
  }

  async #quietly(load: () => Promise<void>): Promise<void> {
    try {
      await load();
    } catch {
      // Counts and lists beside the conversation: the next change asks again.
    }
  }
}

const key = Symbol('app');

export function setApp(app: App): App {
  setToasts(app.toasts);
  return setContext(key, app);
}

export function getApp(): App {
  return getContext<App>(key);
}
