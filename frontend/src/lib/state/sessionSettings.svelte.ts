/** Whether the open session's own settings are shown; asked for from the header's menu and by /settings. */
export class SessionSettingsState {
  #open = $state(false);

  get open(): boolean {
    return this.#open;
  }

  show(): void {
    this.#open = true;
  }

  close(): void {
    this.#open = false;
  }
}
