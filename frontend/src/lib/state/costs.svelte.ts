import type { Backend } from '$lib/backend/backend';
import type { CostView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { formatDollars, joinFacts } from '$shared/format';
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
  get text(): string {
    const view = this.#view;
    if (!view || (view.session === null && view.month === null)) return '';
    const part = (key: 'state.lastAnswer' | 'state.session' | 'state.month', usd: number | null) => usd !== null && t(key, { cost: formatDollars(usd) });
    const month = view.month !== null && view.budget > 0 ? t('state.monthOf', { cost: formatDollars(view.month), budget: formatDollars(view.budget) }) : part('state.month', view.month);
    const parts = joinFacts([part('state.lastAnswer', view.turn), part('state.session', view.session), month]);
    const costs = view.estimate ? t('state.costEstimated', { date: view.pricesDate, parts }) : t('state.cost', { parts });
    const background = joinFacts([part('state.session', view.sessionBackground), part('state.month', view.monthBackground)]);
    return [costs, background && t('state.costBackground', { parts: background }), view.today && t('state.costToday')].filter(Boolean).join(' ');
  }

  /** The warning about the monthly budget; empty: none. */
  get warning(): string {
    const view = this.#view;
    if (!view || (view.state !== 'near' && view.state !== 'over') || this.#dismissed === view.state) return '';
    const amounts = { budget: formatDollars(view.budget), cost: formatDollars(view.month ?? 0) };
    return t(view.state === 'over' ? 'state.budgetOver' : 'state.budgetNear', amounts);
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
