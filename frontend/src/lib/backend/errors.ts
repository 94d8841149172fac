import { program } from '../words/program';
import { language } from '../words/words.svelte';
import type { Code, ErrorView } from './types';

/**
 * A call that failed: a code to act on, a sentence that says what happened, and a hint that says what to do. The program's
 * sentences are read in the language of the window, so that an error which stands while it changes follows it.
 */
export class BackendError extends Error {
  readonly code: Code;
  readonly op: string;
  readonly #view: ErrorView;

  constructor(view: ErrorView) {
    super();
    this.name = 'BackendError';
    this.code = view.code;
    this.op = view.op;
    this.#view = view;
  }

  override get message(): string {
    return program(this.#view.message);
  }

  get hint(): string {
    return asSentence(program(this.#view.hint));
  }
}

/** Whatever was thrown, as something that can be shown. */
export function toBackendError(thrown: unknown): BackendError {
  if (thrown instanceof BackendError) return thrown;
  return new BackendError(parseView(thrown instanceof Error ? thrown.message : thrown));
}

/** A hint follows "error: …" in brackets on the command line; in the window it stands as a sentence of its own. */
export function asSentence(hint: string): string {
  const words = hint.trim();
  if (words === '') return '';
  const end = /[.!?…。！？]$/.test(words) ? '' : language() === 'zh-CN' ? '。' : '.';
  return words.charAt(0).toLocaleUpperCase() + words.slice(1) + end;
}

/** The program rejects with an ErrorView as JSON, which the bridge may wrap in an Error; itself it rejects with plain words. */
function parseView(thrown: unknown): ErrorView {
  const text = String(thrown);
  try {
    const view = JSON.parse(text) as Partial<ErrorView>;
    if (typeof view?.message === 'string') {
      return { code: view.code ?? 'internal', op: view.op ?? '', message: view.message, hint: view.hint ?? '' };
    }
  } catch {
    // Not JSON: the words are the message.
  }
  return { code: 'internal', op: '', message: text, hint: '' };
}
