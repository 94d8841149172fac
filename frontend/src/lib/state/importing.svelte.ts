import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { DroppedFile, TaskView } from '$lib/backend/types';
import type { WorkState } from './work.svelte';

/** Whether a file can be imported; of a folder, its transcripts can. */
export const importable = (file: DroppedFile): boolean => file.reason === '' && ['transcript', 'bundle', 'folder'].includes(file.kind);

/** Importing: the chosen files, their types, and the imports that were started. */
export class ImportState {
  #open = $state(false);
  #files = $state.raw<readonly DroppedFile[]>([]);
  #started = $state.raw<readonly string[]>([]);
  #busy = $state<'' | 'reading' | 'beginning'>('');
  #error = $state.raw<BackendError | null>(null);
  /** Names of files that were dropped without their paths; the page explains why. Empty: none. */
  #pathless = $state.raw<readonly string[]>([]);
  path = $state('');
  /** Of the sealed files. It is forgotten with the dialog. */
  passphrase = $state('');
  readonly #backend: Backend;
  readonly #work: WorkState;

  constructor(backend: Backend, work: WorkState) {
    this.#backend = backend;
    this.#work = work;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Chosen files that were not started yet, in order. */
  get files(): readonly DroppedFile[] {
    return this.#files;
  }

  get ready(): readonly DroppedFile[] {
    return this.#files.filter(importable);
  }

  /** A file can only be read with its passphrase. */
  get asksPassphrase(): boolean {
    return this.ready.some((file) => file.sealed);
  }

  /** Without a passphrase, the sealed files of a folder are reported and the others imported. */
  get needsPassphrase(): boolean {
    return this.ready.some((file) => file.sealed && file.kind !== 'folder');
  }

  /** Imports that were started here, and those that were interrupted when the program ended. */
  get tasks(): readonly TaskView[] {
    return this.#work.tasks.filter((task) => task.kind === 'import' && (this.#started.includes(task.id) || task.state === 'running' || task.state === 'interrupted'));
  }

  get busy(): '' | 'reading' | 'beginning' {
    return this.#busy;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  get pathless(): readonly string[] {
    return this.#pathless;
  }

  show(files: readonly DroppedFile[] = []): void {
    this.#open = true;
    this.#take(files);
  }

  /** Shows dropped files of which only the names are known. */
  showPathless(names: readonly string[]): void {
    this.#pathless = names;
    this.show();
  }

  /** Running imports continue. Files that were not started are dropped. */
  close(): void {
    this.#open = false;
    this.#files = [];
    this.#started = [];
    this.#pathless = [];
    this.#error = null;
    this.path = '';
    this.passphrase = '';
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

  /** Starts everything that can be imported; the rest stays in the list with the reason. */
  begin = (): Promise<void> =>
    this.#do('beginning', async () => {
      const tasks = await this.#backend.transfer.importFiles(this.ready.map((file) => file.path), '', this.asksPassphrase ? this.passphrase : '');
      this.passphrase = '';
      this.#files = this.#files.filter((file) => !importable(file));
      this.#started = [...this.#started, ...tasks.map((task) => task.id)];
      this.#work.adopt(tasks);
    });

  async #inspect(paths: readonly string[]): Promise<DroppedFile[]> {
    return paths.length === 0 ? [] : this.#backend.transfer.inspect([...paths]);
  }

  /** A file that is chosen again is read again. */
  #take(files: readonly DroppedFile[]): void {
    const paths = new Set(files.map((file) => file.path));
    this.#files = [...this.#files.filter((file) => !paths.has(file.path)), ...files];
  }

  async #do(activity: 'reading' | 'beginning', act: () => Promise<void>): Promise<void> {
    if (this.#busy !== '') return;
    this.#busy = activity;
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
