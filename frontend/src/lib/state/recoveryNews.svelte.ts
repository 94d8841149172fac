import { program } from '$lib/i18n/program';
import type { ConversationState } from './conversation.svelte';
import type { JobsState } from './jobs.svelte';

/** States of a turn that its own card explains. */
const explained: readonly string[] = ['incomplete', 'unsent', 'failed'];

/** The time of the last recovery report that was shown. */
const shownKey = 'contextinfinity.recovery';

/**
 * A one-line summary of what start-up recovered. It is shown once, until it is dismissed or resolved; Activity always
 * shows the full report. What the card of the open conversation's last turn says is not said twice.
 */
export class RecoveryNews {
  readonly #conversation: Pick<ConversationState, 'newest'>;
  readonly #jobs: Pick<JobsState, 'recovery'>;
  readonly #storage: Storage;
  #shown = $state(0);

  constructor(conversation: Pick<ConversationState, 'newest'>, jobs: Pick<JobsState, 'recovery'>, storage: Storage) {
    this.#conversation = conversation;
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
    const newest = this.#conversation.newest;
    if (newest && explained.includes(newest.state) && report.items.every(({ turnId }) => turnId === newest.id)) return;
    this.#shown = report.at;
  }

  dismiss(): void {
    this.#shown = 0;
  }
}
