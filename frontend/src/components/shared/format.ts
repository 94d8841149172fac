// Numbers and moments as the window writes them: digits grouped by a narrow no-break
// space, units after a narrow no-break space, times in the user's own zone.

const narrow = '\u202f';

/** 12480 as "12 480". */
export function grouped(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, narrow);
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
  return `${(value / 1_000).toFixed(value < 99_950 ? 1 : 0).replace(/\.0$/, '')}k`;
}

/** A whole number of percent: "54 %", with the narrow space of other units. */
export function percentage(value: number): string {
  return `${value}${narrow}%`;
}

/** "1 turn", "2 turns". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

/** Bytes to the last one while they fit, then in units: "12 480 B", "1.2 MB", "88.0 GB". */
export function sized(bytes: number): string {
  if (bytes < 100_000) return `${grouped(bytes)}${narrow}B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)}${narrow}kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)}${narrow}MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)}${narrow}GB`;
}

/** A span of time: "9 ms", "2.1 s", "3 min 5 s". */
export function spanned(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}${narrow}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}${narrow}s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}${narrow}min ${seconds % 60}${narrow}s`;
}

/** A moment: the time today, else the day, with the year when it is another. */
export function moment(at: number, now = Date.now()): string {
  const date = new Date(at);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) return clock(at);
  const day = `${date.getDate()} ${date.toLocaleString('en', { month: 'short' })}`;
  return date.getFullYear() === today.getFullYear() ? day : `${day} ${date.getFullYear()}`;
}

/** Hours, minutes, seconds. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** A day and its time, in full: "20 Nov 2026, 14:32:10". */
export function stamp(at: number): string {
  const date = new Date(at);
  return `${date.getDate()} ${date.toLocaleString('en', { month: 'short' })} ${date.getFullYear()}, ${clock(at)}`;
}
