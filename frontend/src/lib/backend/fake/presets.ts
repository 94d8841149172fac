/** The fake program's known services and servers: a few of backend/models/presets.go. */
import type { OfferView, PresetView } from '../types';

const preset = (id: string, name: string, baseUrl: string, env: string, more: Partial<PresetView> = {}): PresetView => ({
  id, name, protocol: 'chatcompletions', baseUrl, env, local: env === '', note: '', ...more,
});

export function presetViews(): PresetView[] {
  return [
    preset('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', { note: 'Models of many providers with one key.' }),
    preset('groq', 'Groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
    preset('mistral', 'Mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
    preset('azure', 'Azure OpenAI', 'https://RESOURCE.openai.azure.com/openai/v1', 'AZURE_OPENAI_API_KEY', { protocol: 'openai', note: 'Put the name of your resource in place of RESOURCE. The model is the name of your deployment.' }),
    preset('ollama', 'Ollama', 'http://127.0.0.1:11434/v1', ''),
  ];
}

export function offerView(more: Partial<OfferView> = {}): OfferView {
  return { modelId: '', configured: '', window: 0, maxOutput: 0, images: '', tools: '', reasoning: '', priceInput: 0, priceOutput: 0, priceSource: '', ...more };
}

/** The models that each known service offers. */
export const seedOffers = (): Record<string, OfferView[]> => ({
  anthropic: [
    offerView({ modelId: 'claude-haiku', window: 200_000, images: 'yes', tools: 'yes', priceInput: 1, priceOutput: 5, priceSource: 'list 2026-08-05' }),
    offerView({ modelId: 'claude-opus', window: 1_000_000, images: 'yes', tools: 'yes', reasoning: 'yes', priceInput: 5, priceOutput: 25, priceSource: 'list 2026-08-05' }),
    offerView({ modelId: 'claude-sonnet', configured: 'sonnet', window: 200_000, images: 'yes', tools: 'yes', priceInput: 2, priceOutput: 10, priceSource: 'list 2026-08-05' }),
  ],
  ollama: [offerView({ modelId: 'llama3.3:70b', window: 8_192, images: 'no', tools: 'yes' }), offerView({ modelId: 'qwen3:8b', configured: 'local', window: 32_768, images: 'no' })],
});
