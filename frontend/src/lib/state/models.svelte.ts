import { SvelteSet } from 'svelte/reactivity';
import type { Backend } from '$lib/backend/backend';
import type { ModelView } from '$lib/backend/types';

/** The configured models, as the header's selector and the settings show them. */
export class ModelsState {
  #list = $state.raw<ModelView[]>([]);
  readonly #skipped = new SvelteSet<string>();
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get list(): readonly ModelView[] {
    return this.#list;
  }

  get usable(): readonly ModelView[] {
    return this.#list.filter((model) => model.usable);
  }

  get byDefault(): ModelView | undefined {
    return this.#list.find((model) => model.default) ?? this.usable[0];
  }

  find(name: string): ModelView | undefined {
    return this.#list.find((model) => model.name === name);
  }

  /**
   * Whether an ability is unknown to the program, so that the user is asked. For the vendors' own models and the
   * built-in one it is known.
   */
  isUnknown(model: ModelView, ability: 'images' | 'tools'): boolean {
    return model.usable && model.provider !== 'recall' && model.baseUrl !== '' && model[ability] === '' && !this.#skipped.has(`${ability} ${model.name}`);
  }

  /** The user does not know either: not asked again while the window is open. */
  skipQuestion(name: string, ability: 'images' | 'tools'): void {
    this.#skipped.add(`${ability} ${name}`);
  }

  /** Applies the models that a call returned. */
  adopt(models: ModelView[]): void {
    this.#list = models;
  }

  async load(): Promise<void> {
    this.#list = await this.#backend.settings.models();
  }
}
