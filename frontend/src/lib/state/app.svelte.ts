/**
 * The whole state of the window, one class for each concern, created once. Components take what they need from
 * getApp(): `const { conversation, toasts } = getApp()`.
 */
import { getContext, setContext } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { BackendError } from '$lib/backend/errors';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { ArtifactState } from './artifact.svelte';
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
import { DeletingSeveral } from './deletingSeveral.svelte';
import { DeletionState } from './deletion.svelte';
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
import { Navigation } from './navigation.svelte';
import { PinSuggestionsState } from './pinSuggestions.svelte';
import { PaletteState } from './palette.svelte';
import { RecentSessions } from './recent.svelte';
import { RecoveryNews } from './recoveryNews.svelte';
import { Refresh } from './refresh';
import { SearchState } from './search.svelte';
import { ServersState } from './servers.svelte';
import { SessionActions } from './sessionActions';
import { SessionSettingsState } from './sessionSettings.svelte';
import { SessionsState } from './sessions.svelte';
import { SharingState } from './sharing.svelte';
import { SpeechState } from './speech.svelte';
import { StartupState } from './startup.svelte';
import { StorageState } from './storage.svelte';
import { SyncState } from './sync.svelte';
import { TemporaryConversation } from './temporary.svelte';
import { ThemeState } from './theme.svelte';
import { setToasts, ToastsState } from './toasts.svelte';
import { ToolsState } from './tools.svelte';
import { TurnActions } from './turnActions';
import { UndoState } from './undo.svelte';
import { WorkState } from './work.svelte';

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
  readonly sync: SyncState;
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
  readonly artifact: ArtifactState;
  readonly deletingSeveral: DeletingSeveral;
  readonly deletion: DeletionState;
  readonly storage: StorageState;
  readonly navigation: Navigation;
  readonly sessionActions: SessionActions;
  readonly recovery: RecoveryNews;
  readonly find: FindState;
  readonly goTo: GoToState;
  readonly #jobsRefresh: Refresh;
  readonly #modelsRefresh: Refresh;
  readonly #settingsRefresh: Refresh;
  readonly #offs: (() => void)[];

  constructor(backend: Backend, storage: Storage = localStorage) {
    this.backend = backend;
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
    this.composer = new ComposerState(backend, this.conversation, this.draft, this.undo, () => this.documents.uploads.length > 0, () => this.navigation.creating);
    this.history = new HistoryState(this.conversation, this.draft);
    this.recent = new RecentSessions(() => this.sessions.list.map((row) => row.id), (id) => this.navigation.openSession(id));
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
    this.composer.setCommands(this.commands);
    this.composer.onSeveral((turnId, problems) => {
      this.branches.showAnswers(turnId);
      for (const problem of problems) this.toasts.error(new BackendError(problem));
    });
    this.jobs = new JobsState(backend);
    this.temporary = new TemporaryConversation(backend, this.changes, this.toasts);
    this.find = new FindState(this);
    this.goTo = new GoToState(this.conversation);
    this.navigation = new Navigation(this, () => this.#jobsRefresh.soon());
    this.sessionActions = new SessionActions(this);
    this.recovery = new RecoveryNews(this.jobs, storage);
    this.work = new WorkState(backend, this.changes, this.toasts, storage);
    this.sync = new SyncState(backend, this.changes);
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
    this.deletion = new DeletionState(backend, this.changes, () => this.draft.flush(), (target, copies) => this.sessionActions.deleted(target, copies), () => this.#forget());
    this.artifact = new ArtifactState(this);
    this.deletingSeveral = new DeletingSeveral(this);
    this.#jobsRefresh = new Refresh(() => this.#quietly(() => this.jobs.load(this.conversation.branchId)), 250);
    this.#modelsRefresh = new Refresh(() => this.#quietly(() => this.models.load()));
    this.#settingsRefresh = new Refresh(() => this.#quietly(() => this.#loadSettings()));
    this.#offs = [
      this.changes.on(['jobs', 'head'], () => this.#jobsRefresh.soon()),
      this.changes.on(['turn', 'head', 'settings'], () => this.costs.changed()),
      this.changes.on(['turn', 'sessions'], () => {
        if (this.recovery.text) this.#jobsRefresh.soon(); // the recovered turn may have been decided or deleted
      }),
      this.changes.on(['settings'], () => {
        this.#modelsRefresh.soon();
        this.#settingsRefresh.soon();
      }),
    ];
  }

  /** Reads the program's information and opens the session that was open last. */
  async start(): Promise<void> {
    await this.startup.load();
    const info = this.startup.info;
    if (!info) return;
    this.theme.adopt(info);
    if (this.startup.fatal) return;
    this.keymap.adopt(info.shortcuts);
    void this.projects.load(); // the list shows them when they arrive
    await Promise.all([this.#modelsRefresh.now(), this.sessions.load()]);
    if (this.startup.firstRun) return void (await this.#handle());
    if (info.quick) await this.navigation.openQuick();
    else await this.navigation.openLast(info.lastSession);
    await this.#jobsRefresh.now();
    this.recovery.show(this.conversation.newest?.id);
    await this.#handle();
  }

  /** Loads the tasks of earlier runs, and the requests made before the page was ready. */
  async #handle(): Promise<void> {
    await Promise.all([this.work.load(), this.tools.load(), this.servers.load(), this.library.load(), this.#settingsRefresh.now(), this.deletion.load(), this.sync.load()]);
    await this.dropping.begin();
  }

  /** Completes the first run: opens a conversation with the chosen model, ready to type. */
  async begin(): Promise<void> {
    await this.#modelsRefresh.now();
    await this.navigation.newSession();
  }

  /** Something was permanently deleted: data that was read earlier may contain it. */
  #forget(): void {
    this.search.forget();
    this.sessions.forget();
    this.artifact.close();
    this.branches.forget();
    this.memory.forget();
    this.documents.read(null);
    this.undo.forget();
    this.conversation.readAgain();
    this.#jobsRefresh.soon();
    void this.#quietly(() => Promise.all([this.draft.reload(this.conversation.branchId), this.work.load()]).then(() => undefined));
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#jobsRefresh.cancel();
    this.#modelsRefresh.cancel();
    this.#settingsRefresh.cancel();
    this.speech.close();
    this.costs.stop();
    this.work.stop();
    this.sync.stop();
    this.tools.stop();
    this.servers.stop();
    this.library.stop();
    this.projects.stop();
    this.memoryScope.stop();
    this.dropping.stop();
    this.deletion.stop();
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

  /** Closes a temporary panel over or beside the conversation. Returns whether there was one. */
  closeOver(): boolean {
    return this.layout.closeDrawer() || this.branches.closeFullView() || (this.layout.isDrawer('inspector') && this.layout.closePanel()) || this.find.close();
  }

  /** Nothing covers the conversation, so its own notices are visible. */
  get chatInFront(): boolean {
    return this.layout.chatInFront && !this.branches.fullView;
  }

  /** Applies settings to the parts of the window that use them. */
  async #loadSettings(): Promise<void> {
    const { saves } = this.theme;
    const { settings, error } = await this.backend.settings.settings();
    this.startup.adoptConfigError(error);
    this.theme.adoptSettings(settings, saves);
    this.exporting.adoptDefault(settings);
    this.keymap.adoptSettings(settings);
    const language = settings.find(({ key }) => key === 'ui.language'); // another window may have changed it
    if (language) await chooseLanguage(language.value);
  }

  async #quietly(load: () => Promise<void>): Promise<void> {
    try {
      await load();
    } catch {
      // Counts and lists beside the conversation are optional; the next change loads them again.
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
