import type { LayoutState } from './layout.svelte';

export const inspectorTabs = ['branches', 'pending', 'memory', 'xray', 'state', 'activity'] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

/** Which tab of the inspector is open, and which turn it was opened for. */
export class InspectorState {
  #tab = $state<InspectorTab>('pending');
  #turnId = $state('');
  #seen = $state('');
  /** The section of the X-ray that is to be opened; the X-ray takes it when it is there. */
  section = $state('');
  readonly #layout: LayoutState;

  constructor(layout: LayoutState) {
    this.#layout = layout;
  }

  get tab(): InspectorTab {
    return this.#tab;
  }

  /** The turn whose attempts Activity shows; empty for none. */
  get turnId(): string {
    return this.#turnId;
  }

  /** The turn the X-ray looks at; empty for what comes next. */
  get seen(): string {
    return this.#seen;
  }

  /** Selects a tab without opening the column. */
  select(tab: InspectorTab): void {
    this.#tab = tab;
  }

  /** Turns the X-ray to a turn, or with "" to what comes next. */
  look(turnId: string): void {
    this.#seen = turnId;
  }

  /** Selects a tab and makes sure it is seen: what header cells and links call. The X-ray follows the turn. */
  show(tab: InspectorTab, turnId = '', section = ''): void {
    this.#tab = tab;
    this.section = section;
    this.#turnId = turnId;
    if (turnId !== '' || tab === 'xray') this.#seen = turnId;
    this.#layout.reveal('inspector');
  }

  clearTurn(): void {
    this.#turnId = '';
  }
}
