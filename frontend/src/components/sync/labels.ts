import type { SyncDevice, SyncView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { formatTimeOrDay, joinFacts } from '$shared/format';

/** The state of the vault in a sentence or two. */
export function stateText(view: SyncView): string {
  if (view.busy) return view.all > 0 ? t('sync.receiving', { read: view.read, all: view.all, turns: view.turns }) : t('sync.busy');
  if (view.error) return t('sync.failed');
  const waits = view.waiting > 0 ? t('sync.waiting', { count: view.waiting }) : '';
  const state = view.exchangedAt === 0 ? t('sync.never') : view.problems.length > 0 ? t('sync.troubled') : waits === '' ? t('sync.inStep') : '';
  const off = !view.automatic ? t('sync.off') : view.paused ? t('sync.paused') : '';
  return [state, waits, off].filter(Boolean).join(' ');
}

/** What a computer has written, and how much of it is here. */
export function deviceText(device: SyncDevice): string {
  const files = device.this ? t('sync.sentFiles', { files: device.files }) : t('sync.files', { known: device.known, files: device.files });
  return joinFacts([files, device.writtenAt > 0 ? t('sync.written', { time: formatTimeOrDay(device.writtenAt) }) : !device.this && t('sync.unseen')]);
}
