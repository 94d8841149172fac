import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { ExportPlan, ExportRequest } from '$lib/backend/types';
import type { ExportTarget } from './exporting.svelte';
import type { WorkState } from './work.svelte';

/** A page for reading, or a file that another ContextInfinity can import. */
export type ShareFormat = 'html' | 'bundle';

/** One conversation as a file for someone else: selected, saved with the system's dialog, and shown in its folder. */
export class SharingState {
  #target = $state.raw<ExportTarget | null>(null);
  #format = $state<ShareFormat>('html');
  #plan = $state.raw<ExportPlan | null>(null);
  #error = $state.raw<BackendError | null>(null);
  #saving = $state(false);
  #quotes = $state(false);
  #serial = 0;
  readonly #backend: Backend;
  readonly #work: WorkState;

  constructor(backend: Backend, work: WorkState) {
    this.#backend = backend;
    this.#work = work;
  }

  get target(): ExportTarget | null {
    return this.#target;
  }

  get format(): ShareFormat {
    return this.#format;
  }

  /** What the file would contain; null until it is known. */
  get plan(): ExportPlan | null {
    return this.#plan;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  get saving(): boolean {
    return this.#saving;
  }

  /** A bundle includes the requests that quoted other sessions. Chosen separately for each conversation. */
  get quotes(): boolean {
    return this.#quotes;
  }

  setQuotes(quotes: boolean): void {
    this.#quotes = quotes;
  }

  /** target.branchId is the branch to export as a page; empty: the session's open branch. */
  show(target: ExportTarget): void {
    this.#target = target;
    this.#quotes = false;
    void this.ask();
  }

  close(): void {
    this.#serial++;
    this.#target = null;
  }

  choose(format: ShareFormat): void {
    this.#format = format;
    void this.ask();
  }

  /** Asks what the file would contain. An outdated reply is dropped. */
  async ask(): Promise<void> {
    const serial = ++this.#serial;
    this.#plan = null;
    this.#error = null;
    try {
      const plan = await this.#backend.transfer.plan(this.#request(''));
      if (serial === this.#serial) this.#plan = plan;
    } catch (thrown) {
      if (serial === this.#serial) this.#error = toBackendError(thrown);
    }
  }

  /** Asks for the location, and writes the file there. It is shown in its folder when it is complete. */
  async save(): Promise<void> {
    const plan = this.#plan;
    if (!plan || plan.turns === 0 || this.#saving) return;
    this.#saving = true;
    this.#error = null;
    try {
      const path = await this.#backend.transfer.pickTarget(plan.path);
      if (path === '') return;
      const task = await this.#backend.transfer.export(this.#request(path), '');
      this.close();
      this.#work.adopt([task], (done) => void this.#work.reveal(done));
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    } finally {
      this.#saving = false;
    }
  }

  /** The system's dialog has already asked before returning the name of an existing file. */
  #request(path: string): ExportRequest {
    const { sessionId = '', branchId = '' } = this.#target ?? {};
    const page = this.#format === 'html';
    return { scope: page && branchId !== '' ? 'branch' : 'session', sessionId, branchId: page ? branchId : '', turnId: '', allBranches: !page, format: this.#format, quotes: !page && this.#quotes, sealed: false, archived: false, path, replace: path !== '' };
  }
}
