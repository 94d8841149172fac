/**
 * Texts that come from the program instead of a catalogue: settings, labels, states, errors. Their English is defined
 * in Go only, because the command line and the log use it too. Other languages translate them by their English text or
 * by an identifier. A test searches Go's sources for every one, so that a changed sentence is noticed.
 */
import { programWords } from './words.svelte';

/** The texts of the program in another language. */
export interface ProgramWords {
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
  /** The last value is a text of the program itself, such as the reason after an error. */
  endsWithText: boolean;
}

const verb = /%(?:\.\d+)?[sdvqfg]/;
const ownWords = (english: string): number => english.split(verb).join('').length;
const compiled = new WeakMap<ProgramWords, Sentence[]>();

/** The sentences with values, as patterns; those with the most fixed text come first. */
function sentencesOf(words: ProgramWords): Sentence[] {
  let made = compiled.get(words);
  if (!made) {
    made = Object.entries(words.sentences)
      .filter(([english]) => verb.test(english))
      .sort(([a], [b]) => ownWords(b) - ownWords(a))
      .map(([english, translation]) => {
        const quoted = english.split(/(%(?:\.\d+)?[sdvqfg])/).map((part, i) => (i % 2 === 0 ? part.replaceAll('%%', '%').replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : part.endsWith('q') ? '"(.*?)"' : '(.*?)'));
        return { start: english.slice(0, english.search(verb)), pattern: new RegExp(`^${quoted.join('')}$`, 's'), translation, endsWithText: english.endsWith('. %s') };
      });
    compiled.set(words, made);
  }
  return made;
}

/**
 * A text of the program in the language of the window. If it, or a part of it, has no translation, the whole text stays
 * English: a mix of two languages would be worse.
 */
export function program(text: string): string {
  const words = programWords();
  if (!words || text === '') return text;
  return inLanguage(words, text) ?? text;
}

function inLanguage(words: ProgramWords, text: string): string | undefined {
  const whole = translated(words, text);
  if (whole !== undefined) return whole;
  const parts = text.split(/(?<=[.!?]) (?=\p{Lu})/u).map((part) => translated(words, part));
  return parts.length > 1 && parts.every((part) => part !== undefined) ? parts.join(' ') : undefined;
}

/**
 * A line of several such texts, "Nearby: writes · repeats the question."; English if any of them has no translation.
 */
export function programLine(text: string): string {
  const words = programWords();
  const parts = words && text.replace(/\.$/, '').split(' · ').map((part) => translated(words, part) ?? translated(words, part.charAt(0).toLowerCase() + part.slice(1)));
  return parts?.every((part) => part !== undefined) ? parts.join(' · ') : text;
}

function translated(words: ProgramWords, text: string): string | undefined {
  const whole = words.terms[text] ?? words.sentences[text];
  if (whole !== undefined) return whole;
  for (const { start, pattern, translation, endsWithText } of sentencesOf(words)) {
    const values: (string | undefined)[] | null = text.startsWith(start) ? pattern.exec(text) : null;
    if (!values) continue;
    if (endsWithText) values.push(inLanguage(words, values.pop() ?? ''));
    if (values.includes(undefined)) continue;
    return translation.replace(/\{(\d)\}/g, (_, n: string) => values[Number(n)] ?? '');
  }
  return undefined;
}

/** The label and the description of a setting. */
export function settingWords(setting: { key: string; label: string; help: string }): { label: string; help: string } {
  const [label, help] = programWords()?.settings[setting.key] ?? [setting.label, setting.help];
  return { label, help };
}
