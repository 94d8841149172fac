/** Sessions by the time they were last open, switched through while Ctrl is held. */

/** Others are reached through the list. */
const maxSessions = 30;

export class RecentSessions {
  /** Most recent first. */
  #order: string[] = [];
  #walk: string[] | null = null;
  #at = 0;
  readonly #listed: () => readonly string[];
  readonly #open: (sessionId: string) => Promise<void>;

  /** listed: the existing sessions, in the order of the list. */
  constructor(listed: () => readonly string[], open: (sessionId: string) => Promise<void>) {
    this.#listed = listed;
    this.#open = open;
  }

  /** A session was opened. While the user switches through sessions, only the last one counts. */
  visited(sessionId: string): void {
    if (this.#walk || sessionId === '') return;
    this.#order = [sessionId, ...this.#order.filter((id) => id !== sessionId)].slice(0, maxSessions);
  }

  /** To the session that was open before, and one further back with each step; -1 goes the other way. */
  async step(delta: 1 | -1): Promise<void> {
    const listed = this.#listed();
    if (!this.#walk) {
      const known = new Set(listed);
      const recent = this.#order.filter((id) => known.has(id));
      this.#walk = [...recent, ...listed.filter((id) => !recent.includes(id))].slice(0, maxSessions);
      this.#at = 0;
    }
    const walk = this.#walk;
    if (walk.length < 2) return;
    this.#at = (this.#at + delta + walk.length) % walk.length;
    await this.#open(walk[this.#at]!);
  }

  /** Ctrl was released: the open session is now the most recent one. */
  released(): void {
    const id = this.#walk?.[this.#at];
    this.#walk = null;
    if (id) this.visited(id);
  }
}
