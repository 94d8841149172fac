/** What files, work and reports are called. */
import type { DroppedFile, ImportReport, SkippedRow, TaskView } from '$lib/backend/types';
import type { ExportFormat } from '$lib/state/exporting.svelte';
import { counted, grouped, percentage, sized } from '$shared/format';

const formats: Record<string, string> = {
  chatgpt: 'ChatGPT export', claude: 'Claude.ai export', 'claude-code': 'Claude Code session', codex: 'Codex session', 'open-webui': 'Open WebUI export', librechat: 'LibreChat export', 'ai-studio': 'AI Studio chat', grok: 'Grok export', chatbox: 'Chatbox backup', 'cherry-studio': 'Cherry Studio backup', takeout: 'Gemini activity (Takeout)', gptme: 'gptme conversation',
  jsonl: 'Messages, one a line', messages: 'List of messages', zip: 'Transcripts in a zip', bundle: 'ContextInfinity bundle',
};
const kinds: Record<string, string> = { bundle: 'ContextInfinity bundle', backup: 'Backup of ContextInfinity', document: 'Document', image: 'Picture', folder: 'Folder', unknown: 'Not a file that can be imported' };

export const formatName = (format: string): string => formats[format] ?? format;

/** "ChatGPT export, 25.4 MB"; of what could not be told only its size, beside the reason (fileAdvice). */
export function fileWords(file: DroppedFile): string {
  const what = file.kind === 'transcript' ? formatName(file.format) || 'Transcript' : (kinds[file.kind] ?? file.kind);
  if (file.kind === 'unknown' && file.reason !== '') return file.size > 0 ? sized(file.size) : '';
  return file.kind === 'folder' || file.size <= 0 ? what : `${what}, ${sized(file.size)}`;
}

/** Why a file is not imported and what to do with it instead, or how it is; empty: nothing is to be said. */
export function fileAdvice(file: DroppedFile): string {
  if (file.reason !== '') return file.reason;
  if (file.kind === 'backup') return 'A backup is the whole history: restoring it replaces the present data. You see what would be replaced first.';
  if (file.kind === 'document' || file.kind === 'image') return 'It contains no conversation. You can attach it to a message.';
  if (file.kind === 'folder') return 'Every transcript in it is read.';
  return '';
}

const states: Record<string, string> = { running: 'running', done: 'done', failed: 'failed', cancelled: 'cancelled', interrupted: 'interrupted' };

export const stateWord = (task: TaskView): string => states[task.state] ?? task.state;

/** Of 100, floored, so that it never says 100 before it is over; undefined where the whole is not known. */
export const percentOf = (task: TaskView): number | undefined => (task.total > 0 ? Math.min(100, Math.floor((task.done / task.total) * 100)) : undefined);

/** "12 of 40 sessions", "3.1 MB of 25.4 MB"; empty where nothing is counted. */
export function progressWords(task: TaskView): string {
  if (task.unit === '' || (task.done === 0 && task.total === 0)) return '';
  if (task.unit === 'bytes') return task.total > 0 ? `${sized(task.done)} of ${sized(task.total)}` : sized(task.done);
  const one = task.unit.replace(/s$/, '');
  return task.total > 0 ? `${grouped(task.done)} of ${counted(task.total, one)}` : counted(task.done, one);
}

/** What a screen reader is told while work continues: a quarter at a time, not each step. */
export function spokenProgress(task: TaskView): string {
  if (task.state !== 'running') return `${task.title}: ${stateWord(task)}${task.error ? `. ${task.error.message}` : ''}`;
  const quarter = Math.floor((percentOf(task) ?? 0) / 25) * 25;
  return quarter > 0 ? `${task.title}: ${percentage(quarter)}` : `${task.title} started`;
}

