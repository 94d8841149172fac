/**
 * An in-memory program, for tests and for development of the window without Go (`npm run dev`, ?fake). It implements
 * only the rules that the window depends on: revisions, frames by seq, queued messages, forks.
 */
import type { Backend } from './backend';
import type { ChatService, Draft, EmbedderView, ErrorView, SendRequest, SendResult, SessionsService, SettingsService, TurnView } from './types';
import { BackendError, toBackendError } from './errors';
import { arranging } from './fake/arranging';
import { branchesService } from './fake/branches';
import { embeddersService } from './fake/embedders';
import { documentBlocks, documents } from './fake/documents';
import { seedForks } from './fake/forks';
import { inspectService } from './fake/inspect';
import { memoryBlocks, memoryService } from './fake/memory';
import { presetViews } from './fake/presets';
import { Program, type ProgramSeed } from './fake/program';
import { libraryService } from './fake/library';
import { projectsService } from './fake/projects';
import { programsService } from './fake/programs';
import { searchService } from './fake/search';
import { enqueue, queues } from './fake/queue';
import { seed, seedMany } from './fake/seed';
import { sendToSeveral } from './fake/several';
import { block, emptyDraft, errorView } from './fake/shapes';
import { FakeServers, seedServers, serversService } from './fake/servers';
import { seedTools } from './fake/seedTools';
import { FakeTools, toolsService } from './fake/tools';
import { FakeDisk, sealingService, storageService } from './fake/storage';
import { FakeSync, syncService } from './fake/sync';
import { temporaryChats } from './fake/temporary';
import { draggedFile, fakeFiles, transferService, type FakeFiles } from './fake/transfer';
import { FakeTasks, workService } from './fake/work';
import { Streams, watchable, type Pace } from './fake/streaming';
import { FakeStore } from './fake/store';

export interface FakeOptions {
  /** "rich" has history, "empty" has none, "first" has neither history nor key, "fatal" cannot open its data, which is sealed in "locked". */
  data: 'rich' | 'empty' | 'first' | 'fatal' | 'locked';
  keyringOk: boolean;
  pace: Partial<Pace>;
  sessions: number;
  /** Forks of a session that shows a large tree; 0: no such session. */
  forks: number;
  /** Turns of the longest session. */
  longest: number;
  epoch: number;
  localServers: ProgramSeed['localServers'];
  /** Model embedders that are available. */
  embedders: readonly EmbedderView[];
  /** The time of one step of a task, in ms. */
  taskMs: number;
  nativeDrops: boolean;
  /** Adds example tool calls, definitions and servers. */
  tools: boolean;
}

export interface FakeBackend extends Backend {
  readonly store: FakeStore;
  readonly streams: Streams;
  readonly program: Program;
  readonly tasks: FakeTasks;
  readonly files: FakeFiles;
  readonly disk: FakeDisk;
  readonly toolbox: FakeTools;
  readonly mcp: FakeServers;
  readonly vault: FakeSync;
  /** Every call made so far, as "service.method" with its arguments. */
  readonly calls: { name: string; args: unknown[] }[];
  /** Makes the next call of "service.method" fail. */
  failNext(name: string, error: Partial<ErrorView>): void;
  /** Delays calls of "service.method" until the returned function is called. */
  hold(name: string): () => void;
}

