import type { Backend } from '$lib/backend/backend';
import type { Setting, Startup } from '$lib/backend/types';
import type { ToastsState } from './toasts.svelte';

export const themeChoices = ['system', 'light', 'dark', 'contrast'] as const;
export type ThemeChoice = (typeof themeChoices)[number];

export const widthChoices = ['narrow', 'normal', 'wide', 'full'] as const;
export type WidthChoice = (typeof widthChoices)[number];

export const motionChoices = ['system', 'reduced'] as const;
export type MotionChoice = (typeof motionChoices)[number];

export const zoomMin = 80;
export const zoomMax = 200;
export const codeMin = 75;
export const codeMax = 175;

/** Configuration keys of the settings in this class. */
export const themeKey = 'appearance.theme';
export const zoomKey = 'appearance.text_zoom';
export const codeKey = 'appearance.code_size';
export const widthKey = 'appearance.message_width';
export const motionKey = 'appearance.motion';
export const wrapKey = 'appearance.code_wrap';
export const numbersKey = 'appearance.code_numbers';
export const previewsKey = 'appearance.previews';

/** The appearance settings in the start-up information. */
export type Look = Pick<Startup, 'theme' | 'textZoom' | 'codeSize' | 'codeWrap' | 'codeNumbers' | 'previews' | 'messageWidth' | 'motion'>;

/** The appearance: applied to the page at once, then written to the configuration. */
export class ThemeState {
  #choice = $state<ThemeChoice>('system');
  #zoom = $state(100);
  #code = $state(100);
  #width = $state<WidthChoice>('normal');
  #motion = $state<MotionChoice>('system');
  #wrap = $state(false);
  #numbers = $state(false);
  #previews = $state(true);
  #systemDark = $state(false);
  #saving: Promise<void> = Promise.resolve();
  #saves = 0;
  /** The keys that this window changes: how many saves are still to end, and the count of saves at the latest one. */
  readonly #own = new Map<string, { open: number; at: number }>();
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

  /** The theme in effect: the chosen one, with "system" resolved. */
  get drawn(): Exclude<ThemeChoice, 'system'> {
    return this.#choice === 'system' ? (this.#systemDark ? 'dark' : 'light') : this.#choice;
  }

  get zoom(): number {
    return this.#zoom;
  }

  /** The size of code in percent of the text size. */
  get code(): number {
    return this.#code;
  }

  /** The maximum width of a line of the conversation. */
  get width(): WidthChoice {
    return this.#width;
  }

  get motion(): MotionChoice {
    return this.#motion;
  }

  /** Long lines of code are wrapped, unless a block overrides it. */
  get wrap(): boolean {
    return this.#wrap;
  }

  /** Lines of code are numbered. */
  get numbers(): boolean {
    return this.#numbers;
  }

  /** Code such as diagrams can be shown as a preview. */
  get previews(): boolean {
    return this.#previews;
  }

  /** Applies the configuration without writing it back. */
  adopt(look: Look): void {
    this.#choice = themeChoices.find((known) => known === look.theme) ?? 'system';
    this.#zoom = clamp(look.textZoom || 100, zoomMin, zoomMax);
    this.#code = clamp(look.codeSize || 100, codeMin, codeMax);
    this.#width = widthChoices.find((known) => known === look.messageWidth) ?? 'normal';
    this.#motion = motionChoices.find((known) => known === look.motion) ?? 'system';
    this.#wrap = look.codeWrap;
    this.#numbers = look.codeNumbers;
    this.#previews = look.previews;
    this.#apply();
  }

  /** A count for adoptSettings, to take before the settings are read. */
  get saves(): number {
    return this.#saves;
  }

  /**
   * Applies settings that the command line or another window may have changed. What this window saved since they were
   * requested, or is still saving, is newer and stays.
   */
  adoptSettings(settings: readonly Setting[], since: number): void {
    const isNewer = (key: string) => {
      const own = this.#own.get(key);
      return own !== undefined && (own.open > 0 || own.at > since);
    };
    const valueOf = (key: string, now: string | number | boolean) => (isNewer(key) ? undefined : settings.find((setting) => setting.key === key)?.value) ?? String(now);
    this.adopt({
      theme: valueOf(themeKey, this.#choice),
      textZoom: Number(valueOf(zoomKey, this.#zoom)),
      codeSize: Number(valueOf(codeKey, this.#code)),
      codeWrap: valueOf(wrapKey, this.#wrap) === 'true',
      codeNumbers: valueOf(numbersKey, this.#numbers) === 'true',
      previews: valueOf(previewsKey, this.#previews) === 'true',
      messageWidth: valueOf(widthKey, this.#width),
      motion: valueOf(motionKey, this.#motion),
    });
  }

  async setChoice(choice: ThemeChoice): Promise<void> {
    this.#choice = choice;
    this.#apply();
    await this.#save(themeKey, choice);
  }

  async setZoom(zoom: number): Promise<void> {
    this.#zoom = clamp(zoom, zoomMin, zoomMax);
    this.#apply();
    await this.#save(zoomKey, String(this.#zoom));
  }

  async setCode(size: number): Promise<void> {
    this.#code = clamp(size, codeMin, codeMax);
    this.#apply();
    await this.#save(codeKey, String(this.#code));
  }

  async setWidth(width: WidthChoice): Promise<void> {
    this.#width = width;
    this.#apply();
    await this.#save(widthKey, width);
  }

  async setMotion(motion: MotionChoice): Promise<void> {
    this.#motion = motion;
    this.#apply();
    await this.#save(motionKey, motion);
  }

  async setWrap(wrap: boolean): Promise<void> {
    this.#wrap = wrap;
    this.#apply();
    await this.#save(wrapKey, String(wrap));
  }

  async setNumbers(numbers: boolean): Promise<void> {
    this.#numbers = numbers;
    await this.#save(numbersKey, String(numbers));
  }

  async setPreviews(previews: boolean): Promise<void> {
    this.#previews = previews;
    this.#apply();
    await this.#save(previewsKey, String(previews));
  }

  /** Switches through light, dark and contrast. */
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
    root.dataset.width = this.#width;
    root.dataset.motion = this.#motion;
    root.dataset.codeWrap = this.#wrap ? 'on' : 'off';
    root.dataset.previews = this.#previews ? 'on' : 'off';
    root.style.setProperty('--text-zoom', String(this.#zoom / 100));
    root.style.setProperty('--code-zoom', String(this.#code / 100));
    // Chromium evaluates container queries in rem again only when their container changes: without this the columns
    // would fold for large text only after the next resize of the window.
    const { body } = document;
    body.style.containerType = 'normal';
    void body.offsetWidth;
    body.style.containerType = '';
    this.#remember();
  }

  /** For public/theme.js, which styles the first frame before the program has replied. */
  #remember(): void {
    try {
      localStorage.setItem('contextinfinity.look', JSON.stringify({ theme: this.#choice, zoom: this.#zoom, code: this.#code, width: this.#width, motion: this.#motion }));
    } catch {
      // Without storage, the first frame follows the system's theme.
    }
  }

  /** In order: the program handles calls concurrently, and the last value of a dragged slider must be the one saved. */
  #save(key: string, value: string): Promise<void> {
    const own = this.#own.get(key) ?? { open: 0, at: 0 };
    this.#own.set(key, own);
    own.open++;
    this.#saving = this.#saving.then(async () => {
      try {
        await this.#backend.settings.set(key, value);
      } catch (error) {
        this.#toasts.error(error);
      }
      own.open--;
      own.at = ++this.#saves;
    });
    return this.#saving;
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(value)));
}
