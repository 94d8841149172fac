/** The names of files, tasks and reports. */
import type { DroppedFile, ExportingFormat, ImportReport, SkippedRow, TaskView } from '$lib/backend/types';
import { importedNothing, isEmpty } from '$lib/state/work.svelte';
import { program } from '$lib/i18n/program';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatCount, joinFacts, formatPercent, formatBytes } from '$shared/format';

/** What tasks count, besides bytes. */
const units = ['sessions', 'turns'] as const;

const formats: Record<string, PlainKey> = {
  chatgpt: 'transfer.chatgpt', claude: 'transfer.claude', 'claude-code': 'transfer.claudeCode', codex: 'transfer.codex', 'open-webui': 'transfer.openWebui', librechat: 'transfer.librechat', 'ai-studio': 'transfer.aiStudio', grok: 'transfer.grok', chatbox: 'transfer.chatbox', 'cherry-studio': 'transfer.cherryStudio', takeout: 'transfer.takeout', gptme: 'transfer.gptme',
  deepseek: 'transfer.deepseek', 'lm-studio': 'transfer.lmStudio', opencode: 'transfer.opencode', 'gemini-cli': 'transfer.geminiCli',
  jsonl: 'transfer.jsonl', messages: 'transfer.messages', zip: 'transfer.zip', bundle: 'transfer.bundle',
};
const kinds: Record<string, PlainKey> = { bundle: 'transfer.bundle', backup: 'transfer.backup', document: 'transfer.document', image: 'transfer.image', folder: 'shared.folder', unknown: 'transfer.unknown' };

export const formatName = (format: string): string => (formats[format] ? t(formats[format]) : format);

/** "ChatGPT export, 25.4 MB"; only the size if the format is unknown, next to the reason (fileAdvice). */
export function fileText(file: DroppedFile): string {
  const kind = kinds[file.kind];
  const what = file.kind === 'transcript' ? formatName(file.format) || t('transfer.transcript') : kind ? t(kind) : file.kind;
  if (file.kind === 'unknown' && file.reason !== '') return file.size > 0 ? formatBytes(file.size) : '';
  if (file.sealed && file.kind !== 'folder') return t('transfer.sizedFile', { what: t('transfer.sealedBundle'), size: formatBytes(file.size) });
  return file.kind === 'folder' || file.size <= 0 ? what : t('transfer.sizedFile', { what, size: formatBytes(file.size) });
}

/** Why a file is not imported and what to do instead, or how it is imported; empty if there is nothing to say. */
export function fileAdvice(file: DroppedFile): string {
  if (file.reason !== '') return program(file.reason);
  if (file.kind === 'backup') return t('transfer.adviceBackup');
  if (file.kind === 'document' || file.kind === 'image') return t('transfer.adviceDocument');
  if (file.kind === 'folder') return t('transfer.adviceFolder');
  return '';
}

const states: Record<string, PlainKey> = { running: 'transfer.stateRunning', done: 'transfer.stateDone', failed: 'transfer.stateFailed', cancelled: 'transfer.stateCancelled', interrupted: 'transfer.stateInterrupted' };

export function stateWord(task: TaskView): string {
  if (importedNothing(task)) return t('transfer.stateEmpty');
  return states[task.state] ? t(states[task.state]!) : task.state;
}

/** A percentage, rounded down so that it is never 100 before the end; undefined if the total is unknown. */
export const percentOf = (task: TaskView): number | undefined => (task.total > 0 ? Math.min(100, Math.floor((task.done / task.total) * 100)) : undefined);

/** "12 of 40 sessions", "3.1 MB of 25.4 MB"; empty if nothing is counted. */
export function progressText(task: TaskView): string {
  if (task.unit === '' || (task.done === 0 && task.total === 0)) return '';
  const { done, total, unit } = task;
  if (unit === 'bytes') return total > 0 ? t('transfer.doneOf', { done: formatBytes(done), total: formatBytes(total) }) : formatBytes(done);
  const known = units.find((known) => known === unit);
  if (!known) return total > 0 ? t('transfer.doneOf', { done: formatCount(done), total: formatCount(total) }) : formatCount(done);
  return total > 0 ? t(`transfer.${known}Of`, { done, total }) : t(`transfer.${known}Done`, { done });
}

