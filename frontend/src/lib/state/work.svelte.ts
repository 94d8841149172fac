import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import type { Background, ImportReport, TaskView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { program } from '$lib/i18n/program';
import type { Changes } from './changes';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';

/** When the last task ended of which it was said that the restart has done it. */
const toldKey = 'contextinfinity.restartedFor';

/** The minimum interval between requests for progress, in ms. */
const progressMs = 150;

/** Tasks that the user started, and background jobs. They continue whether or not they are shown. */
export class WorkState {
  #tasks = $state.raw<readonly TaskView[]>([]);
  #background = $state.raw<Background | null>(null);
  #open = $state(false);
  #failed = $state.raw<{ id: string; error: BackendError } | null>(null);
  /** Ended tasks whose report was opened: the line under the sessions no longer mentions them. */
  #opened = $state.raw<ReadonlySet<string>>(new Set());
  /** The number of views that show the tasks now: a task that ends while it is visible needs no toast. */
  #watchers = 0;
  readonly #whenDone = new Map<string, (task: TaskView) => void>();
  readonly #backend: Backend;
  readonly #toasts: ToastsState;
  readonly #storage: Storage;
  readonly #refresh = new Refresh(() => this.#load(), progressMs);
  readonly #backgroundRefresh = new Refresh(() => this.#loadBackground(), 250);
  readonly #offs: (() => void)[];

  constructor(backend: Backend, changes: Changes, toasts: ToastsState, storage: Storage) {
    this.#backend = backend;
    this.#toasts = toasts;
    this.#storage = storage;
    this.#offs = [
      changes.on(['task'], () => this.#refresh.soon()),
      changes.on(['jobs', 'settings'], () => this.#backgroundRefresh.soon()),
    ];
  }

  /** Newest first. */
  get tasks(): readonly TaskView[] {
    return this.#tasks;
  }

  get running(): readonly TaskView[] {
    return this.#tasks.filter((task) => task.state === 'running');
  }

  /** Ended tasks that need attention: failed, interrupted, or with a report, and not opened yet. */
  get unopened(): readonly TaskView[] {
    return this.#tasks.filter((task) => !this.#opened.has(task.id) && (task.state === 'failed' || task.state === 'interrupted' || (task.import !== null && task.state !== 'running') || (task.check?.problems ?? 0) > 0));
  }

  /** Null until loaded. */
  get background(): Background | null {
    return this.#background;
  }

  get paused(): boolean {
    return this.#background?.paused ?? false;
  }

  /** The list of tasks is open. */
  get open(): boolean {
    return this.#open;
  }

  show(): void {
    this.#open = true;
  }

  close(): void {
    this.#open = false;
  }

  /** Called while something shows the tasks. Returns a function that ends it. */
  watch(): () => void {
    this.#watchers++;
    return () => this.#watchers--;
  }

  markOpened(id: string): void {
    if (!this.#opened.has(id)) this.#opened = new Set([...this.#opened, id]);
  }

  /** Why the last action on this task failed. */
  errorOf(id: string): BackendError | undefined {
    return this.#failed?.id === id ? this.#failed.error : undefined;
  }

  async load(): Promise<void> {
    await Promise.all([this.#refresh.now(), this.#backgroundRefresh.now()]);
  }

  /** Called for a task that was just started; done is called for each of them that succeeds. */
  adopt(tasks: readonly TaskView[], done?: (task: TaskView) => void): void {
    for (const task of done ? tasks : []) {
      if (task.state === 'done') done!(task);
      else this.#whenDone.set(task.id, done!);
    }
    const ids = new Set(tasks.map((task) => task.id));
    this.#take([...tasks, ...this.#tasks.filter((task) => !ids.has(task.id))]);
    this.#refresh.soon();
  }

  cancel = (id: string): Promise<void> => this.#act(id, () => this.#backend.work.cancel(id));

  resume = (id: string): Promise<void> => this.#act(id, async () => this.adopt([await this.#backend.work.resume(id)]));

  dismiss = (id: string): Promise<void> =>
    this.#act(id, async () => {
      await this.#backend.work.dismiss(id);
      this.#tasks = this.#tasks.filter((task) => task.id !== id);
    });

  /** Shows the file a task has written. */
  reveal = (task: TaskView): Promise<void> => this.#act(task.id, () => this.#backend.transfer.reveal(task.path));

  /** Rejects on failure: the error is shown where the action was started. */
  async pause(paused: boolean): Promise<void> {
    this.#background = await this.#backend.work.pause(paused);
  }

  stop(): void {
    for (const off of this.#offs) off();
    this.#refresh.cancel();
    this.#backgroundRefresh.cancel();
  }

  async #act(id: string, act: () => Promise<unknown>): Promise<void> {
    this.#failed = null;
    try {
      await act();
    } catch (thrown) {
      this.#failed = { id, error: toBackendError(thrown) };
      if (this.#watchers === 0) this.#toasts.error(thrown);
    }
    this.#refresh.soon();
  }

  async #load(): Promise<void> {
    try {
      this.#take(await this.#backend.work.tasks());
    } catch {
      // The next change reads it again; the current data stays.
    }
  }

  async #loadBackground(): Promise<void> {
    try {
      this.#background = await this.#backend.work.background();
    } catch {
      // The next change reads it again.
    }
  }

  #take(tasks: readonly TaskView[]): void {
    const ran = new Set(this.running.map((task) => task.id));
    this.#tasks = tasks;
    const news = this.#newsOf(tasks);
    for (const task of tasks) if ((ran.has(task.id) || task === news) && task.state !== 'running') this.#notify(task);
  }

  /** The newest task that the program restarted for, if it is done: it ended before there was a page. It is said once. */
  #newsOf(tasks: readonly TaskView[]): TaskView | undefined {
    const done = tasks.find((task) => task.firm && task.state === 'done');
    if (!done || done.endedAt <= Number(this.#storage.getItem(toldKey))) return undefined;
    this.#storage.setItem(toldKey, String(done.endedAt));
    return done;
  }

  /** Reports a task that has just ended. Its card in the list of tasks shows this permanently. */
  #notify(task: TaskView): void {
    if (task.state === 'done') this.#whenDone.get(task.id)?.(task);
    this.#whenDone.delete(task.id);
    if (this.#watchers > 0 || task.state === 'cancelled') return;
    const title = program(task.title);
    if (task.state === 'failed') {
      const error = task.error ? new BackendError(task.error) : undefined;
      this.#toasts.show(error ? t('state.taskFailedWith', { title, error: error.message }) : t('state.taskFailed', { title }), { tone: 'danger', hint: error?.hint ?? '', action: { label: t('shared.show'), run: () => this.show() } });
    } else if (task.check && task.check.problems > 0) this.#toasts.show(t('state.problemsFound', { title, count: task.check.problems }), { tone: 'warn', action: { label: t('state.showReport'), run: () => this.show() } });
    else if (importedNothing(task)) this.#toasts.show(t('state.importEmpty', { title }), { tone: 'warn', action: { label: t('state.showReport'), run: () => this.show() } });
    else if (task.import) this.#toasts.show(t('state.taskDone', { title }), { tone: 'ok', action: { label: t('state.showReport'), run: () => this.show() } });
    else if (task.path !== '' && task.kind === 'export') this.#toasts.show(t('state.taskDone', { title }), { tone: 'ok', action: { label: t('shared.showInFolder'), run: () => void this.reveal(task) } });
    else this.#toasts.show(t('state.taskDone', { title }), { tone: 'ok' });
  }
}

/** Whether no conversation of the file is in the history, neither through this import nor from before. */
export const isEmpty = (report: ImportReport): boolean => report.sessions + report.grown + report.already === 0;

/** The import is done and found nothing to import. */
export const importedNothing = (task: TaskView): boolean => task.state === 'done' && task.import != null && isEmpty(task.import);
