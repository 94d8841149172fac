/** Whether the settings of the open session are shown; opened from the header's menu and by /settings. */
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
