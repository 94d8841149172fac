import type { LayoutState } from './layout.svelte';

export const inspectorTabs = ['branches', 'memory', 'xray', 'state', 'activity'] as const;
export type InspectorTab = (typeof inspectorTabs)[number];

const remembered = 'contextinfinity.tab';

/** The open tab of the inspector, which is remembered, and the turn it was opened for. */
export class InspectorState {
  #tab = $state<InspectorTab>(inspectorTabs.find((tab) => tab === localStorage.getItem(remembered)) ?? 'state');
  #turnId = $state('');
  #xrayTurnId = $state('');
  /** Whether the State tab lists the pending turns. */
  pendingOpen = $state(false);
  /** The section that the X-ray should expand; the X-ray clears it. */
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

  /** The turn in the X-ray; empty for the next request. */
  get xrayTurnId(): string {
    return this.#xrayTurnId;
  }

  /** Selects a tab without opening the column. */
  select(tab: InspectorTab): void {
    this.#tab = tab;
    localStorage.setItem(remembered, tab);
  }

  /** Shows a turn in the X-ray, or the next request with "". */
  showInXray(turnId: string): void {
    this.#xrayTurnId = turnId;
  }

  /** Selects a tab and makes it visible, for links and the header. The X-ray shows the turn. */
  show(tab: InspectorTab, turnId = '', section = ''): void {
    this.select(tab);
    this.section = section;
    this.#turnId = turnId;
    if (turnId !== '' || tab === 'xray') this.#xrayTurnId = turnId;
    this.#layout.reveal('inspector');
  }

  /** Shows the turns that the state does not cover yet. */
  showPending(): void {
    this.pendingOpen = true;
    this.show('state');
  }
}
