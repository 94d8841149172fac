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
 * Files for drags out of the window. A drag can only carry a file that is there when it begins, so it is written when
 * the pointer goes down. One that is not there yet makes the drag what it was without: within the window only.
 */
export class DragOut {
  #ready = new Map<string, DraggedFile>();
  #pressed = 0;
  readonly #ours = new Set<string>();
  readonly #backend: Backend;
  readonly #exporting: Pick<ExportState, 'byDefault'>;

  constructor(backend: Backend, exporting: Pick<ExportState, 'byDefault'>) {
    this.#backend = backend;
    this.#exporting = exporting;
  }

  /** The pointer went down on it. A file that cannot be written costs the drag its file, nothing else. */
  async press(event: Pick<PointerEvent, 'button' | 'pointerType'>, what: readonly Draggable[]): Promise<void> {
    if (event.button !== 0 || event.pointerType === 'touch' || what.length > mostFiles) return;
    const pressed = ++this.#pressed;
    this.#ready = new Map();
    await Promise.all(
      what.map(async (one) => {
        try {
          const file = await this.#backend.transfer.dragFile(this.#request(one));
          this.#ours.add(file.path);
          if (pressed === this.#pressed) this.#ready.set(keyOf(one), file);
        } catch {
          // The drag goes on without a file; the dialog says why where an export cannot be made.
        }
      }),
    );
  }

  /** The drag begins: it carries the files if all of them are there. */
  put(event: DragEvent, what: readonly Draggable[]): void {
    const files = what.map((one) => this.#ready.get(keyOf(one))).filter((file) => file !== undefined);
    if (files.length < what.length || files.length === 0) return;
    event.dataTransfer?.setData('text/uri-list', files.map((file) => file.uri).join('\r\n'));
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

const keyOf = (one: Draggable): string => [one.scope, one.sessionId, one.branchId, one.turnId].join('/');
