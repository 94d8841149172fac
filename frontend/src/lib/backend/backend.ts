/**
 * The one interface between the window and the program (services of backend/api). Two implementations: wails.ts, the
 * program itself, and fake.ts, a program in memory for tests and for work on the window alone.
 */
import { getContext, setContext } from 'svelte';
import type { Change, DraggedFile, ExportRequest, Frame, Services, WindowRequest } from './types';

export interface Backend extends Services {
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
