/**
 * The one interface between the window and the program (services of backend/api). Two implementations: wails.ts, the
 * program itself, and fake.ts, a program in memory for tests and for work on the window alone.
 *
 * Every call rejects with a BackendError: what happened, and what to do.
 */
import { getContext, setContext } from 'svelte';
import type {
  ActivityPanel,
  AddedModel,
  AnswerSet,
  AssistantView,
  AttachPart,
  AttachResult,
  AutostartView,
  Background,
  BackupView,
  BranchComparison,
  BranchTree,
  BranchView,
  Change,
  ChunkDetail,
  ChunkPage,
  ContextDiff,
  ContextView,
  CostView,
  DeletePreview,
  DocumentView,
  Draft,
  DraggedFile,
  DroppedFile,
  ElicitationAnswer,
  Elicitations,
  EmbedderEstimate,
  EmbeddersView,
  ExportPlan,
  ExportRequest,
  FindResult,
  Folder,
  Frame,
  Header,
  ImageUpload,
  ImportedInstructions,
  IndexStatus,
  KeyTest,
  KeyView,
  KnownPage,
  LibraryPanel,
  LocalServer,
  MemoryChip,
  MemoryFilter,
  MemorySearch,
  MetricsQuery,
  MetricsSeries,
  ModelView,
  MovePreview,
  OfferView,
  PendingView,
  PinSuggestion,
  PinView,
  PlaceView,
  PresetView,
  ProjectFilesPage,
  ProjectScanView,
  ProjectsPanel,
  ProjectView,
  ProgramAccessPage,
  ProgramChoice,
  ProgramsPanel,
  ProgramToken,
  PromptsImported,
  PromptText,
  RawStep,
  ReceiptView,
  SavedPromptView,
  SessionAssistantView,
  RecoveryReport,
  ResourceText,
  RestorePreview,
  SearchQuery,
  SearchResult,
  SendRequest,
  SendResult,
  SentToSeveral,
  ServerImport,
  ServerImportChoice,
  ServerLog,
  ServerPrompts,
  ServerResources,
  ServerSettings,
  ServersPanel,
  ServerValue,
  SessionRow,
  SessionSettings,
  SessionSnapshot,
  SettingsView,
  Startup,
  StatePanel,
  StateView,
  StepView,
  StorageView,
  StreamState,
  SwitchPreview,
  TaskView,
  ToolCallView,
  ToolDecisionRequest,
  ToolResolveRequest,
  ToolResultView,
  ToolsPanel,
  TurnPage,
  TurnView,
  WaitingCalls,
  WindowRequest,
} from './types';

export interface SessionsService {
  /** Newest first, pinned first; title filters. */
  list(archived: boolean, title: string): Promise<SessionRow[]>;
  create(title: string): Promise<SessionRow>;
  rename(id: string, title: string): Promise<void>;
  archive(id: string, archived: boolean): Promise<void>;
  pin(id: string, pinned: boolean): Promise<void>;
  /** An empty branchID opens the active branch; brings the newest 60 turns. */
  open(sessionID: string, branchID: string): Promise<SessionSnapshot>;
  /** Both ends inclusive, at most 200. */
  turns(branchID: string, fromSeq: number, toSeq: number): Promise<TurnPage>;
  turn(branchID: string, turnID: string): Promise<TurnView>;
  header(branchID: string, model: string): Promise<Header>;
  /** A new branch after (or before) that turn, made active. */
  fork(turnID: string, before: boolean, label: string): Promise<BranchView>;
  rollback(sessionID: string, stateID: string): Promise<BranchView>;
  switch(sessionID: string, branchID: string): Promise<void>;
  renameBranch(branchID: string, label: string): Promise<void>;
  /** Empty takes it out of its folder. */
  setFolder(ids: string[], folder: string): Promise<void>;
  /** With all that is in it, archived sessions and its project too; the name of another folder joins both. */
  renameFolder(from: string, to: string): Promise<void>;
  /** By name. */
  folders(): Promise<Folder[]>;
  /** All of them or none. */
  archiveMany(ids: string[], archived: boolean): Promise<void>;
  /** A new session that holds the lineage of that branch (empty: the active one); nothing is shared. */
  duplicate(id: string, branchID: string): Promise<SessionRow>;
  /** From what was said, made on this machine; empty while nothing was. */
  suggestTitle(id: string): Promise<string>;
  draft(branchID: string): Promise<Draft>;
  /** queued=false takes a queued message back. */
  saveDraft(branchID: string, draft: Draft): Promise<void>;
  sessionSettings(sessionID: string): Promise<SessionSettings>;
  importedInstructions(sessionID: string): Promise<ImportedInstructions>;
  setSessionSettings(sessionID: string, settings: SessionSettings): Promise<void>;
}

