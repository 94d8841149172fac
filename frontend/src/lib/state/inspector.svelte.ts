import type { LayoutState } from './layout.svelte';

export const inspectorTabs = ['pending', 'state', 'activity'] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

/** Which tab of the inspector is open, and which turn it was opened for. */
export class InspectorState {
  #tab = $state<InspectorTab>('pending');
  #turnId = $state('');
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

  /** Selects a tab without opening the column. */
  select(tab: InspectorTab): void {
    this.#tab = tab;
  }

  /** Selects a tab and makes sure it is seen: what header cells and links call. */
  show(tab: InspectorTab, turnId = ''): void {
    this.#tab = tab;
    this.#turnId = turnId;
    this.#layout.reveal('inspector');
  }

  clearTurn(): void {
    this.#turnId = '';
  }
}
