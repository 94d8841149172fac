import type { Backend } from '$lib/backend/backend';
import type { DraggedFile, ExportingScope, ExportRequest } from '$lib/backend/types';
import { isOwn } from '../ownDrag';
import { fits, type ExportState } from './exporting.svelte';

/** A part of the history that can be dragged out of the window. */
export interface Draggable {
  scope: ExportingScope;
  sessionId: string;
  branchId?: string;
  turnId?: string;
}

/** More than anyone drags at once; the export dialog handles larger selections. */
const maxFiles = 20;

/**
 * Files for drags out of the window. A file is written when a drag starts, not on every mouse press, because an export
 * must be intended. The start of the drag waits for the file, so that even a quick drag drops a complete one.
 */
export class DragOut {
  readonly #ours = new Set<string>();
  readonly #backend: Backend;
  readonly #exporting: Pick<ExportState, 'byDefault'>;

  constructor(backend: Backend, exporting: Pick<ExportState, 'byDefault'>) {
    this.#backend = backend;
    this.#exporting = exporting;
  }

  /** The drag starts: it carries the files if all could be written; otherwise it works only within the window. */
  put(event: DragEvent, parts: readonly Draggable[]): void {
    if (parts.length === 0 || parts.length > maxFiles) return;
    try {
      const files = parts.map((part) => this.#write(part));
      event.dataTransfer?.setData('text/uri-list', files.map((file) => file.uri).join('\r\n'));
    } catch {
      // If an export is not possible, the export dialog explains why.
    }
  }

  #write(part: Draggable): DraggedFile {
    const file = this.#backend.dragFile(this.#request(part));
    this.#ours.add(file.path);
    return file;
  }

  /** Whether a dropped path is a file that was dragged from this window; such a drop is ignored. */
  isOurs(path: string): boolean {
    return this.#ours.has(path);
  }

  /** Whether a drag from this window is in progress. */
  get dragging(): boolean {
    return isOwn();
  }

  #request(part: Draggable): ExportRequest {
    const { byDefault } = this.#exporting;
    return {
      scope: part.scope,
      sessionId: part.sessionId,
      branchId: part.branchId ?? '',
      turnId: part.turnId ?? '',
      allBranches: part.scope === 'session',
      format: fits(byDefault, part.scope) ? byDefault : 'md',
      quotes: false,
      sealed: false,
      archived: false,
      path: '',
      replace: false,
    };
  }
}