export interface BranchesService {
  tree(sessionID: string): Promise<BranchTree>;
  /** Two branches of one session. */
  compare(leftBranchID: string, rightBranchID: string): Promise<BranchComparison>;
  /** Hidden in switcher and tree, deleted nowhere. The active branch cannot be. */
  archive(branchID: string, archived: boolean): Promise<void>;
  /** Back to a turn of a branch: a new branch that ends with it, made active. */
  rollbackTo(branchID: string, turnID: string): Promise<BranchView>;
  /** What the next request would hold on a branch that ends with that turn, without making it; an empty turn: before the first. */
  contextAt(branchID: string, turnID: string, model: string): Promise<ContextView>;
  /** All answers to the message of a turn, each on its branch. */
  answers(turnID: string): Promise<AnswerSet>;
  /** One more of them, by another model, on a new branch. The active one stays. */
  answerAlso(turnID: string, model: string): Promise<SendResult>;
  /** One answer out of all final ones, on a new branch, made active. What is asked is an ordinary message. */
  mergeAnswers(turnID: string, model: string): Promise<SendResult>;
}

export interface SearchService {
  everything(query: SearchQuery): Promise<SearchResult>;
  /** In the turns of a branch's lineage; case is ignored unless asked for. */
  find(branchID: string, text: string, matchCase: boolean): Promise<FindResult>;
  metrics(query: MetricsQuery): Promise<MetricsSeries>;
}

export interface ChatService {
  send(request: SendRequest): Promise<SendResult>;
  /** To two to four models at once, each answer on a branch of its own; the active branch stays with the first. Never queued. */
  sendToSeveral(request: SendRequest, models: string[]): Promise<SentToSeveral>;
  stop(turnID: string): Promise<void>;
  keep(turnID: string): Promise<void>;
  discard(turnID: string): Promise<void>;
  /** Of a failed, incomplete or stopped turn: a new attempt. An empty model means the same one. */
  retry(turnID: string, model: string): Promise<SendResult>;
  continue(turnID: string, model: string): Promise<SendResult>;
  sendUnsent(turnID: string, model: string): Promise<SendResult>;
  /** A step's text as its journal holds it, after a gap in seq. */
  stream(stepID: string): Promise<StreamState>;
  countTokens(text: string): Promise<number>;
  /** A piece of a document, in order; with the last one it is kept for the draft of its branch. */
  attach(part: AttachPart): Promise<AttachResult>;
  attachCancel(upload: string): Promise<void>;
  /** An attached document, to read. */
  document(fileID: string): Promise<DocumentView>;
  setModel(sessionID: string, model: string): Promise<void>;
  /** A chat that is never written: it lives in the memory of this run. Returns its id. */
  temporaryStart(): Promise<string>;
  /** Uses text, images and model alone. */
  temporarySend(id: string, request: SendRequest): Promise<SendResult>;
  /** All of it, in order. */
  temporaryTurns(id: string): Promise<TurnView[]>;
  temporaryStop(id: string): Promise<void>;
  /** Forgets it. */
  temporaryEnd(id: string): Promise<void>;
}