export function fakeBackend(options: Partial<FakeOptions> = {}): FakeBackend {
  const data = options.data ?? 'rich';
  const store = new FakeStore(options.epoch);
  const streams = new Streams(store, { ...watchable, ...options.pace });
  const program = new Program({
    firstRun: data === 'first', fatal: data === 'fatal', keyringOk: options.keyringOk ?? true,
    localServers: options.localServers ?? [{ name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['qwen3:8b', 'llama3.3:70b'] }],
  });
  if (data === 'locked') program.startup.fatal = errorView('The data is sealed; nothing was read or changed.', '', 'sealed');
  if (data === 'rich') seed(store, options.longest ?? 300);
  seedMany(store, options.sessions ?? 0);
  if (options.forks) seedForks(store, options.forks);
  const tasks = new FakeTasks(store, options.taskMs ?? 5);
  const files = fakeFiles();
  const disk = new FakeDisk(program.startup.dataDir, store.epoch);
  const toolbox = new FakeTools(store);
  const mcp = new FakeServers(store);
  const vault = new FakeSync();
  if (options.tools) {
    seedTools(store, toolbox);
    seedServers(store, mcp);
  }
  const watch = new Watch();
  return {
    store, streams, program, tasks, files, disk, toolbox, mcp, vault, calls: watch.calls,
    failNext: (name, error) => watch.fail(name, error),
    hold: (name) => watch.hold(name),
    sessions: watch.service('sessions', sessionsService(store)),
    chat: watch.service('chat', chatService(store, streams)),
    inspect: watch.service('inspect', inspectService(store, streams)),
    branches: watch.service('branches', branchesService(store, streams)),
    memory: watch.service('memory', memoryService(store)),
    embedders: watch.service('embedders', embeddersService(store, options.embedders ?? [])),
    programs: watch.service('programs', programsService(store)),
    library: watch.service('library', libraryService(store)),
    projects: watch.service('projects', projectsService(store)),
    search: watch.service('search', searchService(store)),
    settings: watch.service('settings', settingsService(store, program)),
    transfer: watch.service('transfer', transferService(store, tasks, files)),
    storage: watch.service('storage', storageService(store, program, tasks, disk)),
    sealing: watch.service('sealing', sealingService(disk, tasks)),
    sync: watch.service('sync', syncService(store, tasks, program, vault)),
    tools: watch.service('tools', toolsService(store, toolbox, program)),
    servers: watch.service('servers', serversService(store, mcp, program)),
    work: watch.service('work', workService(store, tasks)),
    nativeDrops: options.nativeDrops ?? false,
    nameWindow: (title) => void watch.calls.push({ name: 'nameWindow', args: [title] }),
    leaveWindow: () => void watch.calls.push({ name: 'leaveWindow', args: [] }),
    closeWindow: (close) => void watch.calls.push({ name: 'closeWindow', args: [close] }),
    dragFile: (request) => watch.now('dragFile', [request], () => draggedFile(request)),
    onFrame: (listener) => store.onFrame(listener),
    onChange: (listener) => store.onChange(listener),
    onWindowRequest: (listener) => tasks.onWindowRequest(listener),
  };
}

/** Sits between the window and the services: records, fails and delays calls, and returns copies of the data. */
class Watch {
  readonly calls: { name: string; args: unknown[] }[] = [];
  readonly #failures = new Map<string, ErrorView>();
  readonly #held = new Map<string, Promise<void>>();

  fail(name: string, error: Partial<ErrorView>): void {
    this.#failures.set(name, { ...errorView('It did not work'), ...error });
  }

  hold(name: string): () => void {
    let release = () => {};
    this.#held.set(name, new Promise((resolve) => (release = resolve)));
    return () => {
      this.#held.delete(name);
      release();
    };
  }

  service<T extends object>(name: string, service: T): T {
    const call = (method: string) => async (...args: unknown[]) => this.#call(`${name}.${method}`, (service as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!, args);
    return new Proxy(service, { get: (_, method) => (typeof method === 'string' && method in service ? call(method) : undefined) });
  }

  /** A call that returns synchronously; it cannot be delayed. */
  now<T>(name: string, args: unknown[], method: () => T): T {
    this.calls.push({ name, args });
    const failure = this.#failures.get(name);
    this.#failures.delete(name);
    if (failure) throw new BackendError(failure);
    return method();
  }

  async #call(name: string, method: (...args: unknown[]) => Promise<unknown>, args: unknown[]): Promise<unknown> {
    this.calls.push({ name, args });
    await this.#held.get(name);
    const failure = this.#failures.get(name);
    this.#failures.delete(name);
    if (failure) throw new BackendError(failure);
    try {
      return structuredClone(await method(...args));
    } catch (thrown) {
      throw toBackendError(thrown);
    }
  }
}

