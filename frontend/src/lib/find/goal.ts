/** Where "go to" leads: a turn number, a percentage, or a day. Pure. */
import { t } from '$lib/i18n/i18n.svelte';
import { formatDate } from '$shared/format';

export type Goal = { kind: 'seq'; seq: number } | { kind: 'day'; at: number } | { kind: 'none'; reason: string };

/** English months, which are understood in every language of the window. */
const months = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const none = (reason: string): Goal => ({ kind: 'none', reason });

/** `now` is for days without a year, and "yesterday". */
export function goalOf(typed: string, first: number, last: number, now: Date): Goal {
  const text = typed.trim().toLowerCase();
  if (text === '') return none('');
  const number = /^#?\s*(\d[\d\s.,'_]*)$/.exec(text);
  const percent = /^(\d{1,3}(?:[.,]\d+)?)\s*%$/.exec(text);
  if (percent) {
    const share = Number(percent[1]!.replace(',', '.'));
    return share > 100 ? none(t('find.endAt')) : { kind: 'seq', seq: Math.round(first + ((last - first) * share) / 100) };
  }
  const day = dayOf(text, now);
  if (day) return Number.isNaN(day.getTime()) ? none(t('find.noDay')) : { kind: 'day', at: day.getTime() };
  if (number) {
    const seq = Number(number[1]!.replace(/\D/g, ''));
    return seq < first || seq > last ? none(t('find.holds', { first, last })) : { kind: 'seq', seq };
  }
  return none(t('find.whatGoal'));
}

/** The start of a day; undefined if the text is not a day, invalid if the day does not exist. */
function dayOf(text: string, now: Date): Date | undefined {
  const daysBack = new Map([['today', 0], ['yesterday', 1], [t('find.today'), 0], [t('find.yesterday'), 1]]).get(text);
  if (daysBack !== undefined) return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBack);
  const iso = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?$/.exec(text);
  if (iso) return valid(Number(iso[1]), Number(iso[2]), Number(iso[3] ?? 1));
  const numeric = /^(\d{1,2})[./](\d{1,2})[./](\d{4})$/.exec(text);
  if (numeric) return valid(Number(numeric[3]), Number(numeric[2]), Number(numeric[1]));
  const counted = /^(?:(\d{4})\s*年)?\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*日)?$/.exec(text);
  if (counted) return latest(counted[1], Number(counted[2]), Number(counted[3] ?? 1), now);
  const named = /^(?:(\d{1,2})\.?\s+)?(\p{L}{3,})\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?,?)?(?:\s+(\d{4}))?$/u.exec(text);
  const month = named ? monthOf(named[2]!) : 0;
  if (!named || month === 0) return undefined;
  return latest(named[4], month, Number(named[1] ?? named[3] ?? 1), now);
}

/** From 1; 0 if no month begins this way, neither in English nor in the language of the window. */
function monthOf(word: string): number {
  const english = months.findIndex((name) => name.startsWith(word));
  return 1 + (english >= 0 ? english : months.findIndex((_, month) => formatDate(Date.UTC(2024, month, 15), { month: 'long', timeZone: 'UTC' }).toLowerCase().startsWith(word)));
}

/** Without a year, the last such day is meant, not a future one. */
function latest(year: string | undefined, month: number, day: number, now: Date): Date {
  const date = valid(Number(year ?? now.getFullYear()), month, day);
  return !year && date > now ? valid(now.getFullYear() - 1, month, day) : date;
}

function valid(year: number, month: number, day: number): Date {
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date : new Date(NaN);
}

/**
 * The first number in [first, last] whose time is at or after `at`; the last if there is none. A lineage has no gaps.
 */
export async function seqOfDay(at: number, first: number, last: number, momentOf: (seq: number) => Promise<number>): Promise<number> {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await momentOf(middle)) >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}