export interface InspectService {
  pending(branchID: string): Promise<PendingView[]>;
  commitNow(branchID: string): Promise<void>;
  state(branchID: string): Promise<StatePanel>;
  stateByID(stateID: string): Promise<StateView>;
  addPin(branchID: string, text: string): Promise<PinView>;
  editPin(branchID: string, pinID: string, text: string): Promise<PinView>;
  removePin(branchID: string, pinID: string): Promise<void>;
  movePin(branchID: string, pinID: string, position: number): Promise<void>;
  /** Newest first; changes arrive as 'pins'. */
  suggestedPins(branchID: string): Promise<PinSuggestion[]>;
  /** With an empty text the suggestion is pinned as it is. */
  acceptSuggestedPin(id: string, text: string): Promise<PinView>;
  /** It is not suggested again. */
  dismissSuggestedPin(id: string): Promise<void>;
  activity(branchID: string): Promise<ActivityPanel>;
  retryJob(id: number): Promise<void>;
  killJob(id: number): Promise<void>;
  reconcile(): Promise<RecoveryReport>;
  steps(turnID: string): Promise<StepView[]>;
  rawStep(stepID: string): Promise<RawStep>;
  /** What the model saw in that turn. */
  context(turnID: string): Promise<ContextView>;
  /** What the next request would hold with this text; empty is fine. */
  nextContext(branchID: string, model: string, draft: Draft): Promise<ContextView>;
  /** Against the turn before it in the lineage. */
  diffContext(turnID: string): Promise<ContextDiff>;
  /** Makes the range summaries that are due, now. */
  /** Makes the range summaries that are due; forced, also of turns that still fit. */
  summarize(branchID: string, force: boolean): Promise<void>;
  /** What sending to another model would change, before it is chosen. */
  switchPreview(branchID: string, model: string): Promise<SwitchPreview>;
}

export interface MemoryService {
  /** Newest first. */
  chunks(filter: MemoryFilter): Promise<ChunkPage>;
  chunk(id: string): Promise<ChunkDetail>;
  /** By words and vectors. If the embedder fails, by words alone, with a warning. */
  search(filter: MemoryFilter, query: string): Promise<MemorySearch>;
  status(branchID: string): Promise<IndexStatus>;
  /** What a chip of the chunk says. */
  chip(id: string): Promise<MemoryChip>;
  /** What is remembered of one kind in all sessions: pin, suggestion, instructions, summary. */
  known(kind: string, text: string, offset: number, limit: number): Promise<KnownPage>;
}

/** Which embedder indexes the history, and switching to another. */
export interface EmbeddersService {
  /** Asks servers on this machine for the names of their models; sends no text. */
  embedders(): Promise<EmbeddersView>;
  /** Measured with sample texts; no history is sent. */
  estimate(id: string): Promise<EmbedderEstimate>;
  /** From then on all history is sent to it, in the background. */
  use(id: string): Promise<EmbeddersView>;
  useBuiltIn(): Promise<EmbeddersView>;
  /** The offer is not made again. */
  dismissOffer(): Promise<void>;
}

/** Assistants and saved prompts. */
export interface LibraryService {
  panel(): Promise<LibraryPanel>;
  /** With an empty id it is new. Sessions stay as they are. */
  saveAssistant(assistant: AssistantView): Promise<AssistantView>;
  duplicateAssistant(id: string): Promise<AssistantView>;
  deleteAssistant(id: string): Promise<void>;
  /** From the next message on. */
  applyAssistant(sessionId: string, id: string): Promise<void>;
  startSession(id: string): Promise<SessionRow>;
  sessionAssistant(sessionId: string): Promise<SessionAssistantView>;
  /** As the text of a file, which importAssistant takes. */
  assistantFile(id: string): Promise<string>;
  importAssistant(text: string): Promise<AssistantView>;
  savePrompt(prompt: SavedPromptView): Promise<SavedPromptView>;
  deletePrompt(id: string): Promise<void>;
  /** The text with values for its variables, by name. Today's date needs none. */
  fillPrompt(id: string, values: Record<string, string>): Promise<string>;
  promptsFile(): Promise<string>;
  importPrompts(text: string): Promise<PromptsImported>;
}

