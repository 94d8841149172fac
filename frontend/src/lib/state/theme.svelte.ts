import type { Backend } from '$lib/backend/backend';
import type { ToastsState } from './toasts.svelte';

export const themeChoices = ['system', 'light', 'dark', 'contrast'] as const;
export type ThemeChoice = (typeof themeChoices)[number];

export const zoomMin = 80;
export const zoomMax = 200;

/** Configuration keys of what this state shows. */
export const themeKey = 'appearance.theme';
export const zoomKey = 'appearance.text_zoom';

/** The look: applied to the page at once, then written to the configuration. */
export class ThemeState {
  #choice = $state<ThemeChoice>('system');
  #zoom = $state(100);
  #systemDark = $state(false);
  readonly #backend: Backend;
  readonly #toasts: ToastsState;
  readonly #media: MediaQueryList;
  readonly #follow = (event: MediaQueryListEvent) => {
    this.#systemDark = event.matches;
    this.#apply();
  };

  constructor(backend: Backend, toasts: ToastsState) {
    this.#backend = backend;
    this.#toasts = toasts;
    this.#media = matchMedia('(prefers-color-scheme: dark)');
    this.#systemDark = this.#media.matches;
    this.#media.addEventListener('change', this.#follow);
  }

  get choice(): ThemeChoice {
    return this.#choice;
  }

  /** What is drawn: the choice, with "system" resolved. */
  get drawn(): Exclude<ThemeChoice, 'system'> {
    return this.#choice === 'system' ? (this.#systemDark ? 'dark' : 'light') : this.#choice;
  }

  get zoom(): number {
    return this.#zoom;
  }

  /** Takes over what the configuration says, without writing it back. */
  adopt(choice: string, zoom: number): void {
    this.#choice = themeChoices.find((known) => known === choice) ?? 'system';
    this.#zoom = clampZoom(zoom || 100);
    this.#apply();
  }

  async setChoice(choice: ThemeChoice): Promise<void> {
    this.#choice = choice;
    this.#apply();
    await this.#save(themeKey, choice);
  }

  async setZoom(zoom: number): Promise<void> {
    this.#zoom = clampZoom(zoom);
    this.#apply();
    await this.#save(zoomKey, String(this.#zoom));
  }

  /** Light, dark, contrast, and round again. */
  async next(): Promise<void> {
    const order = ['light', 'dark', 'contrast'] as const;
    await this.setChoice(order[(order.indexOf(this.drawn) + 1) % order.length]!);
  }

  stop(): void {
    this.#media.removeEventListener('change', this.#follow);
  }

  #apply(): void {
    const root = document.documentElement;
    root.dataset.theme = this.drawn;
    root.style.setProperty('--text-zoom', String(this.#zoom / 100));
    // Chromium judges container queries in rem again only when their container changes: without this the columns
    // would fold for large text only after the next resize of the window.
    const { body } = document;
    body.style.containerType = 'normal';
    void body.offsetWidth;
    body.style.containerType = '';
    this.#remember();
  }

  /** For public/theme.js, which draws the first frame before the program has answered. */
  #remember(): void {
    try {
      localStorage.setItem('contextinfinity.look', JSON.stringify({ theme: this.#choice, zoom: this.#zoom }));
    } catch {
      // Then the first frame is drawn as the system is.
    }
  }

  async #save(key: string, value: string): Promise<void> {
    try {
      await this.#backend.settings.set(key, value);
    } catch (error) {
      this.#toasts.error(error);
    }
  }
}

function clampZoom(zoom: number): number {
  return Math.min(zoomMax, Math.max(zoomMin, Math.round(zoom)));
}
