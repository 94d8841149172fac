/** Checks the answer to a server's question. The server checks it again; this gives earlier feedback. */
import type { ElicitationField, ElicitationValue } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

export function faultOf(field: ElicitationField, values: readonly string[]): string {
  const entered = values.filter((value) => value.trim() !== '');
  if (entered.length === 0) return field.required && field.type !== 'boolean' ? t('servers.mustAnswer') : '';
  const [low, high] = [field.min, field.max].map((bound) => (bound === '' ? undefined : Number(bound)));
  if (field.type === 'choices') return between(entered.length, low, high, 'choose');
  const value = entered[0]!.trim();
  if (field.type === 'number' || field.type === 'integer') {
    const number = Number(value);
    if (Number.isNaN(number) || (field.type === 'integer' && !Number.isInteger(number))) return field.type === 'integer' ? t('servers.wholeNumber') : t('servers.aNumber');
    return between(number, low, high, 'number');
  }
  if (field.type !== 'string') return '';
  if (field.format === 'email' && !/^\S+@\S+\.\S+$/.test(value)) return t('servers.email');
  if (field.format === 'uri' && !/^[a-z][a-z0-9+.-]*:\S+$/i.test(value)) return t('servers.anAddress');
  return between([...value].length, low, high, 'length');
}

function between(value: number, low: number | undefined, high: number | undefined, kind: 'choose' | 'number' | 'length'): string {
  if (low !== undefined && value < low) return t(`servers.${kind}Least`, { bound: low });
  return high !== undefined && value > high ? t(`servers.${kind}Most`, { bound: high }) : '';
}

/** The answer: every field, without a value if empty. The server would use its default for a missing field. */
export function valuesOf(fields: readonly ElicitationField[], values: Readonly<Record<string, readonly string[]>>): ElicitationValue[] {
  return fields.map((field) => {
    const entered = (values[field.name] ?? []).map((value) => (field.type === 'string' ? value : value.trim())).filter((value) => value !== '');
    if (field.type === 'boolean') return { name: field.name, values: [entered[0] === 'true' ? 'true' : 'false'] };
    return { name: field.name, values: entered };
  });
}
