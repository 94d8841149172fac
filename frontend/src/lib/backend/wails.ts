/**
 * The program behind the window, over Wails' bridge. The only file that knows the bridge exists: services are bound
 * under window.go.api, events arrive through window.runtime.
 */
import type {
  Backend,
  BranchesService,
  ChatService,
  EmbeddersService,
  InspectService,
  LibraryService,
  MemoryService,
  ProgramsService,
  ProjectsService,
  SearchService,
  ServersService,
  SessionsService,
  SettingsService,
  StorageService,
  ToolsService,
  TransferService,
  WorkService,
} from './backend';
import { answerClose, leaveWindow } from './window';
import { toBackendError } from './errors';
import { withEmptyLists } from './lists';
import { EVENT_CHANGE, EVENT_FRAME, EVENT_SUMMONS, type Change, type DraggedFile, type ExportRequest, type Frame, type WindowRequest } from './types';

type Bound = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface WailsWindow {
  go?: { api?: Record<string, Bound> };
  runtime?: { EventsOn(name: string, listener: (data: unknown) => void): () => void };
  /** Bridges of the window's own web view: WebKit's on Linux and macOS, WebView2's on Windows. A browser has neither. */
  webkit?: { messageHandlers?: { external?: unknown } };
  chrome?: { webview?: { postMessage?: unknown } };
}

/** Methods of a service that return a list, which Go may send as null when it is empty. */
const listMethods: Record<string, readonly string[]> = {
  Sessions: ['list', 'folders'],
  Chat: ['temporaryTurns'],
  Inspect: ['pending', 'steps', 'suggestedPins'],
  Settings: ['models', 'saveModel', 'removeModel', 'setDefaultModel', 'keys', 'setKey', 'removeKey', 'localServers'],
  Transfer: ['inspect', 'pickFiles', 'importFiles'],
  Storage: ['backups', 'receipts'],
  Tools: ['calls'],
  Work: ['tasks', 'windowRequests'],
};

/** Whether this page runs inside the program. */
export function wailsPresent(): boolean {
  return (window as unknown as WailsWindow).go?.api !== undefined;
}

/** Whether the page runs in the window itself, which hands dropped files over with their paths, and not in a browser beside it. */
function inWindow(): boolean {
  const { webkit, chrome } = window as unknown as WailsWindow;
  return webkit?.messageHandlers?.external !== undefined || chrome?.webview?.postMessage !== undefined;
}

/** The services of the running program. */
export function wailsBackend(): Backend {
  return {
    sessions: service<SessionsService>('Sessions'),
    chat: service<ChatService>('Chat'),
    inspect: service<InspectService>('Inspect'),
    memory: service<MemoryService>('Memory'),
    branches: service<BranchesService>('Branches'),
    search: service<SearchService>('Search'),
    embedders: service<EmbeddersService>('Embedders'),
    programs: service<ProgramsService>('Programs'),
    library: service<LibraryService>('Library'),
    projects: service<ProjectsService>('Projects'),
    settings: service<SettingsService>('Settings'),
    transfer: service<TransferService>('Transfer'),
    storage: service<StorageService>('Storage'),
    tools: service<ToolsService>('Tools'),
    servers: service<ServersService>('Servers'),
    work: service<WorkService>('Work'),
    nativeDrops: inWindow(),
    dragFile,
    closeWindow: answerClose,
    leaveWindow: () => inWindow() && leaveWindow(),
    onFrame: (listener) => subscribe<Frame>(EVENT_FRAME, listener),
    onChange: (listener) => subscribe<Change>(EVENT_CHANGE, listener),
    onWindowRequest: (listener) => subscribe<WindowRequest>(EVENT_SUMMONS, listener),
  };
}

/** `list` here is `List` there; names are otherwise the same, so one proxy serves every method of the interface. */
function service<T extends object>(name: string): T {
  const lists = new Set(listMethods[name]);
  return new Proxy({} as T, {
    get: (_, method) => typeof method !== 'string' ? undefined : (...args: unknown[]) => call(name, method, args, lists.has(method)),
  });
}

async function call(name: string, method: string, args: unknown[], list: boolean): Promise<unknown> {
  const called = method.charAt(0).toUpperCase() + method.slice(1);
  const bound = (window as unknown as WailsWindow).go?.api?.[name]?.[called] ?? relayed(name, called);
  try {
    if (!bound) throw new Error(`The program does not offer ${name}.${method}`);
    const reply = await bound(...args);
    return list && reply === null ? [] : withEmptyLists(reply);
  } catch (thrown) {
    throw toBackendError(thrown);
  }
}

/** In a further window the services are in another process, which its own one asks (backend/api/dispatch.go). */
function relayed(name: string, method: string): Bound[string] | undefined {
  const relay = (window as unknown as WailsWindow).go?.api?.Relay?.Call;
  return relay && (async (...args) => JSON.parse((await relay(name, method, JSON.stringify(args))) as string) as unknown);
}

/** A request of the page itself, since a bound method cannot be waited for within an event (backend/api/drag.go). */
function dragFile(request: ExportRequest): DraggedFile {
  const asked = new XMLHttpRequest();
  asked.open('POST', '/drag', false);
  try {
    asked.send(JSON.stringify(request));
    if (asked.status !== 200) throw new Error(asked.responseText || 'The file was not written.');
    return JSON.parse(asked.responseText) as DraggedFile;
  } catch (thrown) {
    throw toBackendError(thrown);
  }
}

function subscribe<T>(event: string, listener: (data: T) => void): () => void {
  const off = (window as unknown as WailsWindow).runtime?.EventsOn(event, (data) => listener(withEmptyLists(data) as T));
  return off ?? (() => undefined);
}
