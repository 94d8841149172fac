/** The sections of a request in prompt order (SPEC 6): their numbers, names, colours and descriptions. */
import type { ContextItem, ContextSection, ContextView } from '$lib/backend/types';
import { stripMarkdown } from '$lib/markdown/stripMarkdown';
import { program } from '$lib/i18n/program';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatDate, formatDecimal, formatCount, formatPercent, formatBytes } from '$shared/format';
import { whoSaid } from '../../memory/labels';

/** Characters used for a preview. */
const maxPreviewChars = 1_000;

interface SectionStyle {
  number: number;
  title: string;
  /** A role of tokens.css. */
  fill: string;
  /** Not part of the head yet. */
  striped: boolean;
}

const styles: Record<string, Omit<SectionStyle, 'title'> & { title: PlainKey }> = {
  system: { number: 1, title: 'inspector.sectionSystem', fill: 'var(--color-section-system)', striped: false },
  tools: { number: 2, title: 'shared.tools', fill: 'var(--color-section-tools)', striped: false },
  pinned: { number: 3, title: 'inspector.pinnedFacts', fill: 'var(--color-section-pinned)', striped: false },
  summaries: { number: 4, title: 'inspector.rangeSummaries', fill: 'var(--color-section-summaries)', striped: false },
  originals: { number: 5, title: 'inspector.sectionOriginals', fill: 'var(--color-section-originals)', striped: false },
  pending: { number: 6, title: 'inspector.pendingTurns', fill: 'var(--color-section-originals)', striped: true },
  state: { number: 7, title: 'inspector.stateSummary', fill: 'var(--color-section-state)', striped: false },
  retrieved: { number: 8, title: 'inspector.sectionRetrieved', fill: 'var(--color-section-retrieved)', striped: false },
  message: { number: 9, title: 'inspector.yourMessage', fill: 'var(--color-section-message)', striped: false },
};

/** What represents the oldest turns: model summaries, extracts until those exist, or both. */
export function replacingTitle(summaries: boolean, extracts: boolean): string {
  return extracts ? (summaries ? t('inspector.rangesAndExtracts') : t('inspector.extracts')) : t('inspector.rangeSummaries');
}

export function styleOf({ name, items }: Pick<ContextSection, 'name' | 'items'>): SectionStyle {
  const has = (source: string) => items.some((item) => item.source === source);
  if (name === 'summaries') return { ...styles['summaries']!, title: replacingTitle(has('summary'), has('extract')) };
  const style = styles[name];
  return style ? { ...style, title: t(style.title) } : { number: 0, title: program(name), fill: 'var(--color-section-tools)', striped: false };
}

/** The content of a section, beside its name: "#139 to #148", "4". */
export function extentOf(section: ContextSection): string {
  const { items, name } = section;
  if (name === 'originals' || name === 'pending') return span(items.map((item) => item.seq), items.map((item) => item.seq));
  if (name === 'summaries') return span(items.map((item) => item.from), items.map((item) => item.to));
  // The program's own text around the items is shown but not counted.
  const own = items.filter((item) => !['config', 'day', 'now'].includes(item.source)).length;
  return own > 1 ? formatCount(own) : '';
}

function span(firsts: number[], lasts: number[]): string {
  const from = Math.min(...firsts.filter((seq) => seq > 0));
  const to = Math.max(...lasts);
  if (!Number.isFinite(from) || to <= 0) return '';
  return from === to ? `#${from}` : t('inspector.spanOf', { from, to });
}

