/** Texts of the embedder offer: the embedder, its cost, its duration. */
import type { EmbedderEstimate, EmbedderView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { formatDollars } from '$shared/format';

export function nameOf(embedder: EmbedderView): string {
  if (embedder.builtIn) return isWords(embedder) ? t('embedders.words') : t('embedders.builtIn');
  return embedder.server === '' ? embedder.model : t('embedders.on', { model: embedder.model, server: embedder.server });
}

/** Whether it is the built-in embedder that only compares words. */
export function isWords(embedder: EmbedderView): boolean {
  return embedder.builtIn && embedder.id.startsWith('words');
}

/** Where texts are sent. */
export function placeOf(embedder: EmbedderView): string {
  if (embedder.builtIn) return t('embedders.noNetwork');
  return embedder.remote ? t('embedders.sentTo', { host: embedder.host }) : t('embedders.here');
}

/** "Free", "about $0.02". */
export function costText(cost: number): string {
  if (cost < 0) return t('embedders.costUnknown');
  if (cost === 0) return t('embedders.free');
  return cost < 0.01 ? t('embedders.lessThan', { cost: formatDollars(0.01) }) : t('embedders.about', { cost: formatDollars(Math.round(cost * 100) / 100) });
}

/** "About 3 minutes": rounded, because it is based on a few texts. */
export function timeText(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return t('embedders.lessThanMinute');
  if (minutes < 90) return t('embedders.minutes', { count: Math.round(minutes) });
  return t('embedders.hours', { count: Math.round(minutes / 60) });
}

export function amountText({ units, tokens }: Pick<EmbedderEstimate, 'units' | 'tokens'>): string {
  return t('embedders.amount', { memories: units, tokens });
}
