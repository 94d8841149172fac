import type { Layout, Placed } from './layout';
import { centre, fit, reveal, seen, touches, within, zoomAt, type Size, type View } from './viewport';

/** The size until it is measured. */
const unmeasured: Size = { width: 400, height: 560 };
/** Zoom factors for a step of the wheel and for a key. */
const wheelStep = 1.0015;
export const zoomStep = 1.25;

/** The view of a layout: its position, zoom, and the part that is drawn. */
export class CanvasState {
  #view = $state.raw<View>({ x: 16, y: 16, scale: 1 });
  #size = $state.raw<Size>(unmeasured);
  readonly #layout: () => Layout;
  readonly #unit: () => number;

  /** unit: screen pixels per layout pixel at scale 1, which follows the text size. */
  constructor(layout: () => Layout, unit: () => number) {
    this.#layout = layout;
    this.#unit = unit;
  }

  get view(): View {
    return this.#view;
  }

  get size(): Size {
    return this.#size;
  }

  /** The scale relative to the normal text size. */
  get zoom(): number {
    return this.#view.scale / this.#unit();
  }

  /** The visible part and a little more; the rest is not in the page. */
  readonly #window = $derived.by(() => seen(this.#view, this.#size));

  drawn(keep: string): Placed[] {
    return this.#layout().placed.filter((at) => touches(at, this.#window) || at.node.run.id === keep);
  }

  edges() {
    return this.#layout().edges.filter((edge) => touches(edge, this.#window));
  }

  measured(size: Size): void {
    if (size.width > 0 && size.height > 0) this.#size = size;
  }

  /** At full size: from the top if it fits, otherwise centred on that run. */
  home(runId: string): void {
    const layout = this.#layout();
    const scale = this.#unit();
    this.#view = { ...this.#view, scale };
    if (layout.height * scale <= this.#size.height - 32 && (layout.form === 'rows' || layout.width * scale <= this.#size.width - 32)) {
      this.#view = layout.form === 'rows' ? { x: 16, y: 16, scale } : fit(layout, this.#size, scale);
      return;
    }
    const at = layout.byId.get(runId);
    this.#set(at ? this.#toMiddle(at) : { ...this.#view, x: 16, y: 16 });
  }

  fit(): void {
    this.#view = fit(this.#layout(), this.#size, this.#unit());
  }

  /** Rows are aligned left, however long their text. */
  #toMiddle(at: Placed): View {
    const view = centre(this.#view, at, this.#size);
    return this.#layout().form === 'rows' ? { ...view, x: reveal({ ...this.#view, x: 16 }, { ...at, w: 160 }, this.#size).x } : view;
  }

  reveal(runId: string): void {
    const at = this.#layout().byId.get(runId);
    if (at) this.#set(reveal(this.#view, this.#layout().form === 'rows' ? { ...at, w: 160 } : at, this.#size));
  }

  centreOn(x: number, y: number): void {
    const rows = this.#layout().form === 'rows';
    const to = centre(this.#view, { x, y, w: 0, h: 0 }, this.#size);
    this.#set(rows ? { ...to, x: this.#view.x } : to);
  }

  zoomBy(factor: number, x = this.#size.width / 2, y = this.#size.height / 2): void {
    this.#set(zoomAt(this.#view, factor, x, y));
  }

  moveBy(x: number, y: number): void {
    this.#set({ ...this.#view, x: this.#view.x + x, y: this.#view.y + y });
  }

  /** Ctrl and the wheel, or a pinch, zoom; the wheel alone moves. */
  wheel(event: WheelEvent, x: number, y: number): void {
    const lines = event.deltaMode === 1 ? 20 : 1;
    if (event.ctrlKey || event.metaKey) this.zoomBy(wheelStep ** (-event.deltaY * lines), x, y);
    else if (event.shiftKey) this.moveBy(-event.deltaY * lines, 0);
    else this.moveBy(-event.deltaX * lines, -event.deltaY * lines);
  }

  #set(view: View): void {
    this.#view = within(view, this.#layout(), this.#size);
  }
}
