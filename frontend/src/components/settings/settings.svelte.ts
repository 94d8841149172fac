import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { Setting, SettingsView } from '$lib/backend/types';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { Loaded } from '$shared/loaded.svelte';

/** The setting of the window's language. */
export const languageKey = 'ui.language';

const remembered = 'contextinfinity.settings.detail';

/**
 * Editing the configuration on the settings screen: each key is saved individually and at once. An error is shown
 * beside the key it rejected.
 */
export class SettingsEditor {
  readonly view: Loaded<SettingsView>;
  #errors = $state<Record<string, BackendError>>({});
  #saved = $state('');
  #detail = $state(localStorage.getItem(remembered) === 'on');
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.view = new Loaded(() => backend.settings.settings());
  }

  get settings(): readonly Setting[] {
    return this.view.value?.settings ?? [];
  }

  /** Whether rarely changed groups are listed, and the key of each setting; remembered. */
  get detail(): boolean {
    return this.#detail;
  }

  set detail(on: boolean) {
    this.#detail = on;
    localStorage.setItem(remembered, on ? 'on' : 'off');
  }

  errorOf(key: string): BackendError | undefined {
    return this.#errors[key];
  }

  /** The key that was saved last, whose row shows it. */
  get saved(): string {
    return this.#saved;
  }

  forget(key: string): void {
    delete this.#errors[key];
  }

  set(key: string, value: string): Promise<boolean> {
    return this.#write(key, () => this.#backend.settings.set(key, value));
  }

  reset(key: string): Promise<boolean> {
    return this.#write(key, () => this.#backend.settings.reset(key));
  }

  async #write(key: string, work: () => Promise<SettingsView>): Promise<boolean> {
    this.#saved = '';
    try {
      const view = await work();
      if (key === languageKey) await chooseLanguage(view.settings.find((setting) => setting.key === key)?.value ?? 'system');
      this.view.put(view);
      delete this.#errors[key];
      this.#saved = key;
      return true;
    } catch (thrown) {
      this.#errors[key] = toBackendError(thrown);
      return false;
    }
  }
}
