import { program } from '$lib/i18n/program';
import type { RecoveryKind } from '$lib/backend/types';
import type { JobsState } from './jobs.svelte';

/** The time of the last recovery report that was shown. */
const shownKey = 'contextinfinity.recovery';

/** Findings that the card of their turn shows too. */
const onCards: readonly RecoveryKind[] = ['incomplete', 'failed', 'unsent', 'tools', 'tools_asked'];

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

  /** Unless all of it is about the newest turn of the open conversation, whose card says the same. */
  show(newest = ''): void {
    const report = this.#jobs.recovery;
    if (!report || report.clean || report.items.length === 0) return;
    if (this.#storage.getItem(shownKey) === String(report.at)) return; // only the page was reloaded, the program was not restarted
    this.#storage.setItem(shownKey, String(report.at));
    if (report.items.every((item) => item.turnId === newest && onCards.includes(item.kind))) return;
    this.#shown = report.at;
  }

  dismiss(): void {
    this.#shown = 0;
  }
}
