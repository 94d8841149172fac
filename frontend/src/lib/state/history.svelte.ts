import type { TurnView } from '$lib/backend/types';
import { textOf } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import { longText, type DraftState } from './draft.svelte';

interface Earlier {
  turnId: string;
  seq: number;
  text: string;
}

/**
 * The user's earlier messages of the branch, recalled in the message field. It starts only in an empty field and ends
 * when the text is changed: from then on it is an ordinary draft, so that no draft is lost.
 */
export class HistoryState {
  #at = $state.raw<Earlier | null>(null);
  #branchId = '';
  #loading = false;
  readonly #conversation: Pick<ConversationState, 'turns' | 'hasOlder' | 'loadOlder' | 'branchId'>;
  readonly #draft: Pick<DraftState, 'typed' | 'isEmpty' | 'longTexts' | 'images' | 'files'>;

  constructor(conversation: Pick<ConversationState, 'turns' | 'hasOlder' | 'loadOlder' | 'branchId'>, draft: Pick<DraftState, 'typed' | 'isEmpty' | 'longTexts' | 'images' | 'files'>) {
    this.#conversation = conversation;
    this.#draft = draft;
  }

  /** The recalled message in the field, unchanged; null if there is none. */
  get shown(): Earlier | null {
    const at = this.#at;
    return at && this.#branchId === this.#conversation.branchId && this.#draft.typed === at.text && this.#onlyText ? at : null;
  }

  /** Goes to the previous message, or stays at the first. Returns whether there is one. */
  async older(): Promise<boolean> {
    const at = this.shown;
    if (this.#loading || (!at && !this.#draft.isEmpty)) return false;
    let found = this.#before(at);
    while (!found && this.#conversation.hasOlder) {
      const { branchId } = this.#conversation;
      const typedBefore = this.#draft.typed;
      this.#loading = true;
      try {
        await this.#conversation.loadOlder();
      } finally {
        this.#loading = false;
      }
      if (branchId !== this.#conversation.branchId || typedBefore !== this.#draft.typed) return false; // the user did something else meanwhile
      found = this.#before(at);
    }
    if (!found) return false;
    this.#show(found);
    return true;
  }

  /** Goes to the next message; after the newest the field is empty again. */
  newer(): void {
    const at = this.shown;
    if (!at) return;
    const after = messages(this.#conversation.turns).find((message) => message.seq > at.seq && message.text !== at.text);
    if (after) this.#show(after);
    else this.leave();
  }

  /** Returns to the empty field. */
  leave(): void {
    if (!this.shown) return;
    this.#at = null;
    this.#draft.typed = '';
  }

  get #onlyText(): boolean {
    return this.#draft.longTexts.length + this.#draft.images.length + this.#draft.files.length === 0;
  }

  #before(at: Earlier | null): Earlier | undefined {
    return messages(this.#conversation.turns).findLast((message) => !at || (message.seq < at.seq && message.text !== at.text));
  }

  #show(message: Earlier): void {
    this.#branchId = this.#conversation.branchId;
    this.#at = message;
    this.#draft.typed = message.text;
  }
}

function messages(turns: readonly TurnView[]): Earlier[] {
  return turns.flatMap((turn) => {
    const text = turn.deletedAt > 0 ? '' : textOf(turn.user);
    return text.trim() === '' || text.length > longText ? [] : [{ turnId: turn.id, seq: turn.seq, text }];
  });
}