/** A share as "5.2 %"; 0 of 0 is 0. */
export function share(part: number, total: number): string {
  return formatDecimal(total > 0 ? part / total : 0, { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/** A share without its tenth. */
export function percent(part: number, total: number): string {
  return formatPercent(total > 0 ? Math.round((part / total) * 100) : 0);
}

/** How far our count was from the provider's: "12 400 counted, 12 412 reported, 0.1 % under". */
export function countedAgainst(view: Pick<ContextView, 'tokens' | 'reported'>): string {
  const { tokens, reported } = view;
  if (reported === 0) return t('inspector.reportedNothing', { tokens });
  const difference = tokens - reported;
  if (Math.abs(difference) / reported < 0.0005) return t('inspector.countedSame', { tokens, reported });
  const values = { tokens, reported, share: share(Math.abs(difference), reported) };
  return difference > 0 ? t('inspector.countedOver', values) : t('inspector.countedUnder', values);
}

/** The link text for an item's origin; empty if there is none. */
export function linkTextOf(item: ContextItem): string {
  switch (item.source) {
    case 'turn':
    case 'partial':
      return item.seq > 0 ? `#${item.seq}` : '';
    case 'summary':
    case 'extract':
      return item.from > 0 ? `#${item.from}–${item.to}` : '';
    case 'pin':
      return t('inspector.linkPin');
    case 'state':
      return t('inspector.linkState');
    case 'chunk':
      return item.memory?.chunk?.turnSeq === 0 ? '' : item.memory?.chunk ? `#${item.memory.chunk.turnSeq}` : t('inspector.linkSource');
    case 'config':
      return t('inspector.linkSettings');
    default:
      return '';
  }
}

/** An item's name beside its link, without repeating its number. */
export function nameOf(item: ContextItem): string {
  if (item.source !== 'turn') return program(item.label);
  return item.role === 'assistant' ? t('inspector.theModel') : item.role === 'user' ? t('inspector.you') : item.role;
}

/**
 * An item's name without a link beside it: "Turn 12, you". A chunk is named by its speaker and time, and by its session
 * if that is not the open one.
 */
export function labelOf(item: ContextItem, sessionId: string): string {
  const chunk = item.memory?.chunk;
  if (!chunk) return program(item.label);
  if (chunk.turnSeq === 0) return chunk.document;
  const values = { seq: chunk.turnSeq, who: whoSaid(chunk), day: formatDate(chunk.at, { day: 'numeric', month: 'long', year: 'numeric' }) };
  return chunk.sessionId === sessionId ? t('inspector.saidIn', values) : t('inspector.saidInSession', { ...values, title: chunk.sessionTitle || t('programs.untitled') });
}

const roles: Readonly<Record<string, PlainKey>> = { system: 'inspector.roleSystem', user: 'inspector.roleUser', assistant: 'inspector.roleAssistant', tool: 'inspector.roleTool' };

/** The role with which an item is sent, and its size: "user, 532 B". */
export function sentAs(item: ContextItem): string {
  const role = roles[item.role];
  return role ? t('inspector.sentAs', { role: t(role), size: formatBytes(item.bytes) }) : formatBytes(item.bytes);
}

/** The form a chunk was packed in. */
export function formWord(form: string): string {
  return form === 'slice' ? t('inspector.formPart') : form === 'summary' ? t('inspector.formSummary') : t('inspector.formWhole');
}

/**
 * The beginning of an item as people read it: without markup, and for a chunk without the number and hour that are sent
 * with it.
 */
export function previewOf(item: ContextItem, maxChars?: number): string {
  return firstWords(item.memory?.chunk?.excerpt ?? stripMarkdown(item.text.slice(0, maxPreviewChars)), maxChars);
}

/** The first words of a text on one line. */
export function firstWords(text: string, maxChars = 90): string {
  const line = text.slice(0, maxChars * 4).replace(/\s+/g, ' ').trim();
  return line.length > maxChars ? `${line.slice(0, maxChars).trimEnd()}…` : line;
}

/** The unchanged beginning, which a provider's cache can reuse. */
export function prefixText(sharedBytes: number, totalBytes: number): string {
  if (sharedBytes === 0) return t('inspector.nothingSame');
  return t('inspector.frontSame', { shared: sharedBytes, total: totalBytes, share: percent(sharedBytes, totalBytes) });
}
