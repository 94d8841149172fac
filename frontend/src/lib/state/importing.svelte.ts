import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { DroppedFile, TaskView } from '$lib/backend/types';
import type { WorkState } from './work.svelte';

/** What can be imported; of a folder, the transcripts in it. */
export const importable = (file: DroppedFile): boolean => file.reason === '' && ['transcript', 'bundle', 'folder'].includes(file.kind);

/** Files on their way into the history: which were given, what they are, and the outcome of those that were begun. */
export class ImportState {
  #open = $state(false);
  #files = $state.raw<readonly DroppedFile[]>([]);
  #started = $state.raw<readonly string[]>([]);
  #busy = $state<'' | 'reading' | 'beginning'>('');
  #error = $state.raw<BackendError | null>(null);
  /** Why files have to be named by their paths; empty: nothing to explain. */
  #pathless = $state.raw<readonly string[]>([]);
  path = $state('');
  readonly #backend: Backend;
  readonly #work: WorkState;

  constructor(backend: Backend, work: WorkState) {
    this.#backend = backend;
    this.#work = work;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Given and not begun yet, in the order they came. */
  get files(): readonly DroppedFile[] {
    return this.#files;
  }

  get ready(): readonly DroppedFile[] {
    return this.#files.filter(importable);
  }

  /** Imports that were begun here, and those an end of the program cut off. */
  get tasks(): readonly TaskView[] {
    return this.#work.tasks.filter((task) => task.kind === 'import' && (this.#started.includes(task.id) || task.state === 'running' || task.state === 'interrupted'));
  }

  get busy(): '' | 'reading' | 'beginning' {
    return this.#busy;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** Names of files that were dropped where the page is not told their paths. */
  get pathless(): readonly string[] {
    return this.#pathless;
  }

  show(files: readonly DroppedFile[] = []): void {
    this.#open = true;
    this.#take(files);
  }

  /** Dropped files of which the page knows names alone. */
  showPathless(names: readonly string[]): void {
    this.#pathless = names;
    this.show();
  }

  /** What runs continues. What was chosen and not begun is forgotten. */
  close(): void {
    this.#open = false;
    this.#files = [];
    this.#started = [];
    this.#pathless = [];
    this.#error = null;
    this.path = '';
  }

  remove(path: string): void {
    this.#files = this.#files.filter((file) => file.path !== path);
  }

  choose = (): Promise<void> => this.#do('reading', async () => this.#take(await this.#inspect(await this.#backend.transfer.pickFiles())));

  async addPath(): Promise<void> {
    const path = this.path.trim().replace(/^(["'])(.*)\1$/, '$2'); // as file managers copy it
    if (path === '') return;
    await this.#do('reading', async () => {
      this.#take(await this.#inspect([path]));
      this.path = '';
      this.#pathless = [];
    });
  }

  /** Begins with all that can be imported; what cannot stays in the list, with its reason. */
  begin = (): Promise<void> =>
    this.#do('beginning', async () => {
      const tasks = await this.#backend.transfer.importFiles(this.ready.map((file) => file.path), '');
      this.#files = this.#files.filter((file) => !importable(file));
      this.#started = [...this.#started, ...tasks.map((task) => task.id)];
      this.#work.adopt(tasks);
    });

  async #inspect(paths: readonly string[]): Promise<DroppedFile[]> {
    return paths.length === 0 ? [] : this.#backend.transfer.inspect([...paths]);
  }

  /** A file that is given twice is read as it is now. */
  #take(files: readonly DroppedFile[]): void {
    const paths = new Set(files.map((file) => file.path));
    this.#files = [...this.#files.filter((file) => !paths.has(file.path)), ...files];
  }

  async #do(what: 'reading' | 'beginning', act: () => Promise<void>): Promise<void> {
    if (this.#busy !== '') return;
    this.#busy = what;
    this.#error = null;
    try {
      await act();
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    } finally {
      this.#busy = '';
    }
  }
}
