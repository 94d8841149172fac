/** The sections of a request in prompt order (SPEC 6): their numbers, names and colours, and how they are said. */
import type { ContextItem, ContextSection, ContextView } from '$lib/backend/types';
import { counted, grouped } from '$shared/format';

const narrow = '\u202f';

interface Look {
  number: number;
  title: string;
  /** A role of tokens.css. */
  fill: string;
  /** Not part of the head yet. */
  striped: boolean;
}

const looks: Record<string, Look> = {
  system: { number: 1, title: 'System instructions', fill: 'var(--color-section-system)', striped: false },
  tools: { number: 2, title: 'Tools', fill: 'var(--color-section-tools)', striped: false },
  pinned: { number: 3, title: 'Pinned facts', fill: 'var(--color-section-pinned)', striped: false },
  summaries: { number: 4, title: 'Range summaries', fill: 'var(--color-section-summaries)', striped: false },
  originals: { number: 5, title: 'Original turns', fill: 'var(--color-section-originals)', striped: false },
  pending: { number: 6, title: 'Pending turns', fill: 'var(--color-section-originals)', striped: true },
  state: { number: 7, title: 'State summary', fill: 'var(--color-section-state)', striped: false },
  retrieved: { number: 8, title: 'Retrieved memory', fill: 'var(--color-section-retrieved)', striped: false },
  message: { number: 9, title: 'Your message', fill: 'var(--color-section-message)', striped: false },
};

/** What represents the oldest turns: summaries by a model, extracts until they are made, or both. */
export function replacingTitle(summaries: boolean, extracts: boolean): string {
  return extracts ? (summaries ? 'Range summaries and extracts' : 'Extracts') : 'Range summaries';
}

export function lookOf({ name, items }: Pick<ContextSection, 'name' | 'items'>): Look {
  const has = (source: string) => items.some((item) => item.source === source);
  if (name === 'summaries') return { ...looks['summaries']!, title: replacingTitle(has('summary'), has('extract')) };
  return looks[name] ?? { number: 0, title: name, fill: 'var(--color-section-tools)', striped: false };
}

/** What a section holds, beside its name: "#139 to #148", "4". */
export function extentOf(section: ContextSection): string {
  const { items, name } = section;
  if (name === 'originals' || name === 'pending') return span(items.map((item) => item.seq), items.map((item) => item.seq));
  if (name === 'summaries') return span(items.map((item) => item.from), items.map((item) => item.to));
  // The program's own words around the items are shown and not counted.
  const own = items.filter((item) => !['config', 'day', 'now'].includes(item.source)).length;
  return own > 1 ? grouped(own) : '';
}

function span(firsts: number[], lasts: number[]): string {
  const from = Math.min(...firsts.filter((seq) => seq > 0));
  const to = Math.max(...lasts);
  if (!Number.isFinite(from) || to <= 0) return '';
  return from === to ? `#${from}` : `#${from} to #${to}`;
}

/** A share as "5.2 %"; nothing of nothing is 0. */
export function share(part: number, whole: number): string {
  return `${whole > 0 ? ((part / whole) * 100).toFixed(1) : '0.0'}${narrow}%`;
}

/** A share without its tenth. */
export function percent(part: number, whole: number): string {
  return `${whole > 0 ? Math.round((part / whole) * 100) : 0}${narrow}%`;
}

/** How far the count made before sending was from the provider's own: "12 400 counted, 12 412 reported, 0.1 % under". */
export function countedAgainst(view: Pick<ContextView, 'tokens' | 'reported'>): string {
  if (view.reported === 0) return `${grouped(view.tokens)} counted; the provider reported nothing`;
  const off = ((view.tokens - view.reported) / view.reported) * 100;
  const said = Math.abs(off) < 0.05 ? 'the same' : `${Math.abs(off).toFixed(1)}${narrow}% ${off > 0 ? 'over' : 'under'}`;
  return `${grouped(view.tokens)} counted, ${grouped(view.reported)} reported, ${said}`;
}

/** Where an item is from, as the word on its door; empty where there is nothing to go to. */
export function doorOf(item: ContextItem): string {
  switch (item.source) {
    case 'turn':
    case 'partial':
      return item.seq > 0 ? `#${item.seq}` : '';
    case 'summary':
    case 'extract':
      return item.from > 0 ? `#${item.from}–${item.to}` : '';
    case 'pin':
      return 'pin';
    case 'state':
      return 'state';
    case 'chunk':
      return item.memory?.chunk?.turnSeq === 0 ? '' : item.memory?.chunk ? `#${item.memory.chunk.turnSeq}` : 'source';
    case 'config':
      return 'settings';
    default:
      return '';
  }
}

/** The name of an item beside its door, without saying its number twice. */
export function nameOf(item: ContextItem): string {
  if (item.source !== 'turn') return item.label;
  return item.role === 'assistant' ? 'the model' : item.role === 'user' ? 'you' : item.role;
}

/** The form a chunk was packed in. */
export function formWord(form: string): string {
  return form === 'slice' ? 'in part' : form === 'summary' ? 'summary' : 'whole';
}

/** The first words of a text on one line. */
export function firstWords(text: string, most = 90): string {
  const line = text.slice(0, most * 4).replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most).trimEnd()}…` : line;
}

/** What stayed the same at the front, which is what a provider's cache can reuse. */
export function prefixWords(sharedBytes: number, totalBytes: number): string {
  if (sharedBytes === 0) return 'nothing at the front is the same';
  return `first ${grouped(sharedBytes)} of ${counted(totalBytes, 'byte')} the same, ${percent(sharedBytes, totalBytes)}`;
}
