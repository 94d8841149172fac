/**
 * Texts that come from the program and not from a catalogue: settings, labels, states of things, errors. Their English is in Go,
 * once, where the command line and the log show it too; the other languages have them by that English, or by what names them.
 * A test looks in Go's sources for every one, so that a sentence that changes there is missed here.
 */
import { programWords } from './words.svelte';

/** The texts of the program in another language. */
export interface ProgramWords {
  /** Short texts by their English: groups and units of settings, stores, parts of the data, titles of tasks. */
  terms: Readonly<Record<string, string>>;
  /** Labels and descriptions of settings, by their keys. */
  settings: Readonly<Record<string, readonly [label: string, help: string]>>;
  /**
   * Errors and other sentences by the English one as Go's fmt writes it: 'The data directory %s is in use' has its value at
   * {1} in the translation.
   */
  sentences: Readonly<Record<string, string>>;
}

interface Sentence {
  /** What the English one begins with, which tells most of them apart at once. */
  start: string;
  pattern: RegExp;
  translation: string;
}

const verb = /%(?:\.\d+)?[sdvqfg]/;
const ownWords = (english: string): number => english.split(verb).join('').length;
const compiled = new WeakMap<ProgramWords, Sentence[]>();

/** The sentences with values in them, as patterns; those with more words of their own come first. */
function sentencesOf(words: ProgramWords): Sentence[] {
  let made = compiled.get(words);
  if (!made) {
    made = Object.entries(words.sentences)
      .filter(([english]) => verb.test(english))
      .sort(([a], [b]) => ownWords(b) - ownWords(a))
      .map(([english, translation]) => {
        const quoted = english.split(/(%(?:\.\d+)?[sdvqfg])/).map((part, i) => (i % 2 === 0 ? part.replaceAll('%%', '%').replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : part.endsWith('q') ? '"(.*?)"' : '(.*?)'));
        return { start: english.slice(0, english.search(verb)), pattern: new RegExp(`^${quoted.join('')}$`, 's'), translation };
      });
    compiled.set(words, made);
  }
  return made;
}

/**
 * A text of the program in the language of the window. As the program says it where there is no translation, and where a part
 * of it has none: two languages in one text would be worse.
 */
export function program(text: string): string {
  const words = programWords();
  if (!words || text === '') return text;
  const whole = translated(words, text);
  if (whole !== undefined) return whole;
  const parts = text.split(/(?<=[.!?]) (?=\p{Lu})/u).map((part) => translated(words, part));
  return parts.length > 1 && parts.every((part) => part !== undefined) ? parts.join(' ') : text;
}

/** Several of them in a line, "Nearby: writes · repeats the question.": English where one has no translation. */
export function programLine(text: string): string {
  const words = programWords();
  const parts = words && text.replace(/\.$/, '').split(' · ').map((part) => translated(words, part) ?? translated(words, part.charAt(0).toLowerCase() + part.slice(1)));
  return parts?.every((part) => part !== undefined) ? parts.join(' · ') : text;
}

function translated(words: ProgramWords, text: string): string | undefined {
  const whole = words.terms[text] ?? words.sentences[text];
  if (whole !== undefined) return whole;
  for (const { start, pattern, translation } of sentencesOf(words)) {
    const values = text.startsWith(start) ? pattern.exec(text) : null;
    if (values) return translation.replace(/\{(\d)\}/g, (_, n: string) => values[Number(n)] ?? '');
  }
  return undefined;
}

/** What a setting is called, and what it does. */
export function settingWords(setting: { key: string; label: string; help: string }): { label: string; help: string } {
  const [label, help] = programWords()?.settings[setting.key] ?? [setting.label, setting.help];
  return { label, help };
}
