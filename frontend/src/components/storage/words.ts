/** What parts of the data, copies of it and what was erased are called. */
import type { BackupView, ErasedPart, ReceiptView, StoragePart, StorageView } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { counted, grouped, percentage, sized } from '$shared/format';

/** How parts look in the bar and in the table, in the program's order. */
const fills: Record<string, string> = {
  database: 'var(--color-accent)', journals: 'var(--texture-striped)', backups: 'var(--color-ok-fill)', aside: 'var(--color-warn-fill)', other: 'var(--color-line-control)',
};

export const fillOf = (part: StoragePart): string => fills[part.name] ?? fills['other']!;

/** "62 %"; a share that is there is never nothing. */
export function shareWords(bytes: number, of: number): string {
  if (bytes === 0 || of === 0) return percentage(0);
  const percent = (bytes / of) * 100;
  return percent < 1 ? `under ${percentage(1)}` : percentage(Math.round(percent));
}

/** So much has to be free for the next copy of the data and for what is said until then. */
const least = 1_000_000_000;

/** Why the room on the disk is short; empty: it is not, or that is not known. */
export function shortage(view: StorageView): string {
  const database = view.parts.find((part) => part.name === 'database')?.bytes ?? 0;
  if (view.free < 0 || view.free >= Math.max(least, 2 * database)) return '';
  return view.free < database
    ? `${sized(view.free)} are free. A backup needs about ${sized(database)}, so none can be made; without room an answer cannot be kept either.`
    : `${sized(view.free)} are free. A backup needs about ${sized(database)}, and an upgrade as much again.`;
}

const kinds: Record<string, string> = { by_hand: 'Manual', daily: 'Daily', migration: 'Before an upgrade', before_restore: 'Replaced by a restore' };

export const kindWords = (kind: string): string => kinds[kind] ?? (kind === '' ? 'Not known' : kind);

/** "15 sessions, 480 turns"; of one that cannot be read nothing is known. */
export function holdsWords(backup: Pick<BackupView, 'sessions' | 'turns' | 'problem'>): string {
  if (backup.problem !== '' && backup.turns === 0) return '';
  return `${counted(backup.sessions, 'session')}, ${counted(backup.turns, 'turn')}`;
}

/** The outcome of reading all backups through and verifying them. */
export function checkedWords(list: readonly Pick<BackupView, 'problem' | 'problems'>[]): string {
  const damaged = list.filter((one) => one.problem !== '').length;
  const faulty = list.filter((one) => one.problem === '' && one.problems > 0).length;
  const said = [damaged > 0 ? `${damaged} cannot be used` : '', faulty > 0 ? `problems in the data of ${faulty}` : ''].filter(Boolean).join(', ');
  return `${counted(list.length, 'backup')} read through and verified: ${said || 'no problems found'}.`;
}

/** What one reads of what is removed, one and many; the rest hangs on these. */
const said: readonly (readonly [store: string, one: string, many: string])[] = [
  ['turns', 'message with its answer', 'messages with their answers'],
  ['files', 'document', 'documents'],
  ['blobs', 'image', 'images'],
  ['pins', 'pinned fact', 'pinned facts'],
  ['states', 'state summary', 'state summaries'],
  ['chunks', 'passage of memory', 'passages of memory'],
  ['requests', 'stored request', 'stored requests'],
];

/** "12 messages with their answers, 24 passages of memory, and 90 related records". */
export function removedWords(parts: readonly ErasedPart[]): string {
  const named = said.flatMap(([store, one, many]) => {
    const part = parts.find((candidate) => candidate.store === store);
    return part ? [counted(part.count, one, many)] : [];
  });
  const rest = parts.filter((part) => !said.some(([store]) => store === part.store)).reduce((sum, part) => sum + part.count, 0);
  if (named.length === 0) return counted(rest, 'record');
  if (rest > 0) named.push(`${counted(rest, 'related record')}`);
  return named.length === 1 ? named[0]! : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}

export const receiptTitle = (receipt: ReceiptView): string => (receipt.kind === 'project' ? t('projects.deletedTitle') : receipt.kind === 'turn' ? 'A turn was permanently deleted' : 'A session was permanently deleted');

/** What is gone, and from where: exactly, for copies in the data directory continue holding it. */
export function goneWords(receipt: ReceiptView): string {
  const what = receipt.kind === 'turn' ? 'What it said' : 'It';
  const copies = receipt.backups.length;
  if (copies === 0) return `${what} is gone from the data directory.`;
  return `${what} is gone from the database. ${counted(copies, 'copy', 'copies')} in the data directory still ${copies === 1 ? 'contains' : 'contain'} it.`;
}

/** The receipt as text, for the clipboard. */
export function receiptText(receipt: ReceiptView): string {
  return [
    `Receipt ${receipt.id}`, `${receiptTitle(receipt)}: ${receipt.subject}`, new Date(receipt.at).toISOString(), '', 'Removed',
    ...receipt.parts.map((part) => `- ${part.label}: ${grouped(part.count)}`),
    ...(receipt.backups.length > 0 ? ['', 'Copies that contained it then', ...receipt.backups.map((name) => `- ${name}`)] : []),
  ].join('\n').replace(/\u202f/g, ' ');
}

/** What a restore would lose of what is here, in words; empty: nothing that the numbers show. */
export function behindWords(now: { sessions: number; turns: number }, then: { sessions: number; turns: number }): string {
  const lost = [now.sessions > then.sessions ? counted(now.sessions - then.sessions, 'session') : '', now.turns > then.turns ? counted(now.turns - then.turns, 'turn') : ''].filter(Boolean);
  return lost.length > 0 ? `The backup holds ${lost.join(' and ')} fewer than are here now.` : '';
}

export const filesWords = (files: number): string => (files === 0 ? 'no files' : `${grouped(files)} ${files === 1 ? 'file' : 'files'}`);