/** Projects: folders of sessions that have more than a name. */
export interface ProjectsService {
  panel(): Promise<ProjectsPanel>;
  project(id: string): Promise<ProjectView>;
  /** A folder of that name becomes the project's, with the sessions in it. */
  create(name: string): Promise<ProjectView>;
  /** All its settings, but not its files. Another name renames its folder. */
  save(project: ProjectView): Promise<ProjectView>;
  /** Of one kind, document or watched, by path; at most 500. */
  files(id: string, kind: string, offset: number, limit: number): Promise<ProjectFilesPage>;
  /** A piece of a document, in order; with the last one it is read and kept, in the place of one of the same name. */
  addDocument(id: string, part: AttachPart): Promise<AttachResult>;
  cancelDocument(upload: string): Promise<void>;
  removeDocuments(id: string, names: string[]): Promise<void>;
  /** Its text files and PDFs become memory of the project's sessions; an empty path: no folder is watched any more. */
  watch(id: string, dir: string): Promise<ProjectView>;
  /** Looks at the watched folder now. */
  rescan(id: string): Promise<ProjectScanView>;
  /** An empty session in a folder, with the defaults of its project if it has one. */
  startSession(folder: string): Promise<SessionRow>;
  /** How far a session's memory reaches: lineage, session, project or all; empty: by its project, else as configured. */
  setScope(sessionID: string, scope: string): Promise<void>;
}

/** Other programs that use this memory through MCP, and what they may see. */
export interface ProgramsService {
  panel(): Promise<ProgramsPanel>;
  allow(choice: ProgramChoice): Promise<ProgramsPanel>;
  /** With its token. Its notes and the record of its accesses are kept. */
  forget(name: string): Promise<ProgramsPanel>;
  /** In the place of the token before. It is shown this once. */
  makeToken(name: string): Promise<ProgramToken>;
  revokeToken(name: string): Promise<ProgramsPanel>;
  setHTTP(on: boolean): Promise<ProgramsPanel>;
  /** Newest first; of one program, or of all with an empty name. */
  accesses(client: string, before: number): Promise<ProgramAccessPage>;
  clearAccesses(): Promise<void>;
}

export interface SettingsService {
  startup(): Promise<Startup>;
  finishFirstRun(model: string): Promise<void>;
  settings(): Promise<SettingsView>;
  set(key: string, value: string): Promise<SettingsView>;
  reset(key: string): Promise<SettingsView>;
  models(): Promise<ModelView[]>;
  saveModel(model: ModelView): Promise<ModelView[]>;
  removeModel(name: string): Promise<ModelView[]>;
  setDefaultModel(name: string): Promise<ModelView[]>;
  keys(): Promise<KeyView[]>;
  setKey(provider: string, key: string): Promise<KeyView[]>;
  removeKey(provider: string): Promise<KeyView[]>;
  /** An empty provider is found out by the key's form; an empty key means the stored one. */
  testKey(provider: string, key: string, baseURL: string): Promise<KeyTest>;
  localServers(): Promise<LocalServer[]>;
  presets(): Promise<PresetView[]>;
  /** Providers with a key, servers of configured models, and servers that answer on this machine. */
  modelPlaces(): Promise<PlaceView[]>;
  /** Asks the place for its models. */
  offeredModels(place: string): Promise<OfferView[]>;
  /** Configures a model of a place, or names the configured one that is it. */
  addOffered(place: string, modelID: string): Promise<AddedModel>;
  setFavourite(name: string, favourite: boolean): Promise<ModelView[]>;
  /** What a person says of a model's window, in tokens. */
  setWindow(name: string, tokens: number): Promise<ModelView[]>;
  /** Of the newest turn of a session, the session and this month. */
  costs(sessionID: string): Promise<CostView>;
  /** Whether the system starts the program at sign-in, as the system says. */
  autostart(): Promise<AutostartView>;
  setAutostart(on: boolean): Promise<AutostartView>;
  /** http and https only, in the system's browser. */
  openExternal(url: string): Promise<void>;
  version(): Promise<string>;
}

