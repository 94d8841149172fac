import type { Setting } from '$lib/backend/types';
import { linesOf, listFrom, listOf } from '$lib/tomlList';
import { t } from '$lib/i18n/i18n.svelte';
import { program } from '$lib/i18n/program';
import { formatDecimal, formatCount, formatPercent, parseTypedNumber } from '$shared/format';

/** A share that people think of in percent: it is shown and typed as a percentage, and stored as a share. */
const isPercent = (setting: Setting) => setting.unit === 'share of the budget';
const toPercent = (share: number) => Math.round(share * 1000) / 10;

/** A port number is an identifier, so its digits are not grouped. */
const isPort = (setting: Setting) => setting.key.endsWith('.port');

/** The display form of a value: On and Off for switches, grouped digits for whole numbers, the entries of a list. */
export function shownValue(setting: Setting, value: string): string {
  if (setting.type === 'bool') return value === 'true' ? t('settings.on') : t('settings.off');
  if (setting.type === 'int' && /^\d+$/.test(value) && !isPort(setting)) return formatCount(Number(value));
  if (isPercent(setting)) return formatPercent(toPercent(Number(value)));
  if (setting.type === 'float' && value !== '') return formatDecimal(Number(value));
  if (setting.type === 'list') return (listOf(value)?.join(', ') ?? value) || t('settings.none');
  return value === '' ? t('settings.empty') : value;
}

/** "1 000 to 100 000 tokens"; empty if there are no limits. */
export function bounds(setting: Setting): string {
  if (setting.min === 0 && setting.max === 0) return '';
  if (isPercent(setting)) return t('settings.fromTo', { from: formatPercent(toPercent(setting.min)), to: formatPercent(toPercent(setting.max)) });
  const number = (n: number) => (isPort(setting) ? String(n) : Number.isInteger(n) ? formatCount(n) : formatDecimal(n));
  const [from, to] = [number(setting.min), number(setting.max)];
  return setting.unit && setting.unit !== 'share' ? t('settings.fromToUnit', { from, to, unit: program(setting.unit) }) : t('settings.fromTo', { from, to });
}

/** The unit beside the field. */
export function unitOf(setting: Setting): string {
  return isPercent(setting) ? t('settings.percentOfBudget') : program(setting.unit);
}

/** The form of a value for editing: a list has one entry per line. */
export function editedValue(setting: Setting): string {
  if (isPercent(setting)) return String(toPercent(Number(setting.value)));
  return setting.type === 'list' ? linesOf(setting.value) : setting.value;
}

/** Numbers may be typed with the displayed grouping or in the format of the user's language. */
export function typedValue(setting: Setting, typed: string): string {
  if (setting.type === 'list') return typed === editedValue(setting) ? setting.value : listFrom(typed);
  if (isPercent(setting)) {
    const percent = Number(parseTypedNumber(typed.replace('%', ''), false));
    return typed.trim() === '' || Number.isNaN(percent) ? typed.trim() : String(Math.round(percent * 10) / 1000);
  }
  return setting.type === 'int' || setting.type === 'float' ? parseTypedNumber(typed, setting.type === 'int') : typed.trim();
}
