import type { Backend } from '$lib/backend/backend';
import type { DraggedFile, ExportRequest } from '$lib/backend/types';
import { isOwn } from '../ownDrag';
import { fits, type ExportScope, type ExportState } from './exporting.svelte';

/** A part of the history that can be dragged out of the window. */
export interface Draggable {
  scope: ExportScope;
  sessionId: string;
  branchId?: string;
  turnId?: string;
}

/** More than anyone drags at once; the export dialog handles larger selections. */
const mostFiles = 20;

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
  put(event: DragEvent, what: readonly Draggable[]): void {
    if (what.length === 0 || what.length > mostFiles) return;
    try {
      const files = what.map((one) => this.#write(one));
      event.dataTransfer?.setData('text/uri-list', files.map((file) => file.uri).join('\r\n'));
    } catch {
      // If an export is not possible, the export dialog explains why.
    }
  }

  #write(one: Draggable): DraggedFile {
    const file = this.#backend.dragFile(this.#request(one));
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

  #request(one: Draggable): ExportRequest {
    const format = fits(this.#exporting.byDefault, one.scope) ? '' : 'md';
    return { scope: one.scope, sessionId: one.sessionId, branchId: one.branchId ?? '', turnId: one.turnId ?? '', allBranches: one.scope === 'session', format, quotes: false, archived: false, path: '', replace: false };
  }
}
