import type { RecoveryItem } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

/** The presentation of a reconciler's finding. */
export interface Finding {
  tone: 'ok' | 'warn' | 'danger' | 'info';
  /** The text of the link to the turn. */
  link: string;
}

const findings: Record<string, { tone: Finding['tone']; asks?: true }> = {
  completed: { tone: 'ok' },
  committed: { tone: 'ok' },
  requeued: { tone: 'ok' },
  incomplete: { tone: 'warn', asks: true },
  unsent: { tone: 'warn', asks: true },
  failed: { tone: 'warn' },
  tools: { tone: 'warn', asks: true },
  tools_asked: { tone: 'warn', asks: true },
  dead: { tone: 'warn' },
  discarded_lines: { tone: 'info' },
  snapshot_ignored: { tone: 'info' },
  pruned: { tone: 'ok' },
  swept: { tone: 'ok' },
  daily: { tone: 'warn' },
  unreadable: { tone: 'danger' },
};

export function finding(item: RecoveryItem): Finding {
  const { tone, asks } = findings[item.kind] ?? { tone: 'info' };
  return { tone, link: asks ? t('inspector.decide') : t('shared.show') };
}
