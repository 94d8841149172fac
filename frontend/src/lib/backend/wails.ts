/**
 * The real program, over the bridge of Wails. No other file uses the bridge: services are bound under window.go.api,
 * and events arrive through window.runtime.
 */
import { t } from '$lib/i18n/i18n.svelte';
import type { Backend } from './backend';
import { answerClose, leaveWindow } from './window';
import { toBackendError } from './errors';
import { lists, serviceNames, type DraggedFile, type Events, type ExportRequest, type Services } from './types';

type Bound = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface WailsWindow {
  go?: { api?: Record<string, Bound> };
  runtime?: { EventsOn(name: string, listener: (data: unknown) => void): () => void; WindowSetTitle?: (title: string) => void };
  /** Bridges of the window's own web view: WebKit's on Linux and macOS, WebView2's on Windows. A browser has none. */
  webkit?: { messageHandlers?: { external?: unknown } };
  chrome?: { webview?: { postMessage?: unknown } };
}

/** Whether this page runs inside the program. */
export function wailsPresent(): boolean {
  return (window as unknown as WailsWindow).go?.api !== undefined;
}

/** Whether the page runs in the real window, which reports the paths of dropped files, rather than in a browser. */
function inWindow(): boolean {
  const { webkit, chrome } = window as unknown as WailsWindow;
  return webkit?.messageHandlers?.external !== undefined || chrome?.webview?.postMessage !== undefined;
}

/** The services of the running program. */
export function wailsBackend(): Backend {
  return {
    ...(Object.fromEntries(serviceNames.map((name) => [name, service(name)])) as unknown as Services),
    nativeDrops: inWindow(),
    dragFile,
    closeWindow: answerClose,
    nameWindow: (title) => inWindow() && (window as unknown as WailsWindow).runtime?.WindowSetTitle?.(title),
    leaveWindow: () => inWindow() && leaveWindow(),
    onFrame: (listener) => subscribe('ci:frame', listener),
    onChange: (listener) => subscribe('ci:change', listener),
    onWindowRequest: (listener) => subscribe('ci:window-request', listener),
  };
}

/** `sessions.list` here is `Sessions.List` there: one proxy serves all methods of the interface. */
function service(name: string): object {
  return new Proxy({}, {
    get: (_, method) => typeof method !== 'string' ? undefined : (...args: unknown[]) => call(upperFirst(name), upperFirst(method), args),
  });
}

const upperFirst = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

async function call(name: string, method: string, args: unknown[]): Promise<unknown> {
  const bound = (window as unknown as WailsWindow).go?.api?.[name]?.[method] ?? relayed(name, method);
  try {
    if (!bound) throw new Error(t('errors.notOffered', { method: `${name}.${method}` }));
    return fromGo(await bound(...args), lists.results?.[`${name}.${method}`]);
  } catch (thrown) {
    throw toBackendError(thrown);
  }
}

/**
 * Replaces each null that Go sends for an empty list by [], and each time by its milliseconds, 0 for none. The shape is
 * an entry of `lists`.
 */
function fromGo(value: unknown, shape: string | undefined): unknown {
  if (shape === undefined) return value;
  if (shape === 'time') return Math.max(0, Date.parse(value as string) || 0);
  if (shape.endsWith('[]')) {
    const items = (value ?? []) as unknown[];
    if (shape !== '[]') for (const item of items) fromGo(item, shape.slice(0, -2));
    return items;
  }
  const object = value as Record<string, unknown> | null;
  if (object) for (const [name, field] of Object.entries(lists[shape] ?? {})) object[name] = fromGo(object[name], field);
  return object;
}

/**
 * In an additional window the services are in another process, which this window's process calls (backend/api/dispatch.go).
 */
function relayed(name: string, method: string): Bound[string] | undefined {
  const relay = (window as unknown as WailsWindow).go?.api?.Relay?.Call;
  return relay && (async (...args) => JSON.parse((await relay(name, method, JSON.stringify(args))) as string) as unknown);
}

/** An HTTP request, since an event handler cannot wait for a bound method (backend/api/drag.go). */
function dragFile(request: ExportRequest): DraggedFile {
  const xhr = new XMLHttpRequest();
  xhr.open('POST', '/drag', false);
  try {
    xhr.send(JSON.stringify(request));
    if (xhr.status !== 200) throw new Error(xhr.responseText || t('errors.notWritten'));
    return JSON.parse(xhr.responseText) as DraggedFile;
  } catch (thrown) {
    throw toBackendError(thrown);
  }
}

function subscribe<E extends keyof Events>(event: E, listener: (data: Events[E]) => void): () => void {
  const off = (window as unknown as WailsWindow).runtime?.EventsOn(event, (data) => listener(fromGo(data, lists.results?.[event]) as Events[E]));
  return off ?? (() => undefined);
}
