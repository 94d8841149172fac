/** The words of the embedder offer: what an embedder is, what it costs, how long it takes. */
import type { EmbedderEstimate, EmbedderView } from '$lib/backend/types';
import { counted, grouped } from '$shared/format';
import { builtInName } from '../memory/words';

export function nameOf(embedder: EmbedderView): string {
  if (embedder.builtIn) return builtInName.charAt(0).toUpperCase() + builtInName.slice(1);
  return embedder.server === '' ? embedder.model : `${embedder.model} on ${embedder.server}`;
}

/** Where texts go. */
export function placeOf(embedder: EmbedderView): string {
  if (embedder.builtIn) return 'Part of this app. No network.';
  return embedder.remote ? `Your text is sent to ${embedder.host}.` : 'Runs on this computer.';
}

/** "Free", "about $0.02". */
export function costWords(cost: number): string {
  if (cost < 0) return 'Price not known: see the provider';
  if (cost === 0) return 'Free';
  return cost < 0.01 ? 'Less than $0.01' : `About $${cost.toFixed(2)}`;
}

/** "About 3 minutes": never more exact than a measurement of a few texts is. */
export function timeWords(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return 'Less than a minute';
  if (minutes < 90) return `About ${counted(Math.round(minutes), 'minute')}`;
  return `About ${counted(Math.round(minutes / 60), 'hour')}`;
}

export function amountWords({ units, tokens }: Pick<EmbedderEstimate, 'units' | 'tokens'>): string {
  return `${counted(units, 'memory', 'memories')}, ${grouped(tokens)} tokens`;
}