function sessionsService(store: FakeStore): SessionsService {
  const listChanged = (id: string) => store.changed('sessions', id, id);
  const open = async (sessionId: string, branchId: string) => store.snapshot(sessionId, branchId);
  const fork = async (sessionId: string, parentId: string, forkSeq: number, label: string, activate = true) => {
    const branch = store.addBranch(sessionId, label || `fork ${store.session(sessionId).branchIds.length}`, parentId, forkSeq);
    if (activate) store.session(sessionId).row.activeBranch = branch.view.id;
    store.changed('session', sessionId, sessionId);
    return store.branchViewOf(branch);
  };
  return {
    list: async (archived, title) =>
      [...store.sessions.values()]
        .map((session) => store.row(session))
        .filter((row) => row.archived === archived && row.title.toLowerCase().includes(title.toLowerCase()))
        .sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.updatedAt - a.updatedAt),
    create: async (title) => {
      const session = store.addSession(title);
      listChanged(session.row.id);
      return store.row(session);
    },
    rename: async (id, title) => {
      store.session(id).row.title = title;
      listChanged(id);
      store.changed('session', id, id);
    },
    archive: async (id, archived) => {
      store.session(id).row.archived = archived;
      listChanged(id);
    },
    pin: async (id, pinned) => {
      store.session(id).row.pinned = pinned;
      listChanged(id);
    },
    open,
    turns: async (branchId, fromSeq, toSeq) => ({ rev: store.rev, turns: store.lineage(branchId).filter((turn) => turn.seq >= fromSeq && turn.seq <= toSeq).slice(0, 200) }),
    turn: async (_branchId, turnId) => store.turn(turnId), // also of another branch, as in the program
    header: async (branchId, model) => store.header(branchId, model),
    fork: async (turnId, before, label) => {
      const turn = store.turn(turnId);
      return fork(store.branch(turn.branchId).sessionId, turn.branchId, before ? turn.seq - 1 : turn.seq, before ? `from #${turn.seq}: ${label}` : label, !before);
    },
    rollback: async (sessionId, stateId) => {
      const parent = store.session(sessionId).row.activeBranch;
      const seq = store.branch(parent).states.find((state) => state.id === stateId)?.turnSeq ?? 0;
      return fork(sessionId, parent, seq, `back to #${seq}`);
    },
    switch: async (sessionId, branchId) => {
      store.session(sessionId).row.activeBranch = store.branch(branchId).view.id;
      store.changed('session', sessionId, sessionId);
    },
    renameBranch: async (branchId, label) => {
      const branch = store.branch(branchId);
      branch.view.label = label;
      store.changed('session', branch.sessionId, branch.sessionId);
    },
    ...arranging(store),
    draft: async (branchId) => store.branch(branchId).draft,
    saveDraft: async (branchId, draft) => {
      store.branch(branchId).draft = structuredClone(draft) as Draft;
    },
    sessionSettings: async (sessionId) => store.session(sessionId).settings,
    importedInstructions: async (sessionId) => store.session(sessionId).imported ?? { source: '', text: '', cut: false },
    setSessionSettings: async (sessionId, settings) => {
      const { temperature } = settings;
      if (temperature !== '' && !(Number(temperature) >= 0 && Number(temperature) <= 2)) throw new BackendError(errorView(`A temperature is a number from 0 to 2, not “${temperature}”`, 'Leave it empty for the model’s own.'));
      store.session(sessionId).settings = { ...settings };
      store.changed('session', sessionId, sessionId);
    },
  };
}

function chatService(store: FakeStore, streams: Streams): ChatService {
  const attempt = (turn: TurnView, model: string): SendResult => {
    if (model !== '') turn.model = model;
    Object.assign(turn, { attempts: turn.attempts + 1, error: null, assistant: [] });
    streams.start(turn);
    return { sessionId: store.sessionOf(turn).row.id, branchId: turn.branchId, turnId: turn.id, queued: false };
  };
  const move = (turnId: string, more: Partial<TurnView>) => store.touch(Object.assign(store.turn(turnId), more));
  return {
    send: async (request) => send(store, streams, request),
    sendToSeveral: async (request, models) => sendToSeveral(store, streams, models, () => send(store, streams, { ...request, model: models[0]! })),
    stop: async (turnId) => streams.stop(turnId),
    keep: async (turnId) => move(turnId, { state: 'pending', phase: 'ResponseFinalized', outcome: 'kept', error: null }),
    discard: async (turnId) => move(turnId, { state: 'failed', phase: 'Failed', outcome: 'discarded', error: null }),
    retry: async (turnId, model) => {
      const turn = store.turn(turnId);
      return ['incomplete', 'failed'].includes(turn.state) ? attempt(turn, model) : regenerate(store, streams, turn, model);
    },
    continue: async (turnId, model) => attempt(store.turn(turnId), model),
    sendUnsent: async (turnId, model) => attempt(store.turn(turnId), model),
    stream: async (stepId) => {
      const run = streams.find(stepId);
      if (!run) throw new BackendError(errorView('That step has ended', '', 'not_found'));
      return { step: stepId, attempt: run.turn.attempts, seq: run.seq, blocks: run.turn.assistant, displayed: run.turn.displayed, durable: run.turn.durable, live: true };
    },
    ...documents(store),
    ...queues(store, streams),
    countTokens: async (text) => Math.ceil(text.length / 4),
    setModel: async (sessionId, model) => {
      store.session(sessionId).model = model;
      store.changed('session', sessionId, sessionId);
    },
    ...temporaryChats(store, streams.pace),
  };
}

