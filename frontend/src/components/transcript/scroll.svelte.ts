/**
 * The scroll position of the transcript. At its end it follows new text; as soon as the reader moves up it stays there,
 * whatever arrives. How the reader moves does not matter (wheel, keys, the focus, a screen reader, the browser's own
 * search): a position above the one that was set last, which the list did not cause, is the reader's.
 */
import type { VirtualizerHandle } from 'virtua/svelte';

/** Within this distance of the end, the reader counts as being at the end. */
const endPx = 32;

/** A jump is complete after calmFrames frames without a correction, and ends in any case after holdFrames. */
const calmFrames = 5;
const holdFrames = 60;

export class TranscriptScroll {
  #following = $state(true);
  #lastInput = 0;
  #hold = 0;
  #holding = false;
  #last = 0;
  #hidden = false;
  #pressed = false;
  /** The position that was set last, and at that time the height of the viewport and where the last turn began. */
  #set: { top: number; viewport: number; turn: number; begin: number } | undefined;
  #listHeight: string | undefined;
  #element: HTMLElement | undefined;
  #handle: VirtualizerHandle | undefined;
  #content: MutationObserver | undefined;

  /** Stays at the end while the end moves. */
  get following(): boolean {
    return this.#following;
  }

  attach(element: HTMLElement): () => void {
    this.#element = element;
    const shown = new ResizeObserver(() => this.#isHidden());
    shown.observe(element);
    // The list sets its height as a style in its own resize observer. Observing the size of the list as well would
    // cause a loop: it is drawn based on the turns that were just measured.
    this.#content = new MutationObserver(() => this.#styled());
    this.#observeContent();
    return () => {
      shown.disconnect();
      this.#content?.disconnect();
    };
  }

  /**
   * Whether the conversation is hidden, as under the settings. The browser forgets the position of what it does not
   * draw, so once it is shown again, the position is set as it was.
   */
  #isHidden(): boolean {
    const element = this.#element;
    if (!element) return true;
    const wasHidden = this.#hidden;
    this.#hidden = element.clientHeight === 0;
    if (!wasHidden || this.#hidden) return this.#hidden;
    if (this.#following) this.#grown();
    else element.scrollTop = this.#last;
    return false;
  }

  /** The list was created again. */
  use(handle: VirtualizerHandle | undefined): void {
    this.#handle = handle;
    this.#observeContent();
  }

  #observeContent(): void {
    this.#set = undefined;
    this.#listHeight = this.#list?.style.height;
    this.#content?.disconnect();
    if (this.#list) this.#content?.observe(this.#list, { attributes: true, attributeFilter: ['style'] });
  }

  get #list(): HTMLElement | undefined {
    return this.#element?.firstElementChild as HTMLElement | undefined;
  }

  /** The list sets other styles too, for instance while it is scrolled. */
  #styled(): void {
    const height = this.#list?.style.height;
    if (height === this.#listHeight) return;
    this.#listHeight = height;
    this.#grown();
  }

  /**
   * The list has measured its viewport or its turns. The position is set only after its resize observer has returned:
   * the list shifts the position itself by what grew above. If this were done before, with an observer of our own, the
   * list would shift the position a second time, to a place below all turns, and draw none. A move of the reader must
   * be noticed before that shift, because afterwards the two cannot be told apart.
   */
  measured(): void {
    if (this.#isHidden()) return;
    if (this.#following) this.#stay();
    else if (!this.#holding && this.#rest <= 1) this.#following = true; // everything is in view
    queueMicrotask(() => this.#grown());
  }

  toEnd(): void {
    this.#hold++;
    this.#holding = false;
    this.#follow();
  }

  /** A jump is in progress: turns drawn during it are only passed. */
  get holding(): boolean {
    return this.#holding;
  }

  /** Leaves the end, even if the end moves. */
  leaveEnd(): void {
    this.#following = false;
  }

  /** What a person opens or closes stays under the pointer, also at the end, where new text would move it. */
  keepInPlace(element: HTMLElement, done: () => void): void {
    const { top } = element.getBoundingClientRect();
    this.#following = false;
    this.hold(() => (element.isConnected ? element.getBoundingClientRect().top - top : null), done, () => {});
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

  /** The position changed. The list's own shifts are over: after each the position was set to the end. */
  scrolled(): void {
    const element = this.#element;
    if (!element || this.#isHidden()) return;
    const top = element.scrollTop;
    const rest = this.#rest;
    if (this.#following) this.#stay();
    else if (rest <= 1 || (rest <= endPx && top > this.#last)) this.#follow();
    this.#last = top;
  }

  /** How far the end is below the viewport. */
  get #rest(): number {
    const element = this.#element;
    return element ? element.scrollHeight - element.clientHeight - element.scrollTop : Infinity;
  }

  /** A wheel, key or pointer event of the user. */
  touch(): void {
    this.#lastInput = performance.now();
  }

  /**
   * Until the button is up again, the end is not followed and a jump ends: an engine sends no click if something
   * else is under the pointer then.
   */
  press(): void {
    this.touch();
    this.#pressed = true;
  }

  release(): void {
    this.#pressed = false;
    this.#grown();
  }

  /**
   * Follows unless the reader left. What shrank at the end (code that became a diagram) has moved the position up: it
   * counts as set, or the next growth would look like a reader who left.
   */
  #stay(): void {
    this.#following = !this.#readerLeft();
    if (this.#following && this.#rest <= 1) this.#note();
  }

  #note(): void {
    const element = this.#element;
    if (!element) return;
    const turn = this.#handle?.findItemIndex(element.scrollHeight) ?? 0;
    const begin = this.#handle?.getItemOffset(turn) ?? 0;
    // A turn that is not measured yet can be taller than its place in the list. WebKit forgets such an overflow for a
    // moment and moves the position up to the end of the list.
    const listEnd = (parseFloat(this.#list?.style.height ?? '') || Infinity) - element.clientHeight;
    this.#set = { top: Math.min(element.scrollTop, listEnd), viewport: element.clientHeight, turn, begin };
  }

  /**
   * Whether the position is above the one that was set. The browser itself also moves it up, but only to the new end:
   * when the viewport grew, or the content shrank. So does the list, by what turns above the last one shrank.
   */
  #readerLeft(): boolean {
    const [element, set] = [this.#element, this.#set];
    if (!element || !set) return false;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const shrunk = Math.max(0, set.begin - (this.#handle?.getItemOffset(set.turn) ?? set.begin));
    const kept = set.top - Math.max(0, clientHeight - set.viewport) - shrunk;
    return scrollTop < kept - 1 && scrollHeight - clientHeight - scrollTop > 1;
  }

  #follow(): void {
    this.#following = true;
    this.#grown();
  }

  #grown(): void {
    const element = this.#element;
    if (!element || !this.#following || this.#pressed) return;
    element.scrollTop = element.scrollHeight;
    this.#note();
  }
}
