/** Numbers and dates of a language, through Intl. Its formatters are cached, because creating them is slow. Pure. */
import type { Formatters } from 'intl-messageformat';

const narrow = '\u202f';
const numbers = new Map<string, Intl.NumberFormat>();
const dates = new Map<string, Intl.DateTimeFormat>();
const plurals = new Map<string, Intl.PluralRules>();

function cached<T>(cache: Map<string, T>, locale: string, options: object | undefined, create: () => T): T {
  const key = `${locale} ${JSON.stringify(options ?? {})}`;
  let found = cache.get(key);
  if (!found) cache.set(key, (found = create()));
  return found;
}

/**
 * A number in the format of a language. English groups digits by a narrow no-break space, which no country uses as a
 * decimal sign.
 */
export function number(locale: string, value: number, options?: Intl.NumberFormatOptions): string {
  const formatter = cached(numbers, locale, options, () => new Intl.NumberFormat(locale, options));
  if (!locale.startsWith('en')) return formatter.format(value);
  return formatter.formatToParts(value).map((part) => (part.type === 'group' ? narrow : part.type === 'percentSign' ? `${narrow}%` : part.value)).join('');
}

export function date(locale: string, value: number | Date, options: Intl.DateTimeFormatOptions): string {
  return cached(dates, locale, options, () => new Intl.DateTimeFormat(locale, options)).format(value);
}

/** The formatters for messages, so that a number looks the same in a sentence and beside one. */
export function formatters(locale: string): Formatters {
  return {
    getNumberFormat: (_, options) => ({ format: (value: number) => number(locale, value, options as Intl.NumberFormatOptions) }) as Intl.NumberFormat,
    getDateTimeFormat: (_, options) => cached(dates, locale, options, () => new Intl.DateTimeFormat(locale, options)),
    getPluralRules: (_, options) => cached(plurals, locale, options, () => new Intl.PluralRules(locale, options)),
  };
}
