import { t } from '$lib/i18n/i18n.svelte';
import { formatShort } from '$shared/format';

/**
 * The size of the next request with this message, without and with all the memory that may be found for it, as a title;
 * by how much it is too large, as a label.
 */
export function budgetText(tokens: number, context: number, memory: number, ceiling: number): { label: string; title: string; isOver: boolean } {
  const next = context + tokens;
  if (ceiling > 0 && next > ceiling) {
    const label = t('composer.overBudget', { tokens: formatShort(next - ceiling) });
    return { label, title: label, isOver: true };
  }
  const most = ceiling > 0 ? Math.min(next + memory, ceiling) : next;
  const title = most > next ? t('composer.nextTitle', { next, most, ceiling }) : t('composer.nextTitleExact', { next, ceiling });
  return { label: '', title, isOver: false };
}
