import { t } from '$lib/words/words.svelte';

/** What a model may be told about how long to think. */
export function efforts(): { value: string; label: string }[] {
  return [
    { value: '', label: t('session.modelDefault') },
    { value: 'minimal', label: t('session.effortMinimal') },
    { value: 'low', label: t('session.effortLow') },
    { value: 'medium', label: t('session.effortMedium') },
    { value: 'high', label: t('session.effortHigh') },
  ];
}

/** Why a temperature cannot be taken; empty if it can. A comma is a point. */
export function temperatureFault(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const value = /^\d*[.,]?\d+$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN;
  return value >= 0 && value <= 2 ? '' : t('session.temperatureFault');
}

/** Whether models of a session may call tools. */
export function toolModes(): { value: string; label: string }[] {
  return [
    { value: '', label: t('session.toolsAsSet') },
    { value: 'disabled', label: t('session.toolsOff') },
    { value: 'parse_only', label: t('session.toolsShown') },
    { value: 'enabled', label: t('session.toolsOn') },
  ];
}
