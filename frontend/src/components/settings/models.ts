import type { ModelView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import { parseTypedNumber } from '$shared/format';

export function emptyModel(): ModelView {
  return {
    name: '',
    provider: 'chatcompletions',
    modelId: '',
    baseUrl: '',
    apiKeyEnv: '',
    keyHeader: '',
    headers: [],
    contextLimit: 0,
    maxOutput: 0,
    limitSource: '',
    ceiling: 0,
    stream: true,
    allowPlainHttp: false,
    usable: false,
    reason: '',
    default: false,
    builtIn: false,
    options: '',
    images: '',
    tools: '',
    reasoning: '',
    favourite: false,
    local: false,
    priceInput: 0,
    priceCached: 0,
    priceOutput: 0,
    priceSource: '',
  };
}

/** The model as configured: limits from the table are left out, so that they continue to come from there. */
export function asConfigured(model: ModelView): ModelView {
  return model.limitSource === 'configured' ? model : { ...model, contextLimit: 0 };
}

/** A short unused name based on a model id. */
export function suggestedName(modelId: string, taken: (name: string) => boolean): string {
  const base =
    modelId
      .trim()
      .replace(/^.*\//, '')
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[-.]+|[-.]+$/g, '') || 'model';
  let name = base;
  for (let i = 2; taken(name); i++) name = `${base}-${i}`;
  return name;
}

/** A typed limit in tokens: empty is 0, which means "look it up". Undefined if it is not a whole number. */
export function typedLimit(text: string): number | undefined {
  const digits = parseTypedNumber(text, true);
  if (digits === '') return 0;
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

/** What is wrong with provider options, or "". They must be a single JSON object, or empty. */
export function optionsProblem(text: string): string {
  if (text.trim() === '') return '';
  try {
    const value: unknown = JSON.parse(text);
    const object = typeof value === 'object' && value !== null && !Array.isArray(value);
    return object ? '' : t('settings.jsonObject');
  } catch (thrown) {
    return t('settings.notJson', { why: (thrown as Error).message });
  }
}