function send(store: FakeStore, streams: Streams, request: SendRequest): SendResult {
  const session = request.sessionId === '' ? store.addSession('') : store.session(request.sessionId);
  const branch = store.branch(request.branchId || session.row.activeBranch);
  const named = { sessionId: session.row.id, branchId: branch.view.id };
  const last = store.lineage(branch.view.id).at(-1);
  if (request.text.trim() === '' && request.images.length === 0 && request.files.length === 0) throw new BackendError(errorView('There is nothing to send', 'Write a message first.', 'invalid'));
  if (last && ['accepted', 'preparing', 'responding', 'waiting'].includes(last.state)) {
    enqueue(store, branch, { text: request.text, images: request.images, files: request.files, memories: request.memories });
    branch.draft = emptyDraft();
    return { ...named, turnId: '', queued: true };
  }
  if (last?.state === 'incomplete') resolveIncomplete(store, last, request.incomplete);
  const images = request.images.map((image) => block('image', image.name, { name: image.mediaType, data: `data:${image.mediaType};base64,${image.data}` }));
  const turn = store.addTurn(branch.view.id, { user: [...documentBlocks(request.files), ...memoryBlocks(request.memories), ...images, block('text', request.text)], assistant: [], memories: request.memories.length, displayed: 0, durable: 0, model: request.model || session.model, inputTokens: 0, outputTokens: 0 });
  branch.draft = emptyDraft();
  streams.start(turn);
  if (session.row.activeBranch !== branch.view.id) {
    session.row.activeBranch = branch.view.id;
    store.changed('session', session.row.id, session.row.id);
  }
  return { ...named, turnId: turn.id, queued: false };
}

/** Regenerates the answer of a final turn: the same message on a fork before it. */
function regenerate(store: FakeStore, streams: Streams, turn: TurnView, model: string): SendResult {
  const session = store.sessionOf(turn);
  const fork = store.addBranch(session.row.id, `fork ${session.branchIds.length}`, turn.branchId, turn.seq - 1);
  session.row.activeBranch = fork.view.id;
  const created = store.addTurn(fork.view.id, { user: turn.user, assistant: [], memories: turn.memories, displayed: 0, durable: 0, model: model || turn.model, retryOf: turn.id, inputTokens: 0, outputTokens: 0 });
  streams.start(created);
  store.changed('session', session.row.id, session.row.id);
  return { sessionId: session.row.id, branchId: fork.view.id, turnId: created.id, queued: false };
}

function resolveIncomplete(store: FakeStore, turn: TurnView, decision: string): void {
  if (decision === '') throw new BackendError(errorView(`The answer to #${turn.seq} is incomplete`, 'Keep it or discard it first.', 'incomplete'));
  Object.assign(turn, decision === 'keep' ? { state: 'pending', phase: 'ResponseFinalized', outcome: 'kept' } : { state: 'failed', phase: 'Failed', outcome: 'discarded' });
  store.touch(turn);
}

function settingsService(store: FakeStore, program: Program): SettingsService {
  const changed = <T>(reply: T): T => {
    store.changed('settings', '', '');
    return reply;
  };
  return {
    startup: async () => program.startup,
    finishFirstRun: async (model) => {
      program.startup.firstRun = false;
      if (model !== '') program.setDefaultModel(model);
      changed(undefined);
    },
    settings: async () => program.view(),
    set: async (key, value) => changed(program.set(key, value)),
    reset: async (key) => changed(program.reset(key)),
    models: async () => program.models,
    saveModel: async (model) => changed(program.saveModel(model)),
    removeModel: async (name) => changed(program.removeModel(name)),
    setDefaultModel: async (name) => changed(program.setDefaultModel(name)),
    keys: async () => program.keys,
    setKey: async (provider, key) => changed(program.setKey(provider, key)),
    removeKey: async (provider) => changed(program.removeKey(provider)),
    testKey: async (provider, key, baseURL) => program.testKey(provider, key, baseURL),
    localServers: async () => program.localServers,
    presets: async () => presetViews(),
    modelPlaces: async () => program.places(),
    offeredModels: async (place) => program.offers(place),
    addOffered: async (place, modelId) => changed(program.addOffered(place, modelId)),
    setFavourite: async (name, favourite) => changed(program.setFavourite(name, favourite)),
    setWindow: async (name, tokens) => changed(program.setWindow(name, tokens)),
    costs: async () => program.costs,
    openExternal: async (url) => {
      if (!/^https?:\/\//.test(url)) throw new BackendError(errorView('Only web addresses can be opened', '', 'invalid'));
    },
    quickKey: async () => program.quickKey(),
    updates: async () => program.updates,
    checkForUpdates: async () => (program.updates = { ...program.updates, ...program.feed }),
    autostart: async () => program.autostart,
    setAutostart: async (on) => (program.autostart = { ...program.autostart, on, other: '' }),
    version: async () => program.startup.version,
  };
}
