import type { Backend } from '$lib/backend/backend';
import type { CostView } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { inRow } from '$shared/format';
import type { ConversationState } from './conversation.svelte';
import { Refresh } from './refresh';

/** The costs of the newest turn, of the open session, and of the month so far. */
export class CostsState {
  #view = $state.raw<CostView | null>(null);
  #dismissed = $state('');
  readonly #backend: Backend;
  readonly #conversation: ConversationState;
  readonly #refresh: Refresh;

  constructor(backend: Backend, conversation: ConversationState) {
    this.#backend = backend;
    this.#conversation = conversation;
    this.#refresh = new Refresh(() => this.#load(), 400);
  }

  get view(): CostView | null {
    return this.#view;
  }

  /** For a tooltip: amounts and their certainty; empty if no price is known. */
  get words(): string {
    const view = this.#view;
    if (!view || (view.session === '' && view.month === '')) return '';
    const month = view.month && (view.budget ? t('state.monthOf', { cost: view.month, budget: view.budget }) : t('state.month', { cost: view.month }));
    const parts = inRow([view.turn && t('state.lastAnswer', { cost: view.turn }), view.session && t('state.session', { cost: view.session }), month]);
    return view.estimate ? t('state.costEstimated', { date: view.pricesDate, parts }) : t('state.cost', { parts });
  }

  /** The warning about the monthly budget; empty: none. */
  get warning(): string {
    const view = this.#view;
    if (!view || (view.state !== 'near' && view.state !== 'over') || this.#dismissed === view.state) return '';
    return view.state === 'over' ? t('state.budgetOver', { budget: view.budget, cost: view.month }) : t('state.budgetNear', { budget: view.budget, cost: view.month });
  }

  /** Hides the warning until the state of the budget changes. */
  dismiss(): void {
    this.#dismissed = this.#view?.state ?? '';
  }

  changed(): void {
    this.#refresh.soon();
  }

  stop(): void {
    this.#refresh.cancel();
  }

  async #load(): Promise<void> {
    const sessionId = this.#conversation.sessionId;
    try {
      const view = await this.#backend.settings.costs(sessionId);
      if (sessionId === this.#conversation.sessionId) this.#view = view;
    } catch {
      // The cost is only a tooltip; the next answer reads it again.
    }
  }
}
