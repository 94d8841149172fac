import type { RecoveryItem } from '$lib/backend/types';

/** How a finding of the reconciler is drawn. */
export interface Finding {
  tone: 'ok' | 'warn' | 'danger' | 'info';
  /** The word on the link to the turn. */
  link: string;
}

const findings: Record<string, Finding> = {
  completed: { tone: 'ok', link: 'Show' },
  committed: { tone: 'ok', link: 'Show' },
  requeued: { tone: 'ok', link: 'Show' },
  incomplete: { tone: 'warn', link: 'Decide' },
  unsent: { tone: 'warn', link: 'Decide' },
  failed: { tone: 'warn', link: 'Show' },
  tools: { tone: 'warn', link: 'Decide' },
  tools_asked: { tone: 'warn', link: 'Decide' },
  dead: { tone: 'warn', link: 'Show' },
  discarded_lines: { tone: 'info', link: 'Show' },
  snapshot_ignored: { tone: 'info', link: 'Show' },
  pruned: { tone: 'ok', link: 'Show' },
  swept: { tone: 'ok', link: 'Show' },
  daily: { tone: 'warn', link: 'Show' },
  unreadable: { tone: 'danger', link: 'Show' },
};

export function finding(item: RecoveryItem): Finding {
  return findings[item.kind] ?? { tone: 'info', link: 'Show' };
}