/** Import and export (SPEC 12). */
export interface TransferService {
  /** What files are: by their content, not by their names alone. */
  inspect(paths: string[]): Promise<DroppedFile[]>;
  /** The system's dialog to open files; none: it was closed. */
  pickFiles(): Promise<string[]>;
  /** The system's dialog to save a file; empty: it was closed. */
  pickTarget(suggested: string): Promise<string>;
  /** Begins to import transcripts and bundles, one task for each file; an empty format is found out. */
  importFiles(paths: string[], format: string): Promise<TaskView[]>;
  /** What an export would write. */
  plan(request: ExportRequest): Promise<ExportPlan>;
  export(request: ExportRequest): Promise<TaskView>;
  /** The picture in the clipboard, for pages that are not given one that is pasted; without data there is none. */
  pastedPicture(): Promise<ImageUpload>;
  /** Shows a file in the system's file manager. */
  /** Asks where to and saves a text there; an empty path: the dialog was closed. */
  saveText(name: string, text: string): Promise<string>;
  /** The page that is printed: what an export as HTML would write. */
  printable(request: ExportRequest): Promise<string>;
  reveal(path: string): Promise<void>;
  /** Attaches files by their paths to the draft of a branch. */
  attach(branchID: string, path: string): Promise<AttachResult>;
}

/** The data directory: its size, copies, place, and what is erased from it for good. */
export interface StorageService {
  storage(): Promise<StorageView>;
  /** Newest first; check reads each through. */
  backups(check: boolean): Promise<BackupView[]>;
  /** An empty path: a dated name in the folder of backups. */
  backUp(path: string): Promise<TaskView>;
  restorePreview(path: string): Promise<RestorePreview>;
  /** Puts a backup in the place of the data, and starts the program anew. */
  restore(path: string): Promise<void>;
  pickFolder(): Promise<string>;
  movePreview(to: string): Promise<MovePreview>;
  /** Copies the data, compares the copy, and starts the program anew on it. The old folder stays until it is removed by hand. */
  move(to: string): Promise<TaskView>;
  /** Holds everything against its hashes, chains and rules; changes nothing. */
  check(): Promise<TaskView>;
  /** kind: session or turn. */
  deletePreview(kind: string, id: string): Promise<DeletePreview>;
  /** Erases for good; confirm is what DeletePreview.confirm says, typed. */
  erase(kind: string, id: string, confirm: string): Promise<ReceiptView>;
  /** Newest first. */
  receipts(): Promise<ReceiptView[]>;
  /** Moves what is left of a lost history into a folder, which it returns; the next start begins an empty one. */
  startFresh(): Promise<string>;
  /** Makes data with a damaged log writable again, without what cannot be read of the log; the files as they were are kept in a folder, which it returns. */
  dropLog(): Promise<string>;
  /** Restarts the program, which tries to open the data again. */
  reopen(): Promise<void>;
}

/** Calls of tools: what waits for a person, what is decided about it, and what tools there are. */
export interface ToolsService {
  /** Of all sessions, oldest first. */
  waitingCalls(): Promise<WaitingCalls>;
  /** Of these turns, in order. */
  calls(turnIDs: string[]): Promise<ToolCallView[]>;
  decide(request: ToolDecisionRequest): Promise<void>;
  /** What becomes of a call whose outcome is unknown. */
  resolve(request: ToolResolveRequest): Promise<void>;
  /** Of a call that runs; with effects, its outcome is unknown afterwards. */
  cancel(callID: string): Promise<void>;
  /** The whole result. */
  result(callID: string): Promise<ToolResultView>;
  panel(): Promise<ToolsPanel>;
  /** Takes a definition as it was shown; models are offered it from now on. */
  accept(source: string, tool: string, hash: string): Promise<void>;
  /** "always" or "session" of the definition that hash names, or "never"; an empty tool: all of the source, an empty session: all. */
  setPermission(source: string, tool: string, sessionID: string, decision: string, hash: string): Promise<void>;
  /** Takes a decision back: it is asked again. */
  forget(source: string, tool: string, sessionID: string): Promise<void>;
  /** The tool, as that definition says, has no effects; an empty hash takes that back. */
  markReadOnly(source: string, tool: string, hash: string): Promise<void>;
  /** A session's own mode; empty: that of the settings. */
  sessionMode(sessionID: string): Promise<string>;
  setSessionMode(sessionID: string, mode: string): Promise<void>;
}

