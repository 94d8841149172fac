import type { JobView } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';

/** The number of attempts after which a job has failed (SPEC 11). */
export const maxAttempts = 8;

const names: Record<string, PlainKey> = { summarize_turn: 'inspector.jobSummarizeTurn', index_turn: 'inspector.jobIndexTurn', summarize_range: 'inspector.jobSummarizeRange', summarize_chunks: 'inspector.jobSummarizeChunks' };

/** What a job does. The log and the command line show its type. */
export const jobName = ({ type }: Pick<JobView, 'type'>): string => (names[type] ? t(names[type]) : type);

type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

/** Whether the job will be retried automatically later. */
export function waitsForRetry(job: JobView, now: number): boolean {
  return job.state === 'queued' && job.attempts > 0 && job.runAfter > now;
}

/** A job's state in one or two words, with a matching tone. */
export function jobWord(job: JobView, now: number): { word: string; tone: Tone } {
  if (job.id === 0) return { word: t('inspector.noJob'), tone: 'plain' };
  switch (job.state) {
    case 'running':
      return { word: t('inspector.running'), tone: 'accent' };
    case 'done':
      return { word: t('inspector.done'), tone: 'ok' };
    case 'dead':
      return { word: t('inspector.jobFailed'), tone: 'danger' };
    default:
      return waitsForRetry(job, now)
        ? { word: t('inspector.retryIn', { time: countdown(job.runAfter - now) }), tone: 'warn' }
        : { word: t('inspector.queued'), tone: 'plain' };
  }
}

/** Minutes and seconds, rounded up so that it never shows 0:00 while waiting. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return t('units.hours', { hours: String(Math.floor(minutes / 60)), minutes: String(minutes % 60) });
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Running it now has an effect: it waits for its next attempt, or has failed. */
export function canRetry(job: JobView): boolean {
  return job.id !== 0 && (job.state === 'dead' || (job.state === 'queued' && job.attempts > 0));
}

/** It can be removed from the queue; a running job is left to finish. */
export function canDismiss(job: JobView): boolean {
  return job.id !== 0 && job.state === 'queued';
}
