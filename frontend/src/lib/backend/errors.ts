import type { Code, ErrorView } from './types';

/** A call that failed: a code to act on, a sentence that says what happened, and a hint that says what to do. */
export class BackendError extends Error {
  readonly code: Code;
  readonly op: string;
  readonly hint: string;

  constructor(view: ErrorView) {
    super(view.message);
    this.name = 'BackendError';
    this.code = view.code;
    this.op = view.op;
    this.hint = view.hint;
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
  return words.charAt(0).toLocaleUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? '' : '.');
}

/** The program rejects with an ErrorView as JSON, which the bridge may wrap in an Error; itself it rejects with plain words. */
function parseView(thrown: unknown): ErrorView {
  const text = String(thrown);
  try {
    const view = JSON.parse(text) as Partial<ErrorView>;
    if (typeof view?.message === 'string') {
      return { code: view.code ?? 'internal', op: view.op ?? '', message: view.message, hint: asSentence(view.hint ?? '') };
    }
  } catch {
    // Not JSON: the words are the message.
  }
  return { code: 'internal', op: '', message: text, hint: '' };
}
