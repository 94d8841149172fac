// Numbers and moments as the language of the window writes them, units after a narrow no-break space, times in the user's
// own zone. Only English has forms of its own: digits grouped by a narrow no-break space, days before months.
import { date, number } from '$lib/words/format';
import { language, locale, t } from '$lib/words/words.svelte';

/** 12480 as "12 480". */
export function grouped(value: number): string {
  return number(locale(), Math.round(value));
}

/** A number that is not a count: "0.85", "2.50" where it has to have two decimals. */
export function decimal(value: number, options: Intl.NumberFormatOptions = { maximumFractionDigits: 6 }): string {
  return number(locale(), value, options);
}

/**
 * A number as people type it, with the grouping and the decimal sign of their country, as the program reads it: "1.234,5" and
 * "1,234.5" are "1234.5", and "128.000" is "128000" where the number has to be whole. Anything else stays as it was typed.
 */
export function typedNumber(text: string, whole: boolean): string {
  const plain = text.trim().replace(/[\s_'’]/g, '');
  if (whole && /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/.test(plain)) return plain.replace(/[.,]/g, '');
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(plain)) return plain.replaceAll(',', '');
  if (/^(?:\d*|\d{1,3}(?:\.\d{3})+),\d+$/.test(plain)) return plain.replaceAll('.', '').replace(',', '.');
  return plain;
}

/** As the context meter writes it: "850", "12.4k". */
export function short(value: number): string {
  if (value < 1_000) return grouped(value);
  return t('units.thousands', { n: number(locale(), value / 1_000, { maximumFractionDigits: value < 99_950 ? 1 : 0 }) });
}

/** A whole number of percent: "54 %", with the narrow space of other units. */
export function percentage(value: number): string {
  return number(locale(), value / 100, { style: 'percent' });
}

/** Names in a row: "a, b and c". */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat(language() === 'en' ? 'en-GB' : locale(), { type: 'conjunction' }).format(names);
}

/** Facts one after another, without the words of a list: "3 new, 1 changed". What is not there is left out. */
export function inRow(facts: readonly (string | false | undefined)[]): string {
  return facts.filter(Boolean).join(t('units.comma'));
}

const tenths = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** Bytes to the last one while they fit, then in units: "12 480 B", "1.2 MB", "88.0 GB". */
export function sized(bytes: number): string {
  if (bytes < 100_000) return t('units.bytes', { n: grouped(bytes) });
  if (bytes < 1_000_000) return t('units.kilobytes', { n: grouped(bytes / 1000) });
  if (bytes < 1_000_000_000) return t('units.megabytes', { n: number(locale(), bytes / 1_000_000, tenths) });
  return t('units.gigabytes', { n: number(locale(), bytes / 1_000_000_000, tenths) });
}

/** A span of time: "9 ms", "2.1 s", "3 min 5 s". */
export function spanned(ms: number): string {
  if (ms < 1000) return t('units.milliseconds', { n: grouped(ms) });
  if (ms < 60_000) return t('units.seconds', { n: number(locale(), ms / 1000, tenths) });
  const seconds = Math.round(ms / 1000);
  return t('units.minutes', { minutes: grouped(Math.floor(seconds / 60)), seconds: String(seconds % 60) });
}

/** The same of whole seconds, for what is renewed each second: "2 s". */
export function wholeSeconds(seconds: number): string {
  return seconds < 60 ? t('units.seconds', { n: grouped(seconds) }) : spanned(seconds * 1000);
}

/** A moment: the time today, else the day, with the year when it is another. */
export function moment(at: number, now = Date.now()): string {
  const today = new Date(now);
  if (new Date(at).toDateString() === today.toDateString()) return clock(at);
  return day(at, new Date(at).getFullYear() !== today.getFullYear());
}

/** "20 Nov", "20 Nov 2026". */
function day(at: number, withYear: boolean): string {
  if (language() === 'en') return `${new Date(at).getDate()} ${date('en', at, { month: 'short' })}${withYear ? ` ${new Date(at).getFullYear()}` : ''}`;
  return date(locale(), at, { day: 'numeric', month: 'short', ...(withYear ? { year: 'numeric' } : {}) });
}

/** Hours, minutes, seconds. */
export function clock(at: number): string {
  return date(locale(), at, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** A day and its time, in full: "20 Nov 2026, 14:32:10". */
export function stamp(at: number): string {
  if (language() === 'en') return `${day(at, true)}, ${clock(at)}`;
  return date(locale(), at, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** A moment in other parts, as Intl names them: dated(at, { weekday: 'long' }). */
export function dated(at: number, options: Intl.DateTimeFormatOptions): string {
  return date(locale(), at, options);
}
