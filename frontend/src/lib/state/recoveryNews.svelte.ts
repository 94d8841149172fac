import { program } from '$lib/i18n/program';
import type { JobsState } from './jobs.svelte';

/** The time of the last recovery report that was shown. */
const shownKey = 'contextinfinity.recovery';

/**
 * A one-line summary of what start-up recovered. It is shown once, until it is dismissed or resolved; Activity always
 * shows the full report.
 */
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
    if (this.#storage.getItem(shownKey) === String(report.at)) return; // only the page was reloaded, the program was not restarted
    this.#storage.setItem(shownKey, String(report.at));
    this.#shown = report.at;
  }

  dismiss(): void {
    this.#shown = 0;
  }
}
