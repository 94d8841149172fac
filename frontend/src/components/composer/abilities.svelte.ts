/** Which of the model's abilities is unknown and matters for the next message. */
import type { ModelView } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';

type Parts = Pick<App, 'backend' | 'changes' | 'conversation' | 'draft' | 'models'>;

export class UnknownAbilities {
  #toolsOn = $state(false);
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  images(model: ModelView | undefined): boolean {
    const { draft, models } = this.#parts;
    return model !== undefined && draft.images.length > 0 && models.isUnknown(model, 'images');
  }

  tools(model: ModelView | undefined): boolean {
    return this.#toolsOn && this.#asksForTools(model);
  }

  /** Not while an answer is arriving, whose cards need the space, nor for a model that has called a tool here. */
  #asksForTools(model: ModelView | undefined): boolean {
    const { conversation, models } = this.#parts;
    return model !== undefined && models.isUnknown(model, 'tools') && !conversation.running && !conversation.turns.some((turn) => turn.model === model.name && turn.calls.length > 0);
  }

  /** Reads whether the session offers tools, again after each change. Called in an effect; returns its cleanup. */
  follow(model: ModelView | undefined): (() => void) | undefined {
    const { backend, changes, conversation } = this.#parts;
    const session = conversation.sessionId;
    if (session === '' || !this.#asksForTools(model)) return undefined;
    let cancelled = false;
    const check = async () => {
      const mode = (await backend.tools.sessionMode(session)) || (await backend.tools.panel()).mode;
      if (!cancelled) this.#toolsOn = mode === 'enabled';
    };
    const quietly = () => void check().catch(() => undefined); // it is retried later
    quietly();
    const off = changes.on(['settings', 'sessions'], quietly);
    return () => {
      cancelled = true;
      off();
    };
  }
}
