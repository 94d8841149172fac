/** The actions of the buttons in an answer: in code blocks and at footnotes (lib/markdown/render.ts draws them). */
import type { App } from '$lib/state/app.svelte';
import { tableAsCsv, tableAsMarkdown } from '$lib/markdown/tables';
import { rememberFold, toggleWrap, unfold } from './codeFolds';

/** The reference from which the user came to a footnote, to go back to it. */
const cameFrom = new WeakMap<Element, HTMLElement>();

export async function answerAct(app: App, button: HTMLElement): Promise<void> {
  const code = button.closest<HTMLElement>('.code');
  const text = code?.querySelector('pre code')?.textContent ?? '';
  switch (button.dataset['act']) {
    case 'copy': return app.turnActions.copy(text);
    case 'beside': return app.artifact.show(button.closest<HTMLElement>('[data-turn]')?.dataset['turn'] ?? '', text);
    case 'wrap': return code ? toggleWrap(code) : undefined;
    case 'fold': return code ? fold(code) : undefined;
    case 'save': return app.turnActions.saveCode(code?.dataset['file'] ?? 'code.txt', text);
    case 'preview': return code && app.theme.previews ? preview(code) : undefined;
    case 'markdown':
    case 'csv': return copyTable(app, button);
    case 'note': return goToNote(button);
    case 'back': return goBack(button);
    default: return undefined;
  }
}

async function copyTable(app: App, button: HTMLElement): Promise<void> {
  const table = button.closest('.table')?.querySelector('table');
  if (table) await app.turnActions.copy(button.dataset['act'] === 'csv' ? tableAsCsv(table) : tableAsMarkdown(table));
}

function fold(code: HTMLElement): void {
  const open = code.dataset['open'] === undefined;
  unfold(code, open);
  rememberFold(code, open);
}

async function preview(code: HTMLElement): Promise<void> {
  const { open, close, isOpen } = await import('$lib/markdown/preview');
  if (isOpen(code)) close(code);
  else await open(code);
}

/** The element of that kind with this label in the same text. Labels are compared and never put into a selector. */
function partner(button: HTMLElement, selector: string): HTMLElement | undefined {
  const label = button.dataset['note'];
  return [...(button.closest('.prose')?.querySelectorAll<HTMLElement>(selector) ?? [])].find((element) => element.dataset['note'] === label);
}

function goToNote(button: HTMLElement): void {
  const note = partner(button, '.note');
  if (!note) return;
  cameFrom.set(note, button);
  note.tabIndex = -1;
  focusOn(note);
}

function goBack(button: HTMLElement): void {
  const note = button.closest('.note');
  const reference = note ? cameFrom.get(note) : undefined;
  const target = reference?.isConnected ? reference : partner(button, '[data-act="note"]');
  if (target) focusOn(target);
}

function focusOn(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' });
  element.focus({ preventScroll: true });
}
