import type { Backend } from '$lib/backend/backend';
import type { RecoveryReport } from '$lib/backend/types';

/** The amount of pending background work, for the line under the session list. */
export class JobsState {
  #queued = $state(0);
  #running = $state(0);
  #failed = $state(0);
  #recovery = $state.raw<RecoveryReport | null>(null);
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get queued(): number {
    return this.#queued;
  }

  get running(): number {
    return this.#running;
  }

  get failed(): number {
    return this.#failed;
  }

  /** What start-up recovered; null until loaded. */
  get recovery(): RecoveryReport | null {
    return this.#recovery;
  }

  async load(branchId: string): Promise<void> {
    const activity = await this.#backend.inspect.activity(branchId);
    this.#recovery = activity.recovery;
    this.#queued = activity.queued;
    this.#running = activity.running;
    this.#failed = activity.failed;
  }
}
