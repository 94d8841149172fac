/** Texts about parts of the data, backups and deletions. */
import type { BackupView, DeletedPart, ReceiptView, StoragePart, StorageView } from '$lib/backend/types';
import { program } from '$lib/i18n/program';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatCount, formatList, formatPercent, formatBytes } from '$shared/format';

/** The texture of each part in the bar and in the table, in the program's order. */
const fills: Record<string, string> = {
  database: 'var(--color-accent)', journals: 'var(--texture-striped)', backups: 'var(--color-ok-fill)', aside: 'var(--color-warn-fill)', other: 'var(--color-line-control)',
};

export const fillOf = (part: StoragePart): string => fills[part.name] ?? fills['other']!;

/** "62 %"; a part that is not empty never has 0 %. */
export function shareText(bytes: number, total: number): string {
  if (bytes === 0 || total === 0) return formatPercent(0);
  const percent = (bytes / total) * 100;
  return percent < 1 ? t('storage.under', { share: formatPercent(1) }) : formatPercent(Math.round(percent));
}

/** The free space needed for the next backup and for new messages until then. */
const minFree = 1_000_000_000;

/** Why there is too little space on the disk; empty: there is enough, or it is unknown. */
export function shortage(view: StorageView): string {
  const database = view.parts.find((part) => part.name === 'database')?.bytes ?? 0;
  if (view.free < 0 || view.free >= Math.max(minFree, 2 * database)) return '';
  return view.free < database
    ? t('storage.noRoom', { free: formatBytes(view.free), needed: formatBytes(database) })
    : t('storage.littleRoom', { free: formatBytes(view.free), needed: formatBytes(database) });
}

const kinds: Record<string, PlainKey> = { '': 'storage.unknownKind', by_hand: 'storage.manual', daily: 'storage.daily', migration: 'storage.beforeUpgrade', before_restore: 'storage.replaced' };

export const kindText = (kind: string): string => (kinds[kind] ? t(kinds[kind]) : kind);

/** "15 sessions, 480 turns"; empty for a backup that cannot be read. */
export function holdsText(backup: Pick<BackupView, 'sessions' | 'turns' | 'problem'>): string {
  if (backup.problem !== '' && backup.turns === 0) return '';
  return t('storage.holds', { sessions: backup.sessions, turns: backup.turns });
}

/** The result of reading and verifying all backups. */
export function checkedText(list: readonly Pick<BackupView, 'problem' | 'problems'>[]): string {
  const damaged = list.filter((backup) => backup.problem !== '').length;
  const faulty = list.filter((backup) => backup.problem === '' && backup.problems > 0).length;
  const count = list.length;
  if (damaged > 0) return faulty > 0 ? t('storage.checkedBoth', { count, damaged, faulty }) : t('storage.checkedDamaged', { count, damaged });
  return faulty > 0 ? t('storage.checkedFaulty', { count, faulty }) : t('storage.checkedFine', { count });
}

/** The removed records that are listed by name; the others are counted as related records. */
const named = ['turns', 'files', 'blobs', 'pins', 'states', 'chunks', 'requests'] as const;

/** The kinds of records that stand for a document of a project; they are not messages. */
const ofDocuments: readonly string[] = ['turns', 'blobs', 'pins', 'states', 'requests'];

/** "12 messages with their answers, 24 memories, and 90 related records". */
export function removedText(parts: readonly DeletedPart[], kind = ''): string {
  const stores = kind === 'project' ? named.filter((store) => !ofDocuments.includes(store)) : named;
  const texts = stores.flatMap((store) => {
    const part = parts.find((candidate) => candidate.store === store);
    return part ? [t(`storage.removed_${store}`, { count: part.count })] : [];
  });
  const rest = parts.filter((part) => !stores.some((store) => store === part.store)).reduce((sum, part) => sum + part.count, 0);
  if (texts.length === 0) return t('storage.records', { count: rest });
  if (rest > 0) texts.push(t('storage.relatedRecords', { count: rest }));
  return formatList(texts);
}

export const receiptTitle = (receipt: ReceiptView): string => (receipt.kind === 'project' ? t('projects.deletedTitle') : receipt.kind === 'turn' ? t('storage.aTurnDeleted') : t('storage.aSessionDeleted'));

/** What is deleted, and from where; precise, because backups in the data directory may still contain it. */
export function goneText(receipt: ReceiptView): string {
  const copies = receipt.backups.length;
  switch (receipt.kind) {
    case 'turn': return copies === 0 ? t('storage.turnGone') : t('storage.turnGoneCopies', { copies });
    case 'project': return copies === 0 ? t('storage.projectGone') : t('storage.projectGoneCopies', { copies });
    default: return copies === 0 ? t('storage.sessionGone') : t('storage.sessionGoneCopies', { copies });
  }
}

/** What the subject of a receipt is. */
export const subjectKind = (receipt: ReceiptView): string => (receipt.kind === 'turn' ? t('storage.turn') : receipt.kind === 'project' ? t('storage.project') : t('storage.session'));

/** The receipt as text, for the clipboard. */
export function receiptText(receipt: ReceiptView): string {
  return [
    t('storage.receiptNamed', { id: receipt.id }), `${receiptTitle(receipt)}: ${receipt.subject}`, new Date(receipt.at).toISOString(), '', t('storage.removed'),
    ...receipt.parts.map((part) => `- ${program(part.label)}: ${formatCount(part.count)}`),
    ...(receipt.copies.length > 0 ? ['', t('storage.hadSame', { count: receipt.copies.length }), ...receipt.copies.map((copy) => `- ${copy.sessionId}`)] : []),
    ...(receipt.backups.length > 0 ? ['', t('storage.containedIt'), ...receipt.backups.map((name) => `- ${name}`)] : []),
  ].join('\n').replace(/\u202f/g, ' ');
}

/** What a restore would lose of the current data; empty: nothing, as far as the counts show. */
export function behindText(now: { sessions: number; turns: number }, then: { sessions: number; turns: number }): string {
  const [sessions, turns] = [now.sessions - then.sessions, now.turns - then.turns];
  if (sessions > 0) return turns > 0 ? t('storage.fewerBoth', { sessions, turns }) : t('storage.fewerSessions', { sessions });
  return turns > 0 ? t('storage.fewerTurns', { turns }) : '';
}

export const filesText = (files: number): string => (files === 0 ? t('storage.noFiles') : t('storage.countFiles', { count: files }));
