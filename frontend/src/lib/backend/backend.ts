/**
 * The only interface between the window and the program (services of backend/api). Two implementations: wails.ts, the
 * real program, and fake.ts, an in-memory program for tests and for development of the page alone.
 */
import type { Change, DraggedFile, ExportRequest, Frame, Services, WindowRequest } from './types';

export interface Backend extends Services {
  /**
   * Files that are dropped on the window arrive with their paths, as a WindowRequest; otherwise the page only has them
   * as File objects.
   */
  readonly nativeDrops: boolean;
  /**
   * Writes the file for a drag out of the window and waits until it exists, since a drag can be given a file only when
   * it starts. Throws a BackendError.
   */
  dragFile(request: ExportRequest): DraggedFile;
  /** Replies to the program's question whether to close the window (WindowRequest "close"). */
  closeWindow(close: boolean): void;
  /**
   * Closes the window as its close button does: to the tray if there is one, and with a confirmation if an answer would
   * be interrupted.
   */
  leaveWindow(): void;
  /** Names the window, for lists of windows. */
  nameWindow(title: string): void;
  /** Parts of streams. Returns a function that unsubscribes. */
  onFrame(listener: (frame: Frame) => void): () => void;
  /** All other changes. */
  onChange(listener: (change: Change) => void): () => void;
  /** Requests to the page from outside it. */
  onWindowRequest(listener: (request: WindowRequest) => void): () => void;
}
