import type { Setting } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import { program } from '$lib/words/program';
import { decimal, grouped, typedNumber } from '$shared/format';

/** A value as people read it: On and Off for switches, grouped digits for whole numbers. */
export function shownValue(setting: Setting, value: string): string {
  if (setting.type === 'bool') return value === 'true' ? t('settings.on') : t('settings.off');
  if (setting.type === 'int' && /^\d+$/.test(value)) return grouped(Number(value));
  if (setting.type === 'float' && value !== '') return decimal(Number(value));
  if (setting.type === 'list' && value === '[]') return t('settings.none');
  return value === '' ? t('settings.empty') : value;
}

/** "1 000 to 100 000 tokens", or nothing for what has no bounds. */
export function bounds(setting: Setting): string {
  if (setting.min === 0 && setting.max === 0) return '';
  const number = (n: number) => (Number.isInteger(n) ? grouped(n) : decimal(n));
  const [from, to] = [number(setting.min), number(setting.max)];
  return setting.unit && setting.unit !== 'share' ? t('settings.fromToUnit', { from, to, unit: program(setting.unit) }) : t('settings.fromTo', { from, to });
}

/** A value as it is edited: an empty list is an empty field. */
export function editedValue(setting: Setting): string {
  return setting.type === 'list' && setting.value === '[]' ? '' : setting.value;
}

/** Numbers may be typed with the spaces we show them with, or as people write them where they live. */
export function typedValue(setting: Setting, typed: string): string {
  if (setting.type === 'list' && typed.trim() === '') return '[]';
  return setting.type === 'int' || setting.type === 'float' ? typedNumber(typed, setting.type === 'int') : typed.trim();
}
