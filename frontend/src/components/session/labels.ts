import { t } from '$lib/i18n/i18n.svelte';

/** The levels of effort that a model can be asked for. */
export function efforts(): { value: string; label: string }[] {
  return [
    { value: '', label: t('session.modelDefault') },
    { value: 'minimal', label: t('session.effortMinimal') },
    { value: 'low', label: t('session.effortLow') },
    { value: 'medium', label: t('shared.effortMedium') },
    { value: 'high', label: t('shared.effortHigh') },
  ];
}

/** Why a temperature is invalid; empty if it is valid. A comma counts as a decimal point. */
export function temperatureFault(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const value = /^\d*[.,]?\d+$/.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN;
  return value >= 0 && value <= 2 ? '' : t('session.temperatureFault');
}

/** Whether models may call tools in a session. */
export function toolModes(): { value: string; label: string }[] {
  return [
    { value: '', label: t('shared.toolsDefault') },
    { value: 'disabled', label: t('shared.toolsOff') },
    { value: 'parse_only', label: t('shared.toolsShow') },
    { value: 'enabled', label: t('shared.toolsOn') },
  ];
}
