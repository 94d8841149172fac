import type { EmbeddersService, EmbeddersView, EmbedderView } from '../types';
import { BackendError } from '../errors';
import { errorView } from './shapes';
import type { FakeStore } from './store';

export const builtInEmbedder: EmbedderView = { id: 'local||', server: '', model: '', host: '', remote: false, builtIn: true, price: 0 };
export const ollamaEmbedder: EmbedderView = { id: 'ollama||nomic-embed-text', server: 'Ollama', model: 'nomic-embed-text', host: 'this computer', remote: false, builtIn: false, price: 0 };
export const openaiEmbedder: EmbedderView = { id: 'openai||text-embedding-3-small', server: 'OpenAI', model: 'text-embedding-3-small', host: 'api.openai.com', remote: true, builtIn: false, price: 0.02 };

const totals = { units: 12_840, tokens: 962_000 };

/** The embedders, one of which is in use: the built-in one at first. */
export function embeddersService(store: FakeStore, found: readonly EmbedderView[]): EmbeddersService {
  let current = builtInEmbedder;
  let answered = false;
  const view = (): EmbeddersView => ({
    current, options: found.filter((option) => option.id !== current.id), ...totals,
    offer: !answered && current.builtIn ? (found[0]?.id ?? '') : '',
  });
  const find = (id: string): EmbedderView => {
    const option = found.find((candidate) => candidate.id === id);
    if (!option) throw new BackendError(errorView('This embedder cannot be reached any more', 'Start its server and look again.', 'not_found'));
    return option;
  };
  const choose = (embedder: EmbedderView): EmbeddersView => {
    current = embedder;
    answered = true;
    store.changed('settings', '', '');
    return view();
  };
  return {
    embedders: async () => view(),
    estimate: async (id) => ({ ...totals, cost: (totals.tokens / 1e6) * find(id).price, ms: 130_000 }),
    use: async (id) => choose(find(id)),
    useBuiltIn: async () => choose(builtInEmbedder),
    dismissOffer: async () => {
      answered = true;
    },
  };
}
