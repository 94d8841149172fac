const storageKey = 'contextinfinity.palette';
const maxRecent = 6;

/** Whether the palette or the shortcut sheet is open, and the recent choices in the palette. */
export class PaletteState {
  #open = $state<'' | 'commands' | 'keys'>('');
  #recent = $state.raw<readonly string[]>([]);
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    try {
      const saved: unknown = JSON.parse(storage.getItem(storageKey) ?? '[]');
      if (Array.isArray(saved)) this.#recent = saved.filter((id) => typeof id === 'string').slice(0, maxRecent);
    } catch {
      // The entry is damaged: there are no recent choices.
    }
  }

  get open(): '' | 'commands' | 'keys' {
    return this.#open;
  }

  /** Ids of lines, the most recent first. */
  get recent(): readonly string[] {
    return this.#recent;
  }

  toggle(): void {
    this.#open = this.#open === 'commands' ? '' : 'commands';
  }

  showKeys(): void {
    this.#open = 'keys';
  }

  close(): void {
    this.#open = '';
  }

  used(id: string): void {
    this.#recent = [id, ...this.#recent.filter((other) => other !== id)].slice(0, maxRecent);
    try {
      this.#storage.setItem(storageKey, JSON.stringify(this.#recent));
    } catch {
      // If storage is full or forbidden, only the recent choices are lost.
    }
  }
}