/** MCP servers: what is configured, how each is, and what they offer beside tools. */
export interface ServersService {
  servers(): Promise<ServersPanel>;
  addServer(settings: ServerSettings): Promise<ServersPanel>;
  /** The server of that name, which may get another. */
  updateServer(name: string, settings: ServerSettings): Promise<ServersPanel>;
  /** With its secrets. */
  removeServer(name: string): Promise<ServersPanel>;
  enableServer(name: string, enabled: boolean): Promise<ServersPanel>;
  /** At once. Calls that run in it have an unknown outcome then. */
  restart(name: string): Promise<ServersPanel>;
  logs(name: string): Promise<ServerLog>;
  /** What was pasted. Nothing is added before applyImport. */
  import(text: string): Promise<ServerImport>;
  importFile(path: string): Promise<ServerImport>;
  applyImport(choice: ServerImportChoice): Promise<ServersPanel>;
  /** An empty value forgets it. */
  setSecret(server: string, secret: string, value: string): Promise<ServersPanel>;
  /** Opens the page to sign in on, and waits until that is done. */
  signIn(name: string): Promise<ServersPanel>;
  signOut(name: string): Promise<ServersPanel>;
  /** Servers that are enabled are started for it. */
  prompts(): Promise<ServerPrompts>;
  getPrompt(server: string, name: string, args: ServerValue[]): Promise<PromptText>;
  resources(): Promise<ServerResources>;
  readResource(server: string, uri: string): Promise<ResourceText>;
  elicitations(): Promise<Elicitations>;
  answerElicitation(answer: ElicitationAnswer): Promise<Elicitations>;
}

/** Long work, and what goes on behind the window. */
export interface WorkService {
  /** Newest first: what runs, and what ended and was not dismissed. */
  tasks(): Promise<TaskView[]>;
  cancel(id: string): Promise<void>;
  resume(id: string): Promise<TaskView>;
  dismiss(id: string): Promise<void>;
  background(): Promise<Background>;
  pause(paused: boolean): Promise<Background>;
  /** What was asked of the page before it was there; empties the list. */
  windowRequests(): Promise<WindowRequest[]>;
  /** Opens a further window on the same data; an empty session: another than is open. */
  newWindow(sessionID: string): Promise<void>;
  /** Brings the first window to the front, on that session. */
  showInFirst(sessionID: string): Promise<void>;
}

export interface Backend {
  readonly sessions: SessionsService;
  readonly chat: ChatService;
  readonly inspect: InspectService;
  readonly memory: MemoryService;
  readonly branches: BranchesService;
  readonly search: SearchService;
  readonly embedders: EmbeddersService;
  readonly programs: ProgramsService;
  readonly library: LibraryService;
  readonly projects: ProjectsService;
  readonly settings: SettingsService;
  readonly transfer: TransferService;
  readonly storage: StorageService;
  readonly tools: ToolsService;
  readonly servers: ServersService;
  readonly work: WorkService;
  /** Files that are dropped on the window arrive with their paths, as a WindowRequest; else the page has them as File objects alone. */
  readonly nativeDrops: boolean;
  /**
   * Writes the file that a drag out of the window carries, and waits until it is there: a drag can only be given a file
   * while it begins. Throws a BackendError.
   */
  dragFile(request: ExportRequest): DraggedFile;
  /** Replies to the program's question whether to close the window (WindowRequest "close"). */
  closeWindow(close: boolean): void;
  /** Closes the window as its own button does: it goes to the tray where there is one, and asks where an answer would be cut short. */
  leaveWindow(): void;
  /** Pieces of streams. Returns what ends the subscription. */
  onFrame(listener: (frame: Frame) => void): () => void;
  /** Everything else that became different. */
  onChange(listener: (change: Change) => void): () => void;
  /** What is asked of the page from outside it. */
  onWindowRequest(listener: (request: WindowRequest) => void): () => void;
}

const key = Symbol('backend');

export function setBackend(backend: Backend): Backend {
  return setContext(key, backend);
}

export function getBackend(): Backend {
  return getContext<Backend>(key);
}
