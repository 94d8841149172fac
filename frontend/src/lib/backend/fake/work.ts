/** Tasks of the fake program: they advance step by step, end as scripted, and can be cancelled. */
import type { Background, CheckReport, ErrorView, ImportReport, TaskView, TasksKind, WindowRequest, WorkService } from '../types';
import type { Phrase } from '../../i18n/program';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeStore } from './store';

/** The script of a task: the progress of each step, and its result. */
export interface TaskScript {
  kind: TasksKind;
  title: Phrase;
  unit: string;
  total: number;
  /** The text of the current step, one for each. */
  details: readonly string[];
  /** It fails after the last step. */
  fails?: ErrorView;
  /** The result when it is done, or the partial result when it was cancelled. */
  ends: (cancelled: boolean) => { path?: string; import?: ImportReport; check?: CheckReport };
}

export function taskView(more: Partial<TaskView> = {}): TaskView {
  return {
    id: 'task1', kind: 'import', title: 'Import conversations.json', state: 'running', done: 0, total: 0, unit: '', detail: '', startedAt: 0, endedAt: 0,
    error: null, path: '', import: null, check: null, resumable: false, firm: false, ...more,
  };
}

export class FakeTasks {
  /** Newest first. */
  list: TaskView[] = [];
  paused = false;
  waiting: WindowRequest[] = [];
  readonly #store: FakeStore;
  readonly #stepMs: number;
  readonly #scripts = new Map<string, TaskScript>();
  readonly #listeners = new Set<(request: WindowRequest) => void>();

  constructor(store: FakeStore, stepMs: number) {
    this.#store = store;
    this.#stepMs = stepMs;
  }

  onWindowRequest(listener: (request: WindowRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  requestWindow(request: Partial<WindowRequest>): void {
    for (const listener of [...this.#listeners]) listener({ kind: 'files', sessionId: '', files: [], x: -1, y: -1, ...request });
  }

  start(script: TaskScript): TaskView {
    const task = taskView({ id: this.#store.id('task'), kind: script.kind, title: script.title, unit: script.unit, total: script.total, firm: script.kind === 'move', startedAt: this.#store.now() });
    this.list = [task, ...this.list];
    this.#scripts.set(task.id, script);
    this.#changed(task);
    this.#step(task, 0);
    return task;
  }

  cancel(id: string): void {
    const task = this.find(id);
    if (task.state === 'running') this.#end(task, 'cancelled', this.#scripts.get(id)?.ends(true) ?? {});
  }

  /** Continues an interrupted task. The progress of a task of an earlier run is unknown here and assumed to be half. */
  resume(id: string): TaskView {
    const task = this.find(id);
    if (!task.resumable) throw new BackendError(errorView('This cannot be taken up again', 'Start it again.'));
    Object.assign(task, { state: 'running', resumable: false, endedAt: 0, error: null });
    const script = this.#scripts.get(id) ?? { kind: task.kind, title: task.title, unit: task.unit, total: task.total, details: ['', ''], ends: () => ({ ...(task.import ? { import: { ...task.import, cancelled: false } } : {}) }) };
    this.#scripts.set(id, { ...script, fails: undefined });
    this.#changed(task);
    this.#step(task, Math.round((task.done / Math.max(1, task.total)) * script.details.length));
    return task;
  }

  dismiss(id: string): void {
    if (this.find(id).state === 'running') throw new BackendError(errorView('It is still running', 'Cancel it first.'));
    this.list = this.list.filter((task) => task.id !== id);
    this.#store.changed('task', id, '');
  }

  find(id: string): TaskView {
    const task = this.list.find((candidate) => candidate.id === id);
    if (!task) throw new BackendError(errorView('There is no such work', '', 'not_found'));
    return task;
  }

  #step(task: TaskView, at: number): void {
    setTimeout(() => {
      if (task.state !== 'running') return;
      const script = this.#scripts.get(task.id)!;
      if (at < script.details.length) {
        Object.assign(task, { done: Math.round((script.total * (at + 1)) / script.details.length), detail: script.details[at] });
        this.#changed(task);
        return this.#step(task, at + 1);
      }
      if (script.fails) this.#end(task, 'failed', {}, script.fails);
      else this.#end(task, 'done', script.ends(false));
    }, this.#stepMs);
  }

  #end(task: TaskView, state: string, result: ReturnType<TaskScript['ends']>, error: ErrorView | null = null): void {
    Object.assign(task, { state, error, endedAt: this.#store.now(), detail: '', path: result.path ?? task.path, import: result.import ?? task.import, check: result.check ?? null, resumable: task.kind === 'import' && state !== 'done' });
    this.#changed(task);
  }

  #changed(task: TaskView): void {
    this.#store.changed('task', task.id, '');
  }
}

export function workService(store: FakeStore, tasks: FakeTasks): WorkService {
  const background = (): Background => ({
    paused: tasks.paused, queued: store.jobs.filter((job) => job.state === 'queued').length, running: tasks.paused ? 0 : store.jobs.filter((job) => job.state === 'running').length,
    failed: store.jobs.filter((job) => job.state === 'dead').length,
  });
  return {
    tasks: async () => tasks.list,
    cancel: async (id) => tasks.cancel(id),
    resume: async (id) => tasks.resume(id),
    dismiss: async (id) => tasks.dismiss(id),
    background: async () => background(),
    pause: async (paused) => {
      tasks.paused = paused;
      store.changed('jobs', '', '');
      return background();
    },
    newWindow: async () => undefined,
    showInFirst: async () => undefined,
    quit: async () => undefined,
    windowRequests: async () => tasks.waiting.splice(0),
  };
}
