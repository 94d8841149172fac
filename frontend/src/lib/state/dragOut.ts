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

/** More than anyone drags at once; the rest is exported by the dialog. */
const mostFiles = 20;

/**
 * Files for drags out of the window. A file is written when the drag begins, not when the pointer goes down: an export
 * is made on purpose. The beginning of the drag waits for it, so that however quick the drag is, it drops a whole file.
 */
export class DragOut {
  readonly #ours = new Set<string>();
  readonly #backend: Backend;
  readonly #exporting: Pick<ExportState, 'byDefault'>;

  constructor(backend: Backend, exporting: Pick<ExportState, 'byDefault'>) {
    this.#backend = backend;
    this.#exporting = exporting;
  }

  /** The drag begins: it carries the files, if all of them could be written. Else it is one within the window only. */
  put(event: DragEvent, what: readonly Draggable[]): void {
    if (what.length === 0 || what.length > mostFiles) return;
    try {
      const files = what.map((one) => this.#write(one));
      event.dataTransfer?.setData('text/uri-list', files.map((file) => file.uri).join('\r\n'));
    } catch {
      // The export dialog says why where an export cannot be made.
    }
  }

  #write(one: Draggable): DraggedFile {
    const file = this.#backend.dragFile(this.#request(one));
    this.#ours.add(file.path);
    return file;
  }

  /** Whether a dropped path is a file of ours: it was dragged within the window, and nothing is to be done with it. */
  isOurs(path: string): boolean {
    return this.#ours.has(path);
  }

  /** Whether a drag of this window is under way. */
  get dragging(): boolean {
    return isOwn();
  }

  #request(one: Draggable): ExportRequest {
    const format = fits(this.#exporting.byDefault, one.scope) ? '' : 'md';
    return { scope: one.scope, sessionId: one.sessionId, branchId: one.branchId ?? '', turnId: one.turnId ?? '', allBranches: one.scope === 'session', format, archived: false, path: '', replace: false };
  }
}
