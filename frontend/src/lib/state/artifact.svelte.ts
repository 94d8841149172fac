import type { TurnView } from '$lib/backend/types';
import { codeBlocks, versionsOf, type Artifact } from '$lib/markdown/artifacts';
import type { App } from './app.svelte';

type Parts = Pick<App, 'branches' | 'conversation' | 'layout'>;

/** The code, page or diagram that is shown beside the conversation, with its versions along the open branch. */
export class ArtifactState {
  #chosen = $state.raw<Artifact | null>(null);
  #sessionId = '';
  readonly #parts: Parts;
  readonly #all = $derived.by(() => this.#parts.conversation.turns.flatMap(artifactsOf));
  readonly #versions = $derived.by(() => (this.#chosen ? versionsOf(this.#all, this.#chosen) : []));
  /** The newest version is shown, and a newer one replaces it. */
  #follows = $state(false);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** It belongs to the open session. */
  get isHere(): boolean {
    return this.#sessionId === this.#parts.conversation.sessionId;
  }

  get versions(): readonly Artifact[] {
    return this.#versions;
  }

  get at(): number {
    return this.#follows ? this.#versions.length - 1 : this.#versions.findIndex(({ turnId, text }) => turnId === this.#chosen?.turnId && text === this.#chosen.text);
  }

  get shown(): Artifact | undefined {
    return this.#versions[this.at];
  }

  /** The code of a turn, as drawn. */
  show(turnId: string, text: string): void {
    const found = this.#all.find((artifact) => artifact.turnId === turnId && artifact.text.trim() === text.trim());
    if (found) this.#open(found);
  }

  /** The newest one of the branch. Returns whether there is one. */
  showNewest(): boolean {
    const newest = this.#all.at(-1);
    if (newest) this.#open(newest);
    return newest !== undefined;
  }

  get hasAny(): boolean {
    return this.#all.length > 0;
  }

  step(delta: 1 | -1): void {
    const next = this.#versions[this.at + delta];
    if (!next) return;
    this.#chosen = next;
    this.#follows = this.#versions.at(-1) === next;
  }

  close(): void {
    this.#chosen = null;
    if (this.#parts.layout.panel === 'artifact') this.#parts.layout.closePanel();
  }

  #open(artifact: Artifact): void {
    this.#sessionId = this.#parts.conversation.sessionId;
    this.#chosen = artifact;
    this.#follows = this.#versions.at(-1)?.text === artifact.text;
    this.#parts.branches.closeFullView();
    this.#parts.layout.openPanel('artifact');
  }
}

function artifactsOf(turn: TurnView): Artifact[] {
  return turn.assistant.flatMap((block) => (block.kind === 'text' && /^ {0,3}(?:```|~~~)/m.test(block.text) ? codeBlocks(block.text).map((code) => ({ turnId: turn.id, seq: turn.seq, ...code })) : []));
}
