import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { MovePreview, RestorePreview, TaskView } from '$lib/backend/types';
import type { WorkState } from './work.svelte';

/** The operations on all data that have a dialog. */
export type StorageDialog = 'backup' | 'restore' | 'move';

/** The dialogs about the data directory: each checks first, shows what would happen, and only then starts. */
export class StorageState {
  #asking = $state<StorageDialog | null>(null);
  #path = $state('');
  /** Writes the backup to the folder of backups. */
  #usual = $state(true);
  #restore = $state.raw<RestorePreview | null>(null);
  #move = $state.raw<MovePreview | null>(null);
  #taskId = $state('');
  #begun = $state(false);
  #busy = $state<'' | 'checking' | 'choosing' | 'beginning'>('');
  #error = $state.raw<BackendError | null>(null);
  #serial = 0;
  readonly #backend: Backend;
  readonly #work: WorkState;

  constructor(backend: Backend, work: WorkState) {
    this.#backend = backend;
    this.#work = work;
  }

  get asking(): StorageDialog | null {
    return this.#asking;
  }

  /** The typed or chosen file or folder. */
  get path(): string {
    return this.#path;
  }

  set path(path: string) {
    if (path === this.#path) return;
    this.#path = path;
    this.#forget();
  }

  get usual(): boolean {
    return this.#usual;
  }

  set usual(usual: boolean) {
    this.#usual = usual;
    this.#error = null;
  }

  /** What a restore would replace, and with what; null before the check. */
  get restoring(): RestorePreview | null {
    return this.#restore;
  }

  get moving(): MovePreview | null {
    return this.#move;
  }

  get busy(): '' | 'checking' | 'choosing' | 'beginning' {
    return this.#busy;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /**
   * It was started and continues automatically: a backup as a task, a restore or a move at the next start of the
   * program.
   */
  get begun(): boolean {
    return this.#begun;
  }

  get task(): TaskView | undefined {
    return this.#work.tasks.find((task) => task.id === this.#taskId);
  }

  get ready(): boolean {
    if (this.#asking === 'backup') return this.#usual || this.#path.trim() !== '';
    return this.#asking === 'restore' ? this.#restore !== null : this.#move !== null && this.#move.reason === '';
  }

  askBackup(): void {
    this.#ask('backup');
  }

  /** From that file; empty: not chosen yet. */
  askRestore(path = ''): void {
    this.#ask('restore', path);
    if (path !== '') void this.check();
  }

  askMove(): void {
    this.#ask('move');
  }

  close(): void {
    this.#asking = null;
    this.#forget();
  }

  /** Opens the system's dialog to choose the file or folder. */
  async choose(): Promise<void> {
    const asking = this.#asking;
    const { transfer, storage } = this.#backend;
    await this.#act('choosing', async (isCurrent) => {
      const path = asking === 'move' ? await storage.pickFolder() : asking === 'backup' ? await transfer.pickTarget('contextinfinity-backup.db') : (await transfer.pickFiles())[0];
      if (path && isCurrent()) this.#path = path;
    });
    if (this.#error === null && this.#path !== '' && asking === this.#asking && asking !== 'backup') await this.check();
  }

  /** Checks what would happen. Nothing is changed yet. */
  async check(): Promise<void> {
    const path = this.#path.trim();
    if (path === '') return;
    this.#restore = null;
    this.#move = null;
    await this.#act('checking', async (isCurrent) => {
      if (this.#asking === 'restore') {
        const preview = await this.#backend.storage.restorePreview(path);
        if (isCurrent()) this.#restore = preview;
      } else {
        const preview = await this.#backend.storage.movePreview(path);
        if (isCurrent()) this.#move = preview;
      }
    });
  }

  async begin(): Promise<void> {
    if (!this.ready || this.#busy !== '') return;
    const { storage } = this.#backend;
    await this.#act('beginning', async () => {
      if (this.#asking === 'restore') await storage.restore(this.#restore!.backup.path);
      else this.#adopt(await (this.#asking === 'backup' ? storage.backUp(this.#usual ? '' : this.#path.trim()) : storage.move(this.#move!.to)));
      this.#begun = true;
    });
  }

  #adopt(task: TaskView): void {
    this.#taskId = task.id;
    this.#work.adopt([task]);
  }

  #ask(dialog: StorageDialog, path = ''): void {
    this.#asking = dialog;
    this.#path = path;
    this.#usual = true;
    this.#forget();
  }

  #forget(): void {
    this.#serial++;
    this.#restore = null;
    this.#move = null;
    this.#taskId = '';
    this.#begun = false;
    this.#busy = '';
    this.#error = null;
  }

  /** One at a time; a result that arrives after another dialog was opened is dropped. */
  async #act(activity: 'checking' | 'choosing' | 'beginning', act: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const serial = ++this.#serial;
    const isCurrent = () => serial === this.#serial;
    this.#busy = activity;
    this.#error = null;
    try {
      await act(isCurrent);
    } catch (thrown) {
      if (isCurrent()) this.#error = toBackendError(thrown);
    } finally {
      if (isCurrent()) this.#busy = '';
    }
  }
}
