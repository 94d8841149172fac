/**
 * The parts of a block that are drawn only when it is visible: colours in code, and formulas. Both are separate chunks,
 * loaded when first needed; until then, and without them, the plain text is shown.
 */
import { language, t } from '$lib/i18n/i18n.svelte';
import { colours } from './colouring';
import { escapeHtml } from './escape';
import { inLines } from './lines';

/** A longer formula stays as its source. */
const maxTexChars = 3_000;
const maxRemembered = 300;

/** Longer code is not numbered: each line is an element. */
const maxNumberedLines = 5_000;

type Katex = typeof import('katex').default;

let mathematics: Promise<Katex> | undefined;
let katex: Katex | undefined;
/** Recently drawn formulas by their source: a growing answer draws its last block again with every frame. */
const formulas = new Map<string, string>();
const coloured = new Map<string, string>();
const waiting = new WeakMap<Element, () => unknown>();

/** Whatever a drawer throws, at once or later, the text stays as it is. */
function attempt(work: (() => unknown) | undefined): void {
  try {
    void Promise.resolve(work?.()).catch(() => undefined);
  } catch {
    // As above: one block that cannot be drawn never takes another one with it.
  }
}

const observer = typeof IntersectionObserver === 'undefined' ? undefined : new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer?.unobserve(entry.target);
      const work = waiting.get(entry.target);
      waiting.delete(entry.target);
      attempt(work);
    }
  },
  { rootMargin: '600px' },
);

/** Formulas that wait for an idle moment: a page full of them is drawn over many frames, not in one. */
const queue: (() => Promise<void>)[] = [];
const budgetMs = 8;
let draining = false;

function soon(work: () => Promise<void>): void {
  queue.push(work);
  if (!draining) void drain();
}

async function drain(): Promise<void> {
  draining = true;
  let began = performance.now();
  for (let work = queue.shift(); work; work = queue.shift()) {
    // A formula that cannot be drawn stays as its source; the next one does not wait.
    await work().catch(() => undefined);
    if (performance.now() - began < budgetMs) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
  draining = false;
}

/** The time used so far in one frame. */
let frameBegan = 0;
let frameSpent = 0;
const frameMs = 16;

/** Runs the work now if this frame has time left for it. */
function atOnce(work: () => void): boolean {
  const now = performance.now();
  if (now - frameBegan > frameMs) [frameBegan, frameSpent] = [now, 0];
  if (frameSpent >= budgetMs) return false;
  work();
  frameSpent += performance.now() - now;
  return true;
}

/** For {@attach}: runs again whenever the block's HTML, the line numbering or the language changes. */
export function enhance(html: string, numbers = false): (node: HTMLElement) => () => void {
  return (node) => {
    void language(); // the accessible name of a scrolling table depends on it
    const targets: HTMLElement[] = [];
    if (html.includes('data-lang=')) targets.push(...node.querySelectorAll<HTMLElement>('code[data-lang]'));
    if (html.includes('data-tex=')) targets.push(...node.querySelectorAll<HTMLElement>('.math[data-tex]'));
    if (html.includes('"data-scroll"')) targets.push(...node.querySelectorAll<HTMLElement>('.data-scroll'));
    for (const target of targets) attempt(() => prepare(target, numbers));
    return () => {
      for (const target of targets) never(target);
    };
  };
}

function prepare(target: HTMLElement, numbers: boolean): void {
  if (target.dataset['tex'] !== undefined) return prepareMath(target);
  if (target.dataset['lang'] === undefined) return later(target, () => makeReachable(target));
  const known = coloured.get(keyOf(target));
  show(target, known ?? null, numbers);
  if (known === undefined && target.dataset['lang'] !== '') later(target, () => colour(target, numbers));
}

/** Runs the work when the element is about to be visible; a failure is ignored. */
export function later(target: HTMLElement, work: () => unknown): void {
  waiting.set(target, work);
  observer?.observe(target);
}

export function never(target: HTMLElement): void {
  observer?.unobserve(target);
  waiting.delete(target);
}

/** A table that scrolls can be reached by keyboard. */
function makeReachable(table: HTMLElement): void {
  if (table.scrollWidth <= table.clientWidth) return;
  table.tabIndex = 0;
  table.setAttribute('role', 'region');
  table.setAttribute('aria-label', t('markdown.table'));
}

const keyOf = (code: HTMLElement) => `${code.dataset['lang']}\n${code.textContent}`;

/** The code in colours, if they are ready; with numbered lines, if requested. */
function show(code: HTMLElement, html: string | null, numbers: boolean): void {
  const numbered = numbers && Number(code.closest<HTMLElement>('.code')?.dataset['lines'] ?? 0) <= maxNumberedLines;
  if (numbered) code.innerHTML = inLines(html ?? escapeHtml(code.textContent ?? ''));
  else if (html !== null) code.innerHTML = html;
  else if (code.firstElementChild) code.innerHTML = escapeHtml(code.textContent ?? '');
}

async function colour(code: HTMLElement, numbers: boolean): Promise<void> {
  const key = keyOf(code);
  const html = await colours(code.textContent ?? '', code.dataset['lang']!.toLowerCase());
  if (html === null || !code.isConnected || keyOf(code) !== key) return;
  remember(coloured, key, html);
  show(code, html, numbers);
}

function remember(map: Map<string, string>, key: string, html: string): void {
  if (map.size >= maxRemembered) map.delete(map.keys().next().value!);
  map.set(key, html);
}

const formulaKey = (target: HTMLElement) => `${target.classList.contains('math--display')}\n${target.dataset['tex']}`;

/** Immediately if it was drawn before or there is time for it; the others when they become visible. */
function prepareMath(target: HTMLElement): void {
  if (target.dataset['tex']!.length > maxTexChars) return;
  const known = formulas.get(formulaKey(target));
  if (known !== undefined) target.innerHTML = known;
  else if (katex && atOnce(() => drawWith(katex!, target))) return;
  else {
    load().catch(() => undefined); // so that the module is loaded by the time the block is visible
    later(target, () => soon(() => drawMath(target)));
  }
}

async function load(): Promise<Katex> {
  mathematics ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(([module]) => module.default);
  return (katex = await mathematics);
}

async function drawMath(target: HTMLElement): Promise<void> {
  const drawing = await load();
  if (target.isConnected) drawWith(drawing, target);
}

function drawWith(drawing: Katex, target: HTMLElement): void {
  // trust: false refuses \href, \includegraphics and HTML.
  const options = {
    displayMode: target.classList.contains('math--display'), throwOnError: false, trust: false, strict: 'ignore',
    maxExpand: 500, maxSize: 20,
  } as const;
  let html: string;
  try {
    html = drawing.renderToString(target.dataset['tex']!, options);
  } catch {
    html = escapeHtml(target.textContent ?? ''); // too deep for the stack: the source stays, and is not tried again
  }
  remember(formulas, formulaKey(target), html);
  target.innerHTML = html;
}
