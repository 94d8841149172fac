import type { Setting } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { program } from '$lib/words/program';
import { decimal, grouped, typedNumber } from '$shared/format';

/** The display form of a value: On and Off for switches, grouped digits for whole numbers. */
export function shownValue(setting: Setting, value: string): string {
  if (setting.type === 'bool') return value === 'true' ? t('settings.on') : t('settings.off');
  if (setting.type === 'int' && /^\d+$/.test(value)) return grouped(Number(value));
  if (setting.type === 'float' && value !== '') return decimal(Number(value));
  if (setting.type === 'list' && value === '[]') return t('settings.none');
  return value === '' ? t('settings.empty') : value;
}

/** "1 000 to 100 000 tokens"; empty if there are no limits. */
export function bounds(setting: Setting): string {
  if (setting.min === 0 && setting.max === 0) return '';
  const number = (n: number) => (Number.isInteger(n) ? grouped(n) : decimal(n));
  const [from, to] = [number(setting.min), number(setting.max)];
  return setting.unit && setting.unit !== 'share' ? t('settings.fromToUnit', { from, to, unit: program(setting.unit) }) : t('settings.fromTo', { from, to });
}

/** The form of a value for editing: an empty list is an empty field. */
export function editedValue(setting: Setting): string {
  return setting.type === 'list' && setting.value === '[]' ? '' : setting.value;
}

/** Numbers may be typed with the displayed grouping or in the format of the user's language. */
export function typedValue(setting: Setting, typed: string): string {
  if (setting.type === 'list' && typed.trim() === '') return '[]';
  return setting.type === 'int' || setting.type === 'float' ? typedNumber(typed, setting.type === 'int') : typed.trim();
}
