import { stripMarkdown } from '$lib/markdown/stripMarkdown';
import { t } from '$lib/i18n/i18n.svelte';
import type { ToastsState } from './toasts.svelte';

/** Engines cut off long utterances: a text is read in parts of this length that end at the end of a sentence. */
const pieceChars = 300;
/** A voice that has not begun after this time never does: some engines list one that has no sound, and report nothing. */
const silenceMs = 10_000;
/** The maximum for one answer. */
const maxPieces = 2_000;

/** Reads answers aloud with the system's voice. Not offered if the engine has no voice. */
export class SpeechState {
  #available = $state(false);
  #reading = $state('');
  #run = 0;
  readonly #toasts: Pick<ToastsState, 'show'>;
  readonly #engine: SpeechSynthesis | undefined = globalThis.speechSynthesis;
  readonly #updateAvailable = () => (this.#available = (this.#engine?.getVoices().length ?? 0) > 0);

  constructor(toasts: Pick<ToastsState, 'show'>) {
    this.#toasts = toasts;
    if (!this.#engine) return;
    this.#updateAvailable();
    this.#engine.addEventListener?.('voiceschanged', this.#updateAvailable); // engines list their voices some time after the start
  }

  /** A voice exists. */
  get available(): boolean {
    return this.#available;
  }

  /** The turn that is being read; empty for none. */
  get reading(): string {
    return this.#reading;
  }

  /** Reads an answer from its beginning, or stops reading it. */
  toggle(turnId: string, text: string): void {
    if (this.#reading === turnId) return this.stop();
    this.stop();
    const pieces = spokenPieces(text);
    if (pieces.length === 0) return void this.#toasts.show(t('state.nothingToRead'), { tone: 'warn' });
    this.#reading = turnId;
    this.#speak(pieces, 0, ++this.#run);
  }

  stop(): void {
    this.#run++;
    this.#reading = '';
    this.#engine?.cancel();
  }

  /** Called when the window closes. */
  close(): void {
    this.stop();
    this.#engine?.removeEventListener?.('voiceschanged', this.#updateAvailable);
  }

  #speak(pieces: readonly string[], at: number, run: number): void {
    if (run !== this.#run) return;
    const piece = pieces[at];
    if (piece === undefined) {
      this.#reading = '';
      return;
    }
    const utterance = new SpeechSynthesisUtterance(piece);
    const failed = (error: string) => {
      clearTimeout(silence);
      if (run !== this.#run) return;
      this.stop();
      if (error !== 'canceled' && error !== 'interrupted') this.#toasts.show(t('state.voiceStopped'), { hint: t('state.checkVoice'), tone: 'warn' });
    };
    const silence = setTimeout(() => failed('silent'), silenceMs);
    utterance.onstart = () => clearTimeout(silence);
    utterance.onend = () => {
      clearTimeout(silence);
      this.#speak(pieces, at + 1, run);
    };
    utterance.onerror = (event) => failed(event.error);
    this.#engine?.speak(utterance);
  }
}

const code = /^[ \t]*(?:```|~~~)[^\n]*\n[^]*?(?:^[ \t]*(?:```|~~~)[^\n]*\n?|$(?![^]))/gm;
const formulas = /\$\$[^]*?\$\$|\\\[[^]*?\\\]|\\\([^]*?\\\)/g;
const notes = /\[\^[^\]\s]{1,40}\]:?/g;

/**
 * The spoken part of an answer: its text without Markdown characters, code and formulas, split at the ends of
 * sentences.
 */
export function spokenPieces(text: string): string[] {
  const plain = stripMarkdown(text.replace(code, '\n\n').replace(formulas, ' ').replace(notes, '')).replace(/https?:\/\/\S+/g, ' ').replace(/[|*_#>`~]+/g, ' ');
  const pieces: string[] = [];
  for (const paragraph of plain.split(/\n+/)) {
    let piece = '';
    for (const sentence of paragraph.match(/[^.!?。！？…]+[.!?。！？…]*\s*/g) ?? []) {
      for (let at = 0; at < sentence.length; at += pieceChars) {
        const part = sentence.slice(at, at + pieceChars);
        if (piece !== '' && piece.length + part.length > pieceChars) {
          pieces.push(piece.trim());
          piece = '';
        }
        piece += part;
      }
    }
    pieces.push(piece.trim());
  }
  return pieces.filter((piece) => /[\p{L}\p{N}]/u.test(piece)).slice(0, maxPieces);
}
