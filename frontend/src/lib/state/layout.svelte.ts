export type Column = 'sessions' | 'inspector';
export type View = 'chat' | 'settings';
/** What is shown in place of the inspector. */
export type Panel = 'search' | 'artifact';

/** Widths in rem, so that text zoom scales them; the same bounds for mouse and keyboard. */
export const columnBounds: Record<Column, { min: number; max: number; start: number }> = {
  sessions: { min: 11, max: 26, start: 14.5 },
  inspector: { min: 20, max: 45, start: 26 },
};

/** Search results and artifacts need more width than the narrowest inspector; with the default width nothing moves. */
const searchRem = columnBounds.inspector.start;

/** The window widths, in rem, below which columns become drawers (the same as in styles/narrow.css). */
export const drawerBelow: Record<Column, number> = { sessions: 66, inspector: 76 };

/** At first only the conversation is shown: the inspector opens when it is needed. */
const collapsedAtFirst: Record<Column, boolean> = { sessions: false, inspector: true };

/** Below this width, in rem, a page has no room for a list beside it. */
const narrowRem = 46;

/** Below this height, in rem, the header and the message field are compact, so that the conversation can be read. */
const lowRem = 30;

const storageKey = 'contextinfinity.layout';

interface Saved {
  widths: Record<Column, number>;
  collapsed: Record<Column, boolean>;
}

/** The three columns: widths and collapsed columns are saved on this machine, open drawers are not. */
export class LayoutState {
  #widths = $state<Record<Column, number>>({ sessions: columnBounds.sessions.start, inspector: columnBounds.inspector.start });
  #collapsed = $state<Record<Column, boolean>>({ ...collapsedAtFirst });
  #drawer = $state<Column | null>(null);
  #view = $state<View>('chat');
  #section = $state('');
  #windowRem = $state(80);
  #heightRem = $state(50);
  #panel = $state<Panel | ''>('');
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#restore();
  }

  get view(): View {
    return this.#view;
  }

  /** The requested page of the settings; empty for the first. */
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

  /** What is shown in place of the inspector, or over the conversation if the inspector would be a drawer; empty: nothing. */
  get panel(): Panel | '' {
    return this.#panel;
  }

  /** The global search is shown. */
  get searching(): boolean {
    return this.#panel === 'search';
  }

  openPanel(panel: Panel): void {
    this.#view = 'chat';
    this.#drawer = null;
    this.#panel = panel;
  }

  /** Returns whether one was open. */
  closePanel(): boolean {
    const open = this.#panel !== '';
    this.#panel = '';
    return open;
  }

  /** The width used at the right of the conversation, in rem. A drawer covers it and uses none. */
  get rightRem(): number {
    if (this.isDrawer('inspector')) return 0;
    if (this.#panel !== '') return Math.max(searchRem, this.#widths.inspector);
    return this.isOpen('inspector') ? this.#widths.inspector : 0;
  }

  /** Nothing covers the conversation: neither the settings nor a drawer. */
  get chatInFront(): boolean {
    const covers = (column: Column) => this.isDrawer(column) && this.isOpen(column);
    return this.#view === 'chat' && !covers('sessions') && !covers('inspector') && !(this.#panel !== '' && this.isDrawer('inspector'));
  }

  width(column: Column): number {
    return this.#widths[column];
  }

  resize(column: Column, rem: number): void {
    this.#widths[column] = clamp(rem, column);
    this.#save();
  }

  /** The window is too narrow for this column: it opens as a drawer over the conversation. */
  isDrawer(column: Column): boolean {
    return this.#windowRem < drawerBelow[column];
  }

  isOpen(column: Column): boolean {
    if (column === 'inspector' && this.#panel !== '') return false;
    return this.isDrawer(column) ? this.#drawer === column : !this.#collapsed[column];
  }

  toggle(column: Column): void {
    if (this.isOpen(column)) this.hide(column);
    else this.reveal(column);
  }

  reveal(column: Column): void {
    this.#view = 'chat';
    if (column === 'inspector' || this.isDrawer('inspector')) this.#panel = '';
    if (this.isDrawer(column)) this.#drawer = column;
    else this.#setCollapsed(column, false);
  }

  hide(column: Column): void {
    if (this.isDrawer(column)) this.#drawer = null;
    else this.#setCollapsed(column, true);
  }

  /** Closes what covers the conversation. Returns whether there was anything. */
  closeDrawer(): boolean {
    const open = this.#drawer !== null;
    this.#drawer = null;
    return open;
  }

  /** Called when the size of the window or of the text changes. */
  measured(windowRem: number, heightRem = this.#heightRem): void {
    this.#windowRem = windowRem;
    this.#heightRem = heightRem;
  }

  get narrow(): boolean {
    return this.#windowRem < narrowRem;
  }

  get low(): boolean {
    return this.#heightRem < lowRem;
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
      // If storage is full or forbidden, only the widths are not saved.
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
      // The entry is damaged: the default widths apply.
    }
  }
}

function clamp(rem: number, column: Column): number {
  const { min, max, start } = columnBounds[column];
  return Number.isFinite(rem) ? Math.min(max, Math.max(min, Math.round(rem * 16) / 16)) : start;
}
