export type Column = 'sessions' | 'inspector';
export type View = 'chat' | 'settings';

/** Widths in rem, so that text zoom scales them; the same bounds for pointer and keyboard. */
export const columnBounds: Record<Column, { min: number; max: number; start: number }> = {
  sessions: { min: 11, max: 26, start: 14.5 },
  inspector: { min: 20, max: 45, start: 26 },
};

/** The lines of a search want more room than the narrowest inspector has; at the width one starts with, nothing jumps. */
const searchRem = columnBounds.inspector.start;

/** Where columns become drawers, in rem of window width (styles/narrow.css says the same). */
export const drawerBelow: Record<Column, number> = { sessions: 66, inspector: 76 };

/** What one sees first is the conversation: the inspector opens when something of it is asked for. */
const collapsedAtFirst: Record<Column, boolean> = { sessions: false, inspector: true };

const storageKey = 'contextinfinity.layout';

interface Saved {
  widths: Record<Column, number>;
  collapsed: Record<Column, boolean>;
}

/** The three columns: widths and what is collapsed are remembered on this machine, drawers are not. */
export class LayoutState {
  #widths = $state<Record<Column, number>>({ sessions: columnBounds.sessions.start, inspector: columnBounds.inspector.start });
  #collapsed = $state<Record<Column, boolean>>({ ...collapsedAtFirst });
  #drawer = $state<Column | null>(null);
  #view = $state<View>('chat');
  #section = $state('');
  #windowRem = $state(80);
  #searching = $state(false);
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#restore();
  }

  get view(): View {
    return this.#view;
  }

  /** The page of the settings that was asked for; empty for the first. */
  get section(): string {
    return this.#section;
  }

  openSettings(section = ''): void {
    this.#section = section;
    this.#view = 'settings';
    this.#drawer = null;
  }

  closeSettings(): void {
    this.#view = 'chat';
  }

  /** The search of everything is in place of the inspector, or over the conversation where that would be a drawer. */
  get searching(): boolean {
    return this.#searching;
  }

  openSearch(): void {
    this.#view = 'chat';
    this.#drawer = null;
    this.#searching = true;
  }

  /** Says whether it was open. */
  closeSearch(): boolean {
    const open = this.#searching;
    this.#searching = false;
    return open;
  }

  /** What is at the right of the conversation takes, in rem. A drawer lies over it and takes nothing. */
  get rightRem(): number {
    if (this.isDrawer('inspector')) return 0;
    if (this.#searching) return Math.max(searchRem, this.#widths.inspector);
    return this.isOpen('inspector') ? this.#widths.inspector : 0;
  }

  /** Nothing lies over the conversation: neither the settings nor a drawer. */
  get chatInFront(): boolean {
    const over = (column: Column) => this.isDrawer(column) && this.isOpen(column);
    return this.#view === 'chat' && !over('sessions') && !over('inspector') && !(this.#searching && this.isDrawer('inspector'));
  }

  width(column: Column): number {
    return this.#widths[column];
  }

  resize(column: Column, rem: number): void {
    this.#widths[column] = clamp(rem, column);
    this.#save();
  }

  /** The window is too narrow for this column: it opens over the conversation instead. */
  isDrawer(column: Column): boolean {
    return this.#windowRem < drawerBelow[column];
  }

  isOpen(column: Column): boolean {
    if (column === 'inspector' && this.#searching) return false;
    return this.isDrawer(column) ? this.#drawer === column : !this.#collapsed[column];
  }

  toggle(column: Column): void {
    if (this.isOpen(column)) this.hide(column);
    else this.reveal(column);
  }

  reveal(column: Column): void {
    this.#view = 'chat';
    if (column === 'inspector' || this.isDrawer('inspector')) this.#searching = false;
    if (this.isDrawer(column)) this.#drawer = column;
    else this.#setCollapsed(column, false);
  }

  hide(column: Column): void {
    if (this.isDrawer(column)) this.#drawer = null;
    else this.#setCollapsed(column, true);
  }

  /** Closes what lies over the conversation. Says whether there was anything. */
  closeDrawer(): boolean {
    const open = this.#drawer !== null;
    this.#drawer = null;
    return open;
  }

  /** Told by the window whenever its size or the text size changes. */
  measured(windowRem: number): void {
    this.#windowRem = windowRem;
  }

  #setCollapsed(column: Column, collapsed: boolean): void {
    this.#collapsed[column] = collapsed;
    this.#save();
  }

  #save(): void {
    const saved: Saved = { widths: { ...this.#widths }, collapsed: { ...this.#collapsed } };
    try {
      this.#storage.setItem(storageKey, JSON.stringify(saved));
    } catch {
      // A full or forbidden storage costs a remembered width, nothing else.
    }
  }

  #restore(): void {
    try {
      const saved = JSON.parse(this.#storage.getItem(storageKey) ?? '{}') as Partial<Saved>;
      for (const column of ['sessions', 'inspector'] as const) {
        this.#widths[column] = clamp(Number(saved.widths?.[column]), column);
        const collapsed = saved.collapsed?.[column];
        this.#collapsed[column] = typeof collapsed === 'boolean' ? collapsed : collapsedAtFirst[column];
      }
    } catch {
      // Not ours or torn: the widths it starts with are good.
    }
  }
}

function clamp(rem: number, column: Column): number {
  const { min, max, start } = columnBounds[column];
  return Number.isFinite(rem) ? Math.min(max, Math.max(min, Math.round(rem * 16) / 16)) : start;
}
