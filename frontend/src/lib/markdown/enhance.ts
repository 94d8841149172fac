/**
 * What a block gets only when it is seen: colours in code, drawn mathematics. Both come in chunks of their own, loaded
 * at the first need; until then, and without them, the text itself stands there.
 */
import { colours } from './colouring';

/** A longer formula stays as its source. */
const texMost = 3_000;
const rememberMost = 200;

let mathematics: Promise<typeof import('katex').default> | undefined;
const coloured = new Map<string, string>();
const waiting = new WeakMap<Element, () => unknown>();

const seen = typeof IntersectionObserver === 'undefined' ? undefined : new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen?.unobserve(entry.target);
      const work = waiting.get(entry.target);
      waiting.delete(entry.target);
      void work?.();
    }
  },
  { rootMargin: '600px' },
);

/** Formulas that wait for a moment to spare: a page full of them is drawn over many frames, not in one. */
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
    // What cannot be drawn stays as its source; the next is not kept waiting.
    await work().catch(() => undefined);
    if (performance.now() - began < budgetMs) continue;
    await new Promise((resolve) => setTimeout(resolve));
    began = performance.now();
  }
  draining = false;
}

/** For {@attach}: runs again whenever the block's HTML changed. */
export function enhance(html: string): (node: HTMLElement) => () => void {
  return (node) => {
    const targets: HTMLElement[] = [];
    if (html.includes('data-lang=')) targets.push(...node.querySelectorAll<HTMLElement>('code[data-lang]:not([data-lang=""])'));
    if (html.includes('data-tex=')) targets.push(...node.querySelectorAll<HTMLElement>('.math[data-tex]'));
    for (const target of targets) prepare(target);
    return () => {
      for (const target of targets) seen?.unobserve(target);
    };
  };
}

function prepare(target: HTMLElement): void {
  const known = target.dataset['lang'] === undefined ? undefined : coloured.get(keyOf(target));
  if (known !== undefined) {
    target.innerHTML = known;
    return;
  }
  waiting.set(target, target.dataset['tex'] === undefined ? () => colour(target) : () => soon(() => drawMath(target)));
  seen?.observe(target);
}

const keyOf = (code: HTMLElement) => `${code.dataset['lang']}\n${code.textContent}`;

async function colour(code: HTMLElement): Promise<void> {
  const key = keyOf(code);
  const html = await colours(code.textContent ?? '', code.dataset['lang']!.toLowerCase());
  if (html === null || !code.isConnected || keyOf(code) !== key) return;
  if (coloured.size >= rememberMost) coloured.delete(coloured.keys().next().value!);
  coloured.set(key, html);
  code.innerHTML = html;
}

async function drawMath(target: HTMLElement): Promise<void> {
  const tex = target.dataset['tex']!;
  if (tex.length > texMost || !target.isConnected) return;
  mathematics ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(([module]) => module.default);
  const katex = await mathematics;
  // trust: false refuses \href, \includegraphics and HTML; a formula that cannot be read stays as its source.
  target.innerHTML = katex.renderToString(tex, {
    displayMode: target.classList.contains('math--display'), throwOnError: false, trust: false, strict: 'ignore', maxExpand: 500, maxSize: 20,
  });
}
