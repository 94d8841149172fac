/**
 * Where the transcript is scrolled to. At its end it follows what arrives; one movement of the reader upwards and it
 * stays where the reader is, whatever arrives.
 */
import type { VirtualizerHandle } from 'virtua/svelte';

/** So near the end the reader counts as being there. */
const endPx = 32;
/** How long after a wheel, key or drag a movement still counts as the reader's. */
const handMs = 250;

/** So many frames without a correction, and a jump has arrived; after so many it ends anyhow. */
const calmFrames = 5;
const holdFrames = 60;

const upKeys = new Set(['ArrowUp', 'PageUp', 'Home']);

export class TranscriptScroll {
  #following = $state(true);
  #hand = 0;
  #hold = 0;
  #holding = false;
  #pressed = false;
  #last = 0;
  #element: HTMLElement | undefined;
  #handle: VirtualizerHandle | undefined;
  #content: MutationObserver | undefined;

  /** Stays at the end as the end moves. */
  get following(): boolean {
    return this.#following;
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    const port = new ResizeObserver(() => this.#grown());
    port.observe(element);
    // The list sets its height as a style, in a resize observer of its own. To observe the size of the list as well
    // would be a loop: it is drawn outside of the turns that were just measured.
    this.#content = new MutationObserver(() => this.#grown());
    this.#observeContent();
    const released = () => (this.#pressed = false);
    addEventListener('pointerup', released);
    return () => {
      port.disconnect();
      this.#content?.disconnect();
      removeEventListener('pointerup', released);
    };
  }

  /** The list was made again. */
  use(handle: VirtualizerHandle | undefined): void {
    this.#handle = handle;
    this.#observeContent();
  }

  #observeContent(): void {
    const content = this.#element?.firstElementChild;
    this.#content?.disconnect();
    if (content) this.#content?.observe(content, { attributes: true, attributeFilter: ['style'] });
  }

  toEnd(lastIndex: number): void {
    this.#hold++;
    this.#holding = false;
    this.#following = true;
    if (lastIndex >= 0) this.#handle?.scrollToIndex(lastIndex, { align: 'end' });
    requestAnimationFrame(() => this.#grown());
  }

  /** A jump is under way: what is drawn on it is on its way past. */
  get holding(): boolean {
    return this.#holding;
  }

  /** Leaves the end, wherever the end goes. */
  leaveEnd(): void {
    this.#following = false;
  }

  toIndex(index: number): void {
    this.#handle?.scrollToIndex(index, { align: 'start' });
  }

  /**
   * Holds on to a target while the turns around it are drawn and measured, some frames after they were scrolled to.
   * `offBy` says how many pixels too low it stands, null while it is not drawn. The reader's hand ends it.
   */
  hold(offBy: (port: DOMRect) => number | null, done: () => void, again: () => void): void {
    const hold = ++this.#hold;
    const began = performance.now();
    let calm = 0;
    this.#holding = true;
    const look = (frame: number) => {
      if (hold !== this.#hold) return;
      const element = this.#element;
      if (!element || this.#hand > began || calm === calmFrames || frame === holdFrames) {
        this.#holding = false;
        return done();
      }
      const off = offBy(element.getBoundingClientRect());
      if (off === null && frame % 4 === 3) again();
      const before = element.scrollTop;
      if (off !== null && Math.abs(off) > 1) element.scrollTop += off;
      calm = off !== null && Math.abs(element.scrollTop - before) < 1 ? calm + 1 : 0;
      requestAnimationFrame(() => look(frame + 1));
    };
    requestAnimationFrame(() => look(0));
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
