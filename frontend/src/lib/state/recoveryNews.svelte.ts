import { program } from '$lib/words/program';
import type { JobsState } from './jobs.svelte';

/** When the recovery report was made that was shown last. */
const shownKey = 'contextinfinity.recovery';

/** What start-up found and mended, in a line: shown once, until it is put away or settled; Activity keeps it in full. */
export class RecoveryNews {
  readonly #jobs: Pick<JobsState, 'recovery'>;
  readonly #storage: Storage;
  #shown = $state(0);

  constructor(jobs: Pick<JobsState, 'recovery'>, storage: Storage) {
    this.#jobs = jobs;
    this.#storage = storage;
  }

  get text(): string {
    const report = this.#jobs.recovery;
    return report && report.at === this.#shown && report.items.length > 0 ? program(report.summary) : '';
  }

  show(): void {
    const report = this.#jobs.recovery;
    if (!report || report.clean || report.items.length === 0) return;
    if (this.#storage.getItem(shownKey) === String(report.at)) return; // the page was loaded again, the program was not
    this.#storage.setItem(shownKey, String(report.at));
    this.#shown = report.at;
  }

  dismiss(): void {
    this.#shown = 0;
  }
}
