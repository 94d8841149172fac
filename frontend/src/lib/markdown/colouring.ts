/**
 * Turns code into coloured HTML, in a worker. If the engine has no workers, or refuses this one, the page does it
 * itself in idle moments. Code that takes too long stays uncoloured.
 */
import type { ColouringRequest } from './colouring.worker';

/** Longer code stays uncoloured. */
const maxChars = { worker: 60_000, page: 15_000 };
const timeoutMs = 4_000;

type Answer = (html: string | null) => void;

let worker: Worker | null | undefined;
let answered = false;
let ids = 0;
const pending = new Map<number, Answer>();

/** Null if the language is unknown, or the code is too long. The HTML contains only spans and escaped text. */
export async function colours(text: string, language: string): Promise<string | null> {
  if (worker === undefined) worker = start();
  if (!worker) return inPage(text, language);
  if (text.length > maxChars.worker) return null;
  const html = await ask(worker, { id: ++ids, text, language });
  return html === undefined ? inPage(text, language) : html;
}

function start(): Worker | null {
  if (typeof Worker === 'undefined') return null;
  try {
    const created = new Worker(new URL('./colouring.worker.ts', import.meta.url), { type: 'module' });
    created.onmessage = ({ data }: MessageEvent<{ id: number; html: string | null }>) => {
      answered = true;
      pending.get(data.id)?.(data.html);
      pending.delete(data.id);
    };
    created.onerror = () => void end(created);
    return created;
  } catch {
    return null;
  }
}

/** Undefined if this worker never worked, and the page has to do it. */
async function ask(target: Worker, question: ColouringRequest): Promise<string | null | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      // A worker that worked before is stuck at some code: the next code gets a new one.
      if (target === worker) end(target);
    }, timeoutMs);
    pending.set(question.id, (html) => {
      clearTimeout(timer);
      resolve(html === null && !answered ? undefined : html);
    });
    target.postMessage(question);
  });
}

function end(ended: Worker): void {
  ended.terminate();
  worker = answered ? undefined : null;
  for (const answer of pending.values()) answer(null);
  pending.clear();
}

let highlighter: Promise<typeof import('highlight.js/lib/common').default> | undefined;

async function inPage(text: string, language: string): Promise<string | null> {
  if (text.length > maxChars.page) return null;
  highlighter ??= import('highlight.js/lib/common').then((module) => module.default);
  const hljs = await highlighter;
  await new Promise((resolve) => setTimeout(resolve)); // one piece of code per task
  return hljs.getLanguage(language) ? hljs.highlight(text, { language, ignoreIllegals: true }).value : null;
}
