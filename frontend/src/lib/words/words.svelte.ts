/**
 * Every text that the window shows comes from here: `t('composer.send')`, `t('header.turns', { count: 3 })`.
 *
 * Catalogues are files of one area and one language: en/composer.ts, de/composer.ts, zh-CN/composer.ts. A message is a whole
 * sentence in ICU syntax: {name} represents a text, {count, number} for a number, {count, plural, one {# turn} other {# turns}}
 * for a text that depends on it. A key that does not exist, and a value that is missing, are type errors; a test lists
 * translations that are missing or name other values.
 *
 * t() follows the language by itself in templates, in $derived and in functions that these call. Call it there, not once while
 * a module loads or a component is created: a text kept from then would stay in the old language (a test finds such calls).
 *
 * Words inside a sentence that look different are tags: 'Press <kbd>Enter</kbd>, or <link>read more</link>.' is drawn by
 * $shared/Rich.svelte, which knows <b>, <em>, <code> and <kbd>, and takes a snippet for any other tag.
 */
import { IntlMessageFormat } from 'intl-messageformat';
import type { GetICUArgs } from '@schummar/icu-type-parser';
import { formatters } from './format';
import { languageOf, localeOf, type Language } from './languages';
import en from './en';
import type { ProgramWords } from './program';

type English = typeof en;
type Area = keyof English & string;

/** What names a message: its area and its name there. */
export type Key = { [A in Area]: `${A}.${keyof English[A] & string}` }[Area];

type Message<K extends Key> = K extends `${infer A extends Area}.${infer M}` ? (M extends keyof English[A] ? English[A][M] : never) : never;

/** A message that is complete as it stands, for tables that give each value of an enumeration its text. */
export type PlainKey = { [K in Key]: Message<K> extends `${string}{${string}` ? never : K }[Key];

/** What a message needs, by the names in the English one. */
export type Values<K extends Key> = GetICUArgs<Message<K>, { ICUArgument: string | number; ICUNumberArgument: number; ICUDateArgument: number | Date }>;

type Given<K extends Key> = keyof Values<K> extends never ? [] : [values: Values<K>];

/** The catalogue of another language: the same keys, of which some may be missing. */
export type Catalogue = { [A in Area]: Translation<English[A]> };
export type Translation<Words> = Partial<Record<keyof Words, string>>;

const translations: Record<Exclude<Language, 'en'>, () => Promise<{ default: Catalogue; program: ProgramWords }>> = {
  de: () => import('./de'),
  'zh-CN': () => import('./zh-CN'),
};

interface Spoken {
  language: Language;
  /** How numbers and dates are written: the language, with the region of the system where it is the same language. */
  locale: string;
  catalogue: Catalogue;
  /** Texts of the program; none in English, where they are as they come. */
  program?: ProgramWords;
  /** Messages that were parsed, by key; those of Rich have a mark before it. */
  parsed: Map<string, IntlMessageFormat>;
}

const english = (): Spoken => ({ language: 'en', locale: localeOf('en', []), catalogue: en, parsed: new Map() });
let spoken = $state.raw<Spoken>(english());
let requested = 0;

/** The language of the window. Reading it makes what reads it follow. */
export function language(): Language {
  return spoken.language;
}

/** What Intl takes for the language. Never an invalid tag. */
export function locale(): string {
  return spoken.locale;
}

/** The texts of the program in the language of the window; see program.ts. */
export function programWords(): ProgramWords | undefined {
  return spoken.program;
}

/** Shows the window in the language that a setting names; anything but a language means the system's. Loads its catalogue first. */
export async function chooseLanguage(choice: string, preferred: readonly string[] = navigator.languages): Promise<void> {
  const request = ++requested;
  const chosen = languageOf(choice, preferred);
  const next: Spoken = { ...english(), language: chosen, locale: localeOf(chosen, preferred) };
  if (chosen !== 'en') {
    const loaded = await translations[chosen]();
    Object.assign(next, { catalogue: loaded.default, program: loaded.program });
  }
  if (request !== requested) return;
  spoken = next;
  document.documentElement.lang = chosen;
}

/** A message in the language of the window; in English where it has not been translated. */
export function t<K extends Key>(key: K, ...given: Given<K>): string {
  const message = messageOf(spoken.catalogue, key);
  if (!message.includes('{')) return message;
  return String(format(key, message, true).format(given[0] as Record<string, string | number | Date>));
}

/** A table of texts by name, each read in the language of the window: for enumerations. Spreading it takes its texts as they are then. */
export function table<Name extends string>(keys: Record<Name, PlainKey>): Readonly<Record<Name, string>> {
  const made = {} as Record<Name, string>;
  for (const name of Object.keys(keys) as Name[]) Object.defineProperty(made, name, { enumerable: true, get: () => t(keys[name] as Key) });
  return made;
}

/** A part of a sentence: text, or a tag with what it holds. */
export type RichPart = string | { tag: string; text: string };

/** The same in parts, for a message with tags. Tags hold text, not other tags. */
export function richParts<K extends Key>(key: K, ...given: Given<K>): RichPart[] {
  const values: Record<string, unknown> = { ...(given[0] as object | undefined) };
  const message = messageOf(spoken.catalogue, key);
  for (const [, tag = ''] of message.matchAll(/<([a-z]+)>/g)) values[tag] = (chunks: unknown[]): RichPart => ({ tag, text: chunks.join('') });
  const parts = format(key, message, false).format<RichPart>(values as Record<string, string>);
  return Array.isArray(parts) ? (parts as RichPart[]) : [parts as RichPart];
}

function messageOf(catalogue: Catalogue, key: Key): string {
  const dot = key.indexOf('.');
  const area = key.slice(0, dot) as Area;
  const name = key.slice(dot + 1);
  const own = catalogue[area] as Record<string, string | undefined>;
  return own[name] ?? (en[area] as Record<string, string>)[name] ?? key;
}

function format(key: Key, message: string, ignoreTag: boolean): IntlMessageFormat {
  const id = ignoreTag ? key : `<${key}`;
  let parsed = spoken.parsed.get(id);
  if (!parsed) {
    parsed = new IntlMessageFormat(message, spoken.locale, undefined, { ignoreTag, formatters: formatters(spoken.locale) });
    spoken.parsed.set(id, parsed);
  }
  return parsed;
}
