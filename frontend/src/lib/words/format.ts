/** Numbers and dates of a language, through Intl. Its formatters are cached, because creating them is slow. Pure. */
import type { Formatters } from 'intl-messageformat';

const narrow = '\u202f';
const numbers = new Map<string, Intl.NumberFormat>();
const dates = new Map<string, Intl.DateTimeFormat>();
const plurals = new Map<string, Intl.PluralRules>();

function kept<Made>(made: Map<string, Made>, locale: string, options: object | undefined, make: () => Made): Made {
  const key = `${locale} ${JSON.stringify(options ?? {})}`;
  let found = made.get(key);
  if (!found) made.set(key, (found = make()));
  return found;
}

/**
 * A number in the format of a language. English groups digits by a narrow no-break space, which no country uses as a
 * decimal sign.
 */
export function number(locale: string, value: number, options?: Intl.NumberFormatOptions): string {
  const written = kept(numbers, locale, options, () => new Intl.NumberFormat(locale, options));
  if (!locale.startsWith('en')) return written.format(value);
  return written.formatToParts(value).map((part) => (part.type === 'group' ? narrow : part.type === 'percentSign' ? `${narrow}%` : part.value)).join('');
}

export function date(locale: string, at: number | Date, options: Intl.DateTimeFormatOptions): string {
  return kept(dates, locale, options, () => new Intl.DateTimeFormat(locale, options)).format(at);
}

/** The formatters for messages, so that a number looks the same in a sentence and beside one. */
export function formatters(locale: string): Formatters {
  return {
    getNumberFormat: (_, options) => ({ format: (value: number) => number(locale, value, options as Intl.NumberFormatOptions) }) as Intl.NumberFormat,
    getDateTimeFormat: (_, options) => kept(dates, locale, options, () => new Intl.DateTimeFormat(locale, options)),
    getPluralRules: (_, options) => kept(plurals, locale, options, () => new Intl.PluralRules(locale, options)),
  };
}
