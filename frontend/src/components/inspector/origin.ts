import type { StateView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

/** Describes who made a state. */
export function madeBy(state: Pick<StateView, 'origin' | 'model'>): string {
  switch (state.origin) {
    case 'root':
      return t('inspector.originStart');
    case 'librarian':
      return state.model ? t('inspector.originModel', { model: state.model }) : t('inspector.originLibrarian');
    case 'fallback':
      return t('inspector.originRules');
    case 'pins':
      return t('inspector.originPins');
    default:
      return state.origin;
  }
}
