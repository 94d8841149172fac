import { fullStop, program } from '../i18n/program';
import type { Code, ErrorView } from './types';

/**
 * A call that failed: a code for the program, a sentence that says what happened, and a hint that says what to do. The
 * sentences are translated when they are read, so a displayed error follows a change of the language.
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

/** Any thrown value as an error that can be shown. */
export function toBackendError(thrown: unknown): BackendError {
  if (thrown instanceof BackendError) return thrown;
  return new BackendError(parseView(thrown instanceof Error ? thrown.message : thrown));
}

/** On the command line a hint follows "error: …" in brackets; in the window it is a sentence. */
export function asSentence(hint: string): string {
  const text = hint.trim();
  if (text === '') return '';
  const end = /[.!?…。！？]$/.test(text) ? '' : fullStop();
  return text.charAt(0).toLocaleUpperCase() + text.slice(1) + end;
}

/**
 * The program rejects with an ErrorView as JSON, which the bridge may wrap in an Error; the bridge itself rejects with
 * plain text.
 */
function parseView(thrown: unknown): ErrorView {
  const text = String(thrown);
  try {
    const view = JSON.parse(text) as Partial<ErrorView>;
    if (view?.message !== undefined) {
      return { code: view.code ?? 'internal', op: view.op ?? '', message: view.message, hint: view.hint ?? '' };
    }
  } catch {
    // Not JSON: the text is the message.
  }
  return { code: 'internal', op: '', message: text, hint: '' };
}
