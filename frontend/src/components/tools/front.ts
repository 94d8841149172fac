/**
 * When keys and clicks decide about a waiting call. A key is Alt and a letter, because a bare letter may belong to a
 * message that the user believes they are typing. Both count only once the card has been in front for a moment, so that
 * a key or click for one call never decides about the next, which appears in the same place.
 */
import { isTyping, chordOf } from '$lib/shortcuts';

/** How long a card must have been in front and unchanged, and for keys also without other keys, in milliseconds. */
export const settling = 500;

/** The keys of a choice, in the notation of lists. */
export const chord = (letter: string): string => `Alt+${letter}`;

/** A card of a call, from the moment it came to the front. */
export class Front {
  #since = performance.now();
  /** When the last key was pressed that decides nothing. */
  #typed = -Infinity;

  /** The card came to the front, or what it shows has changed. */
  restart(): void {
    this.#since = performance.now();
  }

  /** Whether a click, also one made by Enter or Space, decides. The second click of a double click never does. */
  takes(click: MouseEvent): boolean {
    return click.detail < 2 && elapsed(this.#since);
  }

  /** The letter of the choice that a key press makes; empty: none. */
  letter(event: KeyboardEvent): string {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return '';
    const keys = chordOf(event);
    if (keys === null) return ''; // a modifier alone
    const letter = /^Alt\+(\p{L})$/u.exec(keys)?.[1] ?? '';
    const settled = elapsed(this.#since) && elapsed(this.#typed);
    if (letter === '' || event.repeat) this.#typed = performance.now();
    return letter !== '' && settled && !event.repeat ? letter : '';
  }
}

const elapsed = (since: number): boolean => performance.now() - since >= settling;
