import { t } from '$lib/words/words.svelte';
import { short } from '$shared/format';

/** The size of the next request with this message: "next 14.1k / 50k", or by how much it is too large. */
export function budgetWords(tokens: number, context: number, ceiling: number): { words: string; over: boolean } {
  const next = context + tokens;
  if (ceiling > 0 && next > ceiling) return { words: t('composer.overBudget', { tokens: short(next - ceiling) }), over: true };
  return { words: t('composer.next', { next: short(next), ceiling: short(ceiling) }), over: false };
}
