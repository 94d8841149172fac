/**
 * Texts that come from the program instead of a catalogue: settings, labels, states, errors. Their English is defined
 * in Go only, because the command line and the log use it too. Other languages translate them by their English text or
 * by an identifier. A test searches Go's sources for every one, so that a changed sentence is noticed.
 */
import { language, programTexts } from './i18n.svelte';

/** The texts of the program in another language. */
export interface ProgramTexts {
  /** Short texts by their English: groups and units of settings, stores, parts of the data, titles of tasks. */
  terms: Readonly<Record<string, string>>;
  /** Labels and descriptions of settings, by their keys. */
  settings: Readonly<Record<string, readonly [label: string, help: string]>>;
  /**
   * Errors and other sentences by the English format of Go's fmt: the value of 'The data directory %s is in use' is {1}
   * in the translation.
   */
  sentences: Readonly<Record<string, string>>;
}

interface Sentence {
  /** The beginning of the English sentence, which rules out most patterns quickly. */
  start: string;
  pattern: RegExp;
  translation: string;
  /** The kind of each value. */
  values: Value[];
  /** The length of the fixed text. */
  fixed: number;
}

/**
 * The kind of a value. A plain value, such as a name or a number, is shown as it is. A sentence at the end ("… . %s")
 * is a text of the program; if it has no translation, the whole text counts as untranslated. Words after a colon
 * ("…: %s") or before a sentence ("%s Nothing …") may be the program's or a provider's: without a translation they
 * are quoted as they are.
 */
type Value = 'plain' | 'sentence' | 'words';

const verb = /%(?:\.\d+)?[sdvqfg]/;
const fixedLength = (english: string): number => english.split(verb).join('').length;
const compiled = new WeakMap<ProgramTexts, Sentence[]>();

/**
 * The sentences with values, as patterns. Patterns with 'words' values come first, since their values may contain any
 * other sentence; within each group, those with the most fixed text come first.
 */
function sentencesOf(texts: ProgramTexts): Sentence[] {
  let sentences = compiled.get(texts);
  if (!sentences) {
    sentences = Object.entries(texts.sentences)
      .filter(([english]) => verb.test(english))
      .map(([english, translation]) => {
        const parts = english.split(/(%(?:\.\d+)?[sdvqfg])/);
        const values = parts.flatMap((part, i) => (i % 2 === 0 ? [] : [valueOf(parts[i - 1]!, part, parts[i + 1]!, i)]));
        const quoted = parts.map((part, i) => (i % 2 === 0 ? part.replaceAll('%%', '%').replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : part.endsWith('q') ? '"(.*?)"' : '(.*?)'));
        return { start: english.slice(0, english.search(verb)), pattern: new RegExp(`^${quoted.join('')}$`, 's'), translation, values, fixed: fixedLength(english) };
      })
      .sort((a, b) => rankOf(b) - rankOf(a) || b.fixed - a.fixed);
    compiled.set(texts, sentences);
  }
  return sentences;
}

function rankOf({ start, values }: Sentence): number {
  return start === '' && values[0] === 'words' ? 2 : values.includes('words') ? 1 : 0;
}

function valueOf(before: string, format: string, after: string, index: number): Value {
  if (format !== '%s') return 'plain';
  if (before.endsWith(': ') || (index === 1 && before === '' && /^ \p{Lu}/u.test(after))) return 'words';
  return before.endsWith('. ') && after === '' ? 'sentence' : 'plain';
}

/**
 * A text of the program in the language of the window. If it, or a part of it, has no translation, the whole text stays
 * English: a mix of two languages would be worse.
 */
export function program(text: string): string {
  const texts = programTexts();
  if (!texts || text === '') return text;
  return translateText(texts, text) ?? text;
}

function translateText(texts: ProgramTexts, text: string, minFixed = 0): string | undefined {
  const translation = exact(texts, text) ?? withHint(texts, text, minFixed);
  if (translation !== undefined) return translation;
  const parts = text.split(/(?<=[.!?]) (?=\p{Lu})/u);
  const translatedParts = parts.length > 1 ? parts.map((part) => translateWithoutStop(texts, part, minFixed)) : [undefined];
  return translatedParts.every((part) => part !== undefined) ? translatedParts.join(' ') : translateWithoutStop(texts, text, minFixed);
}

/** A sentence to which Go may have added the full stop. */
function translateWithoutStop(texts: ProgramTexts, text: string, minFixed: number): string | undefined {
  const translation = translateSentence(texts, text, minFixed);
  if (translation !== undefined || !text.endsWith('.')) return translation;
  const withoutStop = translateSentence(texts, text.slice(0, -1), minFixed);
  return withoutStop === undefined ? undefined : withoutStop + fullStop();
}

/** An error followed by its hint in brackets, as stored with jobs. */
function withHint(texts: ProgramTexts, text: string, minFixed: number): string | undefined {
  if (!text.endsWith(')')) return undefined;
  for (let at = text.indexOf(' ('); at > 0; at = text.indexOf(' (', at + 1)) {
    const hint = text.includes(' ', at + 2) ? translateSentence(texts, text.slice(at + 2, -1)) : undefined;
    const message = hint && translateText(texts, text.slice(0, at), minFixed);
    if (message) return `${message} (${hint})`;
  }
  return undefined;
}

/**
 * The program's or a provider's words inside a sentence. A single word, and words that match only a short format
 * ("Tool %s"), are more likely a provider's.
 */
function translateQuoted(texts: ProgramTexts, text: string): string {
  return text.includes(' ') ? translateText(texts, text, minFixedForWords) ?? text : text;
}
const minFixedForWords = 20;

export const fullStop = (): string => (language() === 'zh-CN' ? '。' : '.');

/**
 * A line of several such texts, "Nearby: writes · repeats the question."; English if any of them has no translation.
 */
export function programLine(text: string): string {
  const texts = programTexts();
  const parts = texts && text.replace(/\.$/, '').split(' · ').map((part) => translateSentence(texts, part) ?? translateSentence(texts, part.charAt(0).toLowerCase() + part.slice(1)));
  return parts?.every((part) => part !== undefined) ? parts.join(' · ') : text;
}

const exact = (texts: ProgramTexts, text: string): string | undefined => texts.terms[text] ?? texts.sentences[text];

/** Translates a sentence by its exact text, or by a pattern with at least `minFixed` characters of fixed text. */
function translateSentence(texts: ProgramTexts, text: string, minFixed = 0): string | undefined {
  const exactTranslation = exact(texts, text);
  if (exactTranslation !== undefined) return exactTranslation;
  for (const { start, pattern, translation, values, fixed } of sentencesOf(texts)) {
    const found = fixed >= minFixed && text.startsWith(start) ? pattern.exec(text) : null;
    if (!found) continue;
    const translatedValues = values.map((kind, i) => {
      const value = found[i + 1] ?? '';
      return kind === 'words' ? translateQuoted(texts, value) : kind === 'sentence' ? translateText(texts, value) : value;
    });
    if (translatedValues.includes(undefined)) continue;
    return translation.replace(/\{(\d+)\}/g, (_, n: string) => translatedValues[Number(n) - 1] ?? '');
  }
  return undefined;
}

/** The label and the description of a setting. */
export function settingTexts(setting: { key: string; label: string; help: string }): { label: string; help: string } {
  const [label, help] = programTexts()?.settings[setting.key] ?? [setting.label, setting.help];
  return { label, help };
}
