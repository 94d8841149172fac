import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { OfferView, PlaceView } from '$lib/backend/types';
import type { ComposerState } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import type { ModelsState } from './models.svelte';
import type { ModelSwitch } from './modelSwitch.svelte';

/** Whether a choice applies to the next message only, or to the session from now on. */
export type PickScope = 'message' | 'session';

/** The models that one service or server offers, or its error. */
export interface PlaceOffers {
  place: PlaceView;
  offers: readonly OfferView[];
  error: BackendError | null;
  loading: boolean;
}

interface Parts {
  backend: Backend;
  composer: ComposerState;
  conversation: ConversationState;
  models: ModelsState;
  modelSwitch: ModelSwitch;
}

const recentKey = 'contextinfinity.models.recent';
const maxRecent = 4;

/** Choosing the model and the effort of a message, among all models that can be reached. */
export class ModelPickerState {
  #open = $state(false);
  #places = $state.raw<readonly PlaceOffers[]>([]);
  #searching = $state(false);
  #effort = $state('');
  #recent = $state.raw<readonly string[]>([]);
  #serial = 0;
  readonly #parts: Parts;
  readonly #storage: Storage;

  constructor(parts: Parts, storage: Storage) {
    this.#parts = parts;
    this.#storage = storage;
    this.#recent = restored(storage);
  }

  get open(): boolean {
    return this.#open;
  }

  get places(): readonly PlaceOffers[] {
    return this.#places;
  }

  /** A search for servers is in progress. */
  get searching(): boolean {
    return this.#searching;
  }

  /** The session's effort. */
  get effort(): string {
    return this.#effort;
  }

  /** Names of models, the most recently used first. */
  get recent(): readonly string[] {
    return this.#recent;
  }

  show(): void {
    this.#open = true;
    void this.#load();
  }

  close(): void {
    this.#serial++;
    this.#open = false;
  }

  /** Uses a configured model with an effort. */
  async choose(model: string, effort: string, scope: PickScope): Promise<void> {
    const { backend, composer, conversation, modelSwitch } = this.#parts;
    this.#used(model);
    composer.useSeveral([]);
    if (scope === 'message') {
      composer.useOnce({ model: model === conversation.model ? '' : model, effort: effort === this.#effort ? '' : effort });
      return;
    }
    composer.useOnce(null);
    const { sessionId } = conversation;
    if (effort !== this.#effort && sessionId !== '') {
      const settings = await backend.sessions.sessionSettings(sessionId);
      await backend.sessions.setSessionSettings(sessionId, { ...settings, effort });
      this.#effort = effort;
    }
    await modelSwitch.ask(model);
  }

  /** Sends the next message to all of these. */
  chooseSeveral(models: readonly string[], effort: string): void {
    const { composer } = this.#parts;
    for (const model of [...models].reverse()) this.#used(model);
    composer.useOnce({ model: '', effort: effort === this.#effort ? '' : effort });
    composer.useSeveral(models);
    composer.focus();
  }

  /** Configures a model that a service or server offers, and returns its name. */
  async add(place: PlaceView, offer: OfferView): Promise<string> {
    if (offer.configured !== '') return offer.configured;
    const added = await this.#parts.backend.settings.addOffered(place.id, offer.modelId);
    this.#parts.models.adopt(added.models);
    return added.name;
  }

  async setFavourite(name: string, favourite: boolean): Promise<void> {
    this.#parts.models.adopt(await this.#parts.backend.settings.setFavourite(name, favourite));
  }

  async #load(): Promise<void> {
    const serial = ++this.#serial;
    const { backend, conversation } = this.#parts;
    this.#searching = true;
    this.#places = [];
    try {
      if (conversation.sessionId !== '') this.#effort = (await backend.sessions.sessionSettings(conversation.sessionId)).effort;
      const places = await backend.settings.modelPlaces();
      if (serial !== this.#serial) return;
      this.#places = places.map((place) => ({ place, offers: [], error: null, loading: true }));
      await Promise.all(places.map((place) => this.#ask(serial, place)));
    } catch {
      // The configured models are available anyway.
    } finally {
      if (serial === this.#serial) this.#searching = false;
    }
  }

  async #ask(serial: number, place: PlaceView): Promise<void> {
    let offers: readonly OfferView[] = [];
    let error: BackendError | null = null;
    try {
      offers = await this.#parts.backend.settings.offeredModels(place.id);
    } catch (thrown) {
      error = toBackendError(thrown);
    }
    if (serial !== this.#serial) return;
    this.#places = this.#places.map((entry) => (entry.place.id === place.id ? { place, offers, error, loading: false } : entry));
  }

  #used(name: string): void {
    this.#recent = [name, ...this.#recent.filter((other) => other !== name)].slice(0, maxRecent);
    try {
      this.#storage.setItem(recentKey, JSON.stringify(this.#recent));
    } catch {
      // If storage is full or forbidden, only the order of the list is lost.
    }
  }
}

function restored(storage: Storage): readonly string[] {
  try {
    const names: unknown = JSON.parse(storage.getItem(recentKey) ?? '[]');
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string').slice(0, maxRecent) : [];
  } catch {
    return [];
  }
}
