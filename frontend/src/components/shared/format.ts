// Numbers and times in the format of the window's language, with units after a narrow no-break space, in the user's
// time zone. English uses a format of its own: digits grouped by a narrow no-break space, days before months.
import { date, number } from '$lib/i18n/format';
import { language, locale, t } from '$lib/i18n/i18n.svelte';

/** 12480 as "12 480". */
export function formatCount(value: number): string {
  return number(locale(), Math.round(value));
}

/** A number that is not a count: "0.85", or "2.50" with two decimals. */
export function formatDecimal(value: number, options: Intl.NumberFormatOptions = { maximumFractionDigits: 6 }): string {
  return number(locale(), value, options);
}

/**
 * Converts a number typed with the grouping and decimal signs of the user's language to the format of the program:
 * "1.234,5" and "1,234.5" become "1234.5", and "128.000" becomes "128000" where a whole number is expected. Anything
 * else stays unchanged.
 */
export function parseTypedNumber(text: string, whole: boolean): string {
  const plain = text.trim().replace(/[\s_'’]/g, '');
  if (whole && /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/.test(plain)) return plain.replace(/[.,]/g, '');
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(plain)) return plain.replaceAll(',', '');
  if (/^(?:\d*|\d{1,3}(?:\.\d{3})+),\d+$/.test(plain)) return plain.replaceAll('.', '').replace(',', '.');
  return plain;
}

/**
 * An amount in US dollars: "$8.50", "$0.0312" below one dollar, because most answers cost fractions of a cent.
 */
export function formatDollars(usd: number): string {
  const digits = usd !== 0 && Math.abs(usd) < 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 4 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return number(locale(), usd, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...digits });
}

/** A short number as in the context meter: "850", "12.4k", "1.2M". */
export function formatShort(value: number): string {
  if (value < 1_000) return formatCount(value);
  if (value >= 999_950) return t('units.millions', { n: number(locale(), value / 1_000_000, { maximumFractionDigits: 1 }) });
  return t('units.thousands', { n: number(locale(), value / 1_000, { maximumFractionDigits: value < 99_950 ? 1 : 0 }) });
}

/** A whole percentage: "54 %", with a narrow space like other units. */
export function formatPercent(value: number): string {
  return number(locale(), value / 100, { style: 'percent' });
}

/** A list of names: "a, b and c". */
export function formatList(names: readonly string[]): string {
  return new Intl.ListFormat(language() === 'en' ? 'en-GB' : locale(), { type: 'conjunction' }).format(names);
}

/** Facts separated by commas, without "and": "3 new, 1 changed". Empty ones are left out. */
export function joinFacts(facts: readonly (string | false | undefined)[]): string {
  return facts.filter(Boolean).join(t('units.comma'));
}

const tenths = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** Exact bytes up to a limit, then larger units: "12 480 B", "1.2 MB", "88.0 GB". */
export function formatBytes(bytes: number, exact = 100_000): string {
  if (bytes < exact) return t('units.bytes', { n: formatCount(bytes) });
  if (bytes < 1_000_000) return t('units.kilobytes', { n: formatCount(bytes / 1000) });
  if (bytes < 1_000_000_000) return t('units.megabytes', { n: number(locale(), bytes / 1_000_000, tenths) });
  return t('units.gigabytes', { n: number(locale(), bytes / 1_000_000_000, tenths) });
}

/** A duration: "9 ms", "2.1 s", "3 min 5 s". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return t('units.milliseconds', { n: formatCount(ms) });
  if (ms < 60_000) return t('units.seconds', { n: number(locale(), ms / 1000, tenths) });
  const seconds = Math.round(ms / 1000);
  return t('units.minutes', { minutes: formatCount(Math.floor(seconds / 60)), seconds: String(seconds % 60) });
}

/** A duration in whole seconds, for a display that is updated every second: "2 s". */
export function formatSeconds(seconds: number): string {
  return seconds < 60 ? t('units.seconds', { n: formatCount(seconds) }) : formatDuration(seconds * 1000);
}

/** A time: only the hour today, otherwise the day, with the year if it is not this one. */
export function formatTimeOrDay(at: number, now = Date.now()): string {
  const today = new Date(now);
  if (new Date(at).toDateString() === today.toDateString()) return formatTime(at);
  return day(at, new Date(at).getFullYear() !== today.getFullYear());
}

/** "20 Nov", "20 Nov 2026". */
function day(at: number, withYear: boolean): string {
  if (language() === 'en') return `${new Date(at).getDate()} ${date('en', at, { month: 'short' })}${withYear ? ` ${new Date(at).getFullYear()}` : ''}`;
  return date(locale(), at, { day: 'numeric', month: 'short', ...(withYear ? { year: 'numeric' } : {}) });
}

/** The time with seconds. */
export function formatTime(at: number): string {
  return date(locale(), at, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** Day and time: "20 Nov 2026, 14:32:10". */
export function formatDateTime(at: number): string {
  if (language() === 'en') return `${day(at, true)}, ${formatTime(at)}`;
  return date(locale(), at, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** A time in the given Intl parts: formatDate(at, { weekday: 'long' }). */
export function formatDate(at: number, options: Intl.DateTimeFormatOptions): string {
  return date(locale(), at, options);
}

/**
 * A text for a box that cuts it after some lines (white-space: break-spaces): single spaces, and one before each line
 * break. The box keeps the space at the end of its last line, so that its ellipsis does not touch a full stop.
 */
export function clampable(text: string): string {
  return text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n ?/g, ' \n');
}
