/**
 * The scroll position of the transcript. At its end it follows new text; as soon as the user scrolls up it stays there,
 * whatever arrives.
 */
import type { VirtualizerHandle } from 'virtua/svelte';

/** Within this distance of the end, the reader counts as being at the end. */
const endPx = 32;
/** How long after a wheel, key or drag event a scroll still counts as the user's. */
const inputMs = 250;

/** A jump is complete after calmFrames frames without a correction, and ends in any case after holdFrames. */
const calmFrames = 5;
const holdFrames = 60;

const upKeys = new Set(['ArrowUp', 'PageUp', 'Home']);

export class TranscriptScroll {
  #following = $state(true);
  #lastInput = 0;
  #hold = 0;
  #holding = false;
  #pressed = false;
  #last = 0;
  #element: HTMLElement | undefined;
  #handle: VirtualizerHandle | undefined;
  #content: MutationObserver | undefined;

  /** Stays at the end while the end moves. */
  get following(): boolean {
    return this.#following;
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    // The list sets its height as a style in its own resize observer. Observing the size of the list as well would
    // cause a loop: it is drawn based on the turns that were just measured.
    this.#content = new MutationObserver(() => this.#grown());
    this.#observeContent();
    const released = () => (this.#pressed = false);
    addEventListener('pointerup', released);
    return () => {
      this.#content?.disconnect();
      removeEventListener('pointerup', released);
    };
  }

  /** The list was created again. */
  use(handle: VirtualizerHandle | undefined): void {
    this.#handle = handle;
    this.#observeContent();
  }

  #observeContent(): void {
    const content = this.#element?.firstElementChild;
    this.#content?.disconnect();
    if (content) this.#content?.observe(content, { attributes: true, attributeFilter: ['style'] });
  }

  /**
   * The list has measured its viewport or its turns. The position is set only after its resize observer has returned:
   * the list shifts the position itself by what grew above. If this were done before, with an observer of our own, the
   * list would shift the position a second time, to a place below all turns, and draw none.
   */
  measured(): void {
    queueMicrotask(() => this.#grown());
  }

  toEnd(lastIndex: number): void {
    this.#hold++;
    this.#holding = false;
    this.#following = true;
    if (lastIndex >= 0) this.#handle?.scrollToIndex(lastIndex, { align: 'end' });
    requestAnimationFrame(() => this.#grown());
  }

  /** A jump is in progress: turns drawn during it are only passed. */
  get holding(): boolean {
    return this.#holding;
  }

  /** Leaves the end, even if the end moves. */
  leaveEnd(): void {
    this.#following = false;
  }

  toIndex(index: number): void {
    this.#handle?.scrollToIndex(index, { align: 'start' });
  }

  /**
   * Keeps a target in place while the turns around it are drawn and measured, for some frames after the scroll. `offBy`
   * returns how many pixels too low it is, or null while it is not drawn. Any scrolling by the user ends it.
   */
  hold(offBy: (port: DOMRect) => number | null, done: () => void, again: () => void): void {
    const hold = ++this.#hold;
    const began = performance.now();
    let calm = 0;
    this.#holding = true;
    const check = (frame: number) => {
      if (hold !== this.#hold) return;
      const element = this.#element;
      if (!element || this.#lastInput > began || calm === calmFrames || frame === holdFrames) {
        this.#holding = false;
        return done();
      }
      const offset = offBy(element.getBoundingClientRect());
      if (offset === null && frame % 4 === 3) again();
      const before = element.scrollTop;
      if (offset !== null && Math.abs(offset) > 1) element.scrollTop += offset;
      calm = offset !== null && Math.abs(element.scrollTop - before) < 1 ? calm + 1 : 0;
      requestAnimationFrame(() => check(frame + 1));
    };
    requestAnimationFrame(() => check(0));
  }

  /** A position changed, by the user or by drawing. */
  scrolled(): void {
    const element = this.#element;
    if (!element) return;
    const top = element.scrollTop;
    const rest = element.scrollHeight - element.clientHeight - top;
    if (top < this.#last - 1 && rest > endPx && this.#byUser) this.#following = false;
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

  /** The pointer is pressed on the scroll bar, or the screen is touched. */
  press(): void {
    this.#pressed = true;
    this.#touch();
  }

  #touch(): void {
    this.#lastInput = performance.now();
  }

  get #byUser(): boolean {
    return this.#pressed || performance.now() - this.#lastInput < inputMs;
  }

  get #scrollable(): boolean {
    return this.#element !== undefined && this.#element.scrollTop > 0;
  }

  #grown(): void {
    if (this.#following && this.#element) this.#element.scrollTop = this.#element.scrollHeight;
  }
}
