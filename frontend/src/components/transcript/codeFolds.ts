/** Folding long code (lib/markdown/render.ts draws the button), and remembering what the user has unfolded, wrapped or previewed. */
import { later, never } from '$lib/markdown/enhance';
import { openPreviews } from '$lib/markdown/previewable';
import { t } from '$lib/i18n/i18n.svelte';

const maxRemembered = 100;
/** The texts of code that the user has unfolded: a virtual list draws a turn again whenever it is scrolled back to. */
const unfolded = new Set<string>();
const textOf = (code: HTMLElement): string => code.querySelector('pre code')?.textContent ?? '';

/** Whether the user has wrapped the lines of a code, or keeps them unwrapped although all code is wrapped. */
const wrapped = new Map<string, 'on' | 'off'>();

/** Remembers the user's choice for this code. */
export function rememberFold(code: HTMLElement, open: boolean): void {
  if (!code.querySelector('[data-act="fold"]')) return; // too short
  const text = textOf(code);
  unfolded.delete(text);
  if (open) unfolded.add(text);
  if (unfolded.size > maxRemembered) unfolded.delete(unfolded.values().next().value!);
}

/** Wraps the long lines of this code, or unwraps them. */
export function toggleWrap(code: HTMLElement): void {
  const wraps = (code.dataset['wrap'] ?? document.documentElement.dataset['codeWrap']) === 'on' ? 'off' : 'on';
  setWrap(code, wraps);
  rememberWrap(textOf(code), wraps);
}

function rememberWrap(text: string, wraps: 'on' | 'off'): void {
  wrapped.delete(text);
  wrapped.set(text, wraps);
  if (wrapped.size > maxRemembered) wrapped.delete(wrapped.keys().next().value!);
}

function setWrap(code: HTMLElement, wraps: 'on' | 'off'): void {
  code.dataset['wrap'] = wraps;
  code.querySelector('[data-act="wrap"]')?.setAttribute('aria-pressed', String(wraps === 'on'));
}

/** For {@attach}: wraps the code in a block as the user had chosen, also when it was not complete yet. */
export function keepWrap(html: string, complete: boolean): ((node: HTMLElement) => void) | undefined {
  if (wrapped.size === 0 || !html.includes('data-act="wrap"')) return undefined;
  return (node) => {
    for (const code of node.querySelectorAll<HTMLElement>('.code')) {
      const text = textOf(code);
      const wraps = wrapped.get(text) ?? (code.dataset['wrap'] as 'on' | 'off' | undefined);
      if (!wraps) continue;
      setWrap(code, wraps);
      if (complete) rememberWrap(text, wraps);
    }
  };
}

/** Shows all lines of a long code block, or only the first ones. */
export function unfold(code: HTMLElement, open: boolean): void {
  // Code that arrived while the user watched has its button beside it (MarkdownBlock.svelte).
  const beside = code.closest('.block')?.querySelector<HTMLElement>(':scope > .code__more');
  if (beside) return beside.getAttribute('aria-expanded') === String(open) ? undefined : beside.click();
  const button = code.querySelector('[data-act="fold"]');
  if (!button) return;
  if (open) code.dataset['open'] = '';
  else delete code.dataset['open'];
  button.textContent = open ? t('transcript.showFewerLines') : t('transcript.showAllLines', { lines: code.dataset['lines'] ?? '' });
  if (!open) code.scrollIntoView({ block: 'nearest' });
}

/** For {@attach}: unfolds the code in a block that the user had unfolded. */
export function keepUnfolded(html: string): ((node: HTMLElement) => void) | undefined {
  if (unfolded.size === 0 || !html.includes('data-act="fold"')) return undefined;
  return (node) => {
    for (const code of node.querySelectorAll<HTMLElement>('.code')) if (unfolded.has(textOf(code))) unfold(code, true);
  };
}

/**
 * For {@attach}: opens the previews in a block that were open, draws complete diagrams when they are visible, and draws
 * both again after a change of the theme.
 */
export function showPreviews(html: string, complete: boolean, _theme: string | undefined): ((node: HTMLElement) => (() => void) | undefined) | undefined {
  const hasDiagram = complete && html.includes('data-lang="mermaid"');
  if (!html.includes('data-act="preview"') || (openPreviews.size === 0 && !hasDiagram)) return undefined;
  return (node) => {
    const codes = [...node.querySelectorAll<HTMLElement>('.code')];
    void import('$lib/markdown/preview').then(({ reopen }) => Promise.all(codes.map(reopen)));
    if (!hasDiagram) return undefined;
    for (const code of codes) later(code, () => import('$lib/markdown/preview').then(({ drawDiagram }) => drawDiagram(code)));
    return () => codes.forEach(never);
  };
}
