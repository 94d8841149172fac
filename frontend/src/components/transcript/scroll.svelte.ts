/**
 * Where the transcript is scrolled to. At its end it follows what arrives; one movement of the reader upwards and it
 * stays where the reader is, whatever arrives.
 */
import type { VirtualizerHandle } from 'virtua/svelte';

/** So near the end the reader counts as being there. */
const endPx = 32;
/** How long after a wheel, key or drag a movement still counts as the reader's. */
const handMs = 250;

const upKeys = new Set(['ArrowUp', 'PageUp', 'Home']);

export class TranscriptScroll {
  #following = $state(true);
  #hand = 0;
  #pressed = false;
  #last = 0;
  #element: HTMLElement | undefined;
  #handle: VirtualizerHandle | undefined;
  #observer: ResizeObserver | undefined;

  /** Stays at the end as the end moves. */
  get following(): boolean {
    return this.#following;
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    this.#observer = new ResizeObserver(() => this.#grown());
    this.#observer.observe(element);
    if (element.firstElementChild) this.#observer.observe(element.firstElementChild);
    const released = () => (this.#pressed = false);
    addEventListener('pointerup', released);
    return () => {
      this.#observer?.disconnect();
      removeEventListener('pointerup', released);
    };
  }

  /** The list was made anew. */
  use(handle: VirtualizerHandle | undefined): void {
    this.#handle = handle;
    const content = this.#element?.firstElementChild;
    if (content) this.#observer?.observe(content);
  }

  toEnd(lastIndex: number): void {
    this.#following = true;
    if (lastIndex >= 0) this.#handle?.scrollToIndex(lastIndex, { align: 'end' });
    requestAnimationFrame(() => this.#grown());
  }

  toIndex(index: number, align: 'start' | 'center' | 'nearest' = 'start'): void {
    this.#following = false;
    this.#handle?.scrollToIndex(index, { align, offset: align === 'start' ? -16 : 0 });
  }

  /** A position changed, by the reader or by what was drawn. */
  scrolled(): void {
    const element = this.#element;
    if (!element) return;
    const top = element.scrollTop;
    const rest = element.scrollHeight - element.clientHeight - top;
    if (top < this.#last - 1 && rest > endPx && this.#byHand) this.#following = false;
    else if (rest <= endPx) this.#following = true;
    this.#last = top;
  }

  wheel(event: WheelEvent): void {
    this.#touch();
    if (event.deltaY < 0 && this.#scrollable) this.#following = false;
  }

  key(event: KeyboardEvent): void {
    this.#touch();
    if (upKeys.has(event.key) && this.#scrollable && event.target === this.#element) this.#following = false;
  }

  /** Pressed on the scroll bar, or touching. */
  press(): void {
    this.#pressed = true;
    this.#touch();
  }

  #touch(): void {
    this.#hand = performance.now();
  }

  get #byHand(): boolean {
    return this.#pressed || performance.now() - this.#hand < handMs;
  }

  get #scrollable(): boolean {
    return this.#element !== undefined && this.#element.scrollTop > 0;
  }

  #grown(): void {
    if (this.#following && this.#element) this.#element.scrollTop = this.#element.scrollHeight;
  }
}