/** What a screen reader announces during a task: each quarter, not each step. */
export function spokenProgress(task: TaskView): string {
  const title = program(task.title);
  if (task.state !== 'running') return task.error ? t('transfer.failedWith', { title, state: stateWord(task), error: program(task.error.message) }) : t('transfer.titleAndState', { title, state: stateWord(task) });
  const quarter = Math.floor((percentOf(task) ?? 0) / 25) * 25;
  return quarter > 0 ? t('transfer.titleAndState', { title, state: formatPercent(quarter) }) : t('transfer.started', { title });
}

/**
 * Tasks in one line: the running one, otherwise one that ended and was not opened; empty if there is nothing to report.
 */
export function lineText(running: readonly TaskView[], unopened: readonly TaskView[]): string {
  if (running.length > 0) return running.length === 1 ? program(running[0]!.title) : t('transfer.running', { count: running.length });
  if (unopened.length > 1) return t('transfer.reports', { count: unopened.length });
  return unopened[0] ? t('transfer.titleAndState', { title: program(unopened[0].title), state: stateWord(unopened[0]) }) : '';
}

/** What an import created, in a sentence. */
export function createdText(report: ImportReport): string {
  const parts = [
    report.sessions > 0 ? t('transfer.sessionsMade', { count: report.sessions }) : '',
    report.grown > 0 ? t('transfer.grown', { count: report.grown }) : '',
    report.already > 0 ? t('transfer.already', { count: report.already }) : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? t('transfer.sentence', { what: joinFacts(parts) }) : t('transfer.nothingAdded');
}

/** What was imported with it; empty if nothing was. */
export function addedText(report: ImportReport): string {
  const { turns, branches } = report;
  if (turns > 0) return branches > 0 ? t('transfer.addedBoth', { turns, branches }) : t('transfer.addedTurns', { turns });
  return branches > 0 ? t('transfer.addedBranches', { branches }) : '';
}

/** What the user has to know about the file as a whole. */
export function wholeNotes(report: ImportReport): string[] {
  return [
    report.torn ? [t(isEmpty(report) ? 'transfer.tornEmpty' : 'transfer.torn'), report.tornFiles.join(', ')].filter(Boolean).join(' ') : '',
    report.cancelled ? t('transfer.cancelled') : '',
    report.copied ? t('transfer.copied') : '',
  ].filter((note) => note !== '');
}

/** How many conversations contain instructions that are not used. */
export const instructedText = (report: ImportReport): string => t('transfer.instructed', { count: report.instructed });

export const skippedName = (row: SkippedRow): string => row.title || row.id || t('transfer.entryNamed', { n: row.index + 1 });

/** The position in the file: "entry 7, byte 412 204". */
export const placeOf = (row: SkippedRow): string => joinFacts([row.file, t('transfer.entryAt', { n: row.index + 1 }), row.offset > 0 && t('transfer.byteAt', { n: row.offset })]);

/** The report as text, for the clipboard. */
export function reportText(report: ImportReport): string {
  const lines = [
    report.format ? t('transfer.importOfAs', { file: report.file, format: formatName(report.format) }) : t('transfer.importOf', { file: report.file }), createdText(report), addedText(report), ...wholeNotes(report),
    ...(report.skippedCount > 0 ? ['', t('transfer.notRead', { count: report.skippedCount }), ...report.skipped.map((row) => `- ${skippedName(row)} (${placeOf(row)}): ${program(row.reason)}`)] : []),
    ...(report.skippedCount > report.skipped.length ? [t('transfer.andMore', { count: report.skippedCount - report.skipped.length })] : []),
    ...(report.instructed > 0 ? ['', instructedText(report), ...report.instructions.map((row) => `- ${row.title}: ${row.begins}`)] : []),
    ...(report.notices.length > 0 ? ['', t('transfer.notes'), ...report.notices.map((note) => `- ${program(note.text)}${note.count > 1 ? ` (${t('transfer.times', { count: note.count })})` : ''}${note.files.map((file) => `\n  ${file}`).join('')}`)] : []),
  ];
  return lines.filter((line, i) => line !== '' || i > 1).join('\n').replace(/\u202f/g, ' ');
}

/** The purpose of each format. */
export const formatChoices = (): { value: ExportingFormat; label: string; detail: string }[] => [
  { value: 'bundle', label: t('shared.bundleFile'), detail: t('transfer.bundleMore') },
  { value: 'md', label: t('transfer.markdownFile'), detail: t('transfer.markdownMore') },
  { value: 'html', label: t('shared.pageFile'), detail: t('transfer.pageMore') },
  { value: 'json', label: t('transfer.jsonFile'), detail: t('transfer.jsonMore') },
];
