/** Sessions by when they were last open, walked through while Ctrl is held. */

/** More are reached by the list. */
const most = 30;

export class RecentSessions {
  /** Most recent first. */
  #order: string[] = [];
  #walk: string[] | null = null;
  #at = 0;
  readonly #listed: () => readonly string[];
  readonly #open: (sessionId: string) => Promise<void>;

  /** listed: the sessions there are, in the order of the list. */
  constructor(listed: () => readonly string[], open: (sessionId: string) => Promise<void>) {
    this.#listed = listed;
    this.#open = open;
  }

  /** A session was opened. While one walks, only where one ends counts. */
  visited(sessionId: string): void {
    if (this.#walk || sessionId === '') return;
    this.#order = [sessionId, ...this.#order.filter((id) => id !== sessionId)].slice(0, most);
  }

  /** To the session that was open before, and with each step one further; -1 goes the other way. */
  async step(by: 1 | -1): Promise<void> {
    const listed = this.#listed();
    if (!this.#walk) {
      const known = new Set(listed);
      const recent = this.#order.filter((id) => known.has(id));
      this.#walk = [...recent, ...listed.filter((id) => !recent.includes(id))].slice(0, most);
      this.#at = 0;
    }
    const walk = this.#walk;
    if (walk.length < 2) return;
    this.#at = (this.#at + by + walk.length) % walk.length;
    await this.#open(walk[this.#at]!);
  }

  /** Ctrl is let go: the session one is at is the most recent one. */
  released(): void {
    const id = this.#walk?.[this.#at];
    this.#walk = null;
    if (id) this.visited(id);
  }
}