/** Long work in a line: what runs, else what ended and was not looked at; empty: there is nothing to tell. */
export function lineWords(running: readonly TaskView[], untold: readonly TaskView[]): string {
  if (running.length > 0) return running.length === 1 ? running[0]!.title : `${running.length} running`;
  if (untold.length > 1) return `${untold.length} reports`;
  return untold[0] ? `${untold[0].title}: ${stateWord(untold[0])}` : '';
}

/** What an import made, in a sentence. */
export function madeWords(report: ImportReport): string {
  const parts = [
    report.sessions > 0 ? `${counted(report.sessions, 'session')} made` : '',
    report.grown > 0 ? `${grouped(report.grown)} grown` : '',
    report.already > 0 ? `${grouped(report.already)} already there` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? `${parts.join(', ')}.` : 'Nothing was added.';
}

/** What came with it; empty where nothing did. */
export function addedWords(report: ImportReport): string {
  const turns = report.turns > 0 ? counted(report.turns, 'turn') : '';
  const branches = report.branches > 0 ? counted(report.branches, 'branch', 'branches') : '';
  return [turns, branches && `${branches} beside the first`].filter(Boolean).join(', ') + (turns || branches ? ' added.' : '');
}

/** What has to be known of the file as a whole. */
export function wholeNotes(report: ImportReport): string[] {
  return [
    report.torn ? 'The file ends in the middle of an entry. Everything before that was imported.' : '',
    report.cancelled ? 'It was cancelled. What was read so far is kept; importing again adds only the rest.' : '',
    report.copied ? 'This session exists here and has changed since: the bundle’s version was added as a copy.' : '',
  ].filter((note) => note !== '');
}

/** How many conversations bring instructions that are not used. */
export const instructedWords = (report: ImportReport): string => `${counted(report.instructed, 'conversation brings', 'conversations bring')} instructions of ${report.instructed === 1 ? 'its' : 'their'} own, kept and not used`;

export const skippedName = (row: SkippedRow): string => row.title || row.id || `Entry ${grouped(row.index + 1)}`;

/** Where in the file: "entry 7, byte 412 204". */
export const placeOf = (row: SkippedRow): string => [row.file, `entry ${grouped(row.index + 1)}`, row.offset > 0 ? `byte ${grouped(row.offset)}` : ''].filter(Boolean).join(', ');

/** The report as text, for the clipboard. */
export function reportText(report: ImportReport): string {
  const lines = [
    `Import of ${report.file}${report.format ? ` (${formatName(report.format)})` : ''}`, madeWords(report), addedWords(report), ...wholeNotes(report),
    ...(report.skippedCount > 0 ? ['', `Not read: ${grouped(report.skippedCount)}`, ...report.skipped.map((row) => `- ${skippedName(row)} (${placeOf(row)}): ${row.reason}`)] : []),
    ...(report.skippedCount > report.skipped.length ? [`- and ${grouped(report.skippedCount - report.skipped.length)} more`] : []),
    ...(report.instructed > 0 ? ['', instructedWords(report), ...report.instructions.map((row) => `- ${row.title}: ${row.begins}`)] : []),
    ...(report.notices.length > 0 ? ['', 'Notes', ...report.notices.map((note) => `- ${note.text}${note.count > 1 ? ` (${grouped(note.count)} times)` : ''}`)] : []),
  ];
  return lines.filter((line, i) => line !== '' || i > 1).join('\n').replace(/\u202f/g, ' ');
}

/** What each format is for. */
export const formatChoices: readonly { value: ExportFormat; label: string; detail: string }[] = [
  { value: 'bundle', label: 'Bundle (.cinf)', detail: 'Everything, exactly: to keep, or to import on another machine.' },
  { value: 'md', label: 'Markdown (.md)', detail: 'To read in an editor, and to use in notes and documents.' },
  { value: 'html', label: 'Web page (.html)', detail: 'One file to read in any browser or to print, without a network.' },
  { value: 'json', label: 'JSON (.json)', detail: 'For scripts and other programs.' },
];
