/** The librarian's report on a state (SPEC 7), parsed leniently: a report of another version is not an error. */
import type { StateView } from '$lib/backend/types';
import { program } from '$lib/i18n/program';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';

export interface Check {
  name: string;
  kept: number;
  found: number;
}

export interface Account {
  /** "Passed on attempt 2", "Generated without a model". */
  verdict: string;
  tone: 'ok' | 'warn' | 'plain';
  /** One word or two for the history table. */
  short: string;
  /** Why a model's answer was rejected, or not used at once; empty: it was not. */
  reason: string;
  checks: Check[];
  /** In the turns but not in the summary. */
  missing: string[];
  missingCount: number;
  /** Lost by the model's answer and added again by the program. */
  added: string[];
  turns: number;
  tries: number;
}

type Fields = Record<string, unknown>;

/** Null without a report: for the root, a state of pins, or invalid JSON. */
export function accountOf(state: Pick<StateView, 'validation' | 'origin'>): Account | null {
  const fields = parsed(state.validation);
  if (!fields) return null;
  const fellBack = state.origin === 'fallback' || fields['method'] === 'fallback';
  const tries = numberOf(fields, 'tries');
  const added = fellBack ? [] : textsOf(fields['added']);
  const lost = textsOf(fields['missing']).filter((entry) => !added.includes(entry));
  const missing = [...new Set([...lost, ...textsOf(fields['dropped'])])];
  const missingCount = Math.max(missing.length, numberOf(fields, 'missing_count') + numberOf(fields, 'dropped_count'));
  return {
    ...verdictOf(fellBack, tries, added.length), missing, missingCount, tries, added,
    reason: reasonText(textOf(fields, 'reason') || textOf(fields, 'fallback_reason')),
    checks: checksOf(fields), turns: numberOf(fields, 'turns'),
  };
}

function verdictOf(fellBack: boolean, tries: number, added: number): Pick<Account, 'verdict' | 'tone' | 'short'> {
  if (fellBack) return { verdict: tries > 0 ? t('inspector.withoutModelAfter', { count: tries }) : t('inspector.withoutModel'), tone: 'warn', short: t('inspector.noModel') };
  if (added > 0) return { verdict: t('inspector.repaired', { tries, added }), tone: 'ok', short: t('inspector.repairedShort', { added }) };
  if (tries > 1) return { verdict: t('inspector.passedOn', { count: tries }), tone: 'ok', short: t('inspector.passedShort', { count: tries }) };
  return { verdict: tries === 1 ? t('inspector.passedOn', { count: 1 }) : t('inspector.passed'), tone: 'ok', short: t('inspector.passedWord') };
}

/** The librarian words its reasons as "it ...", for the model; the window names the subject. */
const reasonText = (reason: string): string => program(reason.replace(/^it /, "The model's summary "));

function checksOf(fields: Fields): Check[] {
  const found = countsOf(fields['found']);
  const kept = countsOf(fields['kept']);
  const required = { name: t('inspector.required'), kept: numberOf(fields, 'required_kept'), found: numberOf(fields, 'required') };
  const byKind = Object.keys({ ...found, ...kept }).map((name) => ({ name: nameOf(name), kept: kept[name] ?? 0, found: Math.max(found[name] ?? 0, kept[name] ?? 0) }));
  return [required, ...byKind].filter((check) => check.found > 0);
}

/** Counts by kind; a list counts its entries, a bare number is one kind. */
function countsOf(value: unknown): Record<string, number> {
  if (typeof value === 'number') return { entities: value };
  if (Array.isArray(value)) return { entities: value.length };
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, count]) => [name, Array.isArray(count) ? count.length : typeof count === 'number' ? count : 0]));
}

/** The librarian's names of what it looks for in turns, and of the sections of its summaries. */
const kinds: Record<string, PlainKey> = {
  entities: 'inspector.entities', numbers: 'inspector.kindNumbers', dates: 'inspector.dates', urls: 'inspector.urls', paths: 'inspector.paths', code: 'inspector.code', open_tasks: 'inspector.openTasks', facts: 'inspector.facts', decisions: 'inspector.decisions', constraints: 'inspector.constraints',
  artifacts: 'inspector.artifacts', last_exchange: 'inspector.lastExchange', what_happened: 'inspector.whatHappened',
};

const knownName = (key: string): string => {
  const known = kinds[key.toLowerCase().replaceAll(' ', '_')];
  return known ? t(known) : '';
};

/** A block of code to its end, or a heading. */
const codeOrHeading = /^[ \t]*(`{3,}(?!.*`)|~{3,}).*(?:\n(?![ \t]*\1[`~]*[ \t]*$).*)*(?:\n.*)?|^## (.+)$/gm;

/** A summary with its fixed headings in the language of the window. The stored text is English, for every model. */
export const translateHeadings = (summary: string): string => summary.replace(codeOrHeading, (all, _fence, name = '') => (knownName(name) ? `## ${knownName(name)}` : all));

function nameOf(key: string): string {
  const known = knownName(key);
  if (known) return known;
  const label = key.replaceAll('_', ' ').trim();
  return label.charAt(0).toUpperCase() + label.slice(1);
}

function parsed(text: string): Fields | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

const numberOf = (fields: Fields, name: string): number => (typeof fields[name] === 'number' ? (fields[name] as number) : 0);
const textOf = (fields: Fields, name: string): string => (typeof fields[name] === 'string' ? (fields[name] as string) : '');
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []);
