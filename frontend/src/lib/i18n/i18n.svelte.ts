/**
 * All texts of the window: `t('composer.send')`, `t('header.turns', { count: 3 })`.
 *
 * A catalogue is a file for one area and one language: en/composer.ts, de/composer.ts, zh-CN/composer.ts. A message is
 * a whole sentence in ICU syntax: {name} for a text, {count, number} for a number, {count, plural, one {# turn} other
 * {# turns}} for a text that depends on a number. An unknown key and a missing value are type errors; a test lists
 * translations that are missing or use other values.
 *
 * t() follows a change of the language in templates, in $derived and in functions called from these. Call it there, not
 * while a module is loaded or a component is created: a text stored then would stay in the old language (a test finds
 * such calls).
 *
 * Formatted words inside a sentence are tags: 'Press <kbd>Enter</kbd>, or <link>read more</link>.' is drawn by
 * $shared/Rich.svelte, which knows <b>, <em>, <code> and <kbd>, and takes a snippet for any other tag.
 */
import { IntlMessageFormat } from 'intl-messageformat';
import type { GetICUArgs } from '@schummar/icu-type-parser';
import { formatters } from './format';
import { languageOf, localeOf, type Language } from './languages';
import * as en from './en';
import type { ProgramTexts } from './program';

type English = typeof en;
type Area = keyof English & string;

/** Identifies a message: its area and its name in it. */
export type Key = { [A in Area]: `${A}.${keyof English[A] & string}` }[Area];

type Message<K extends Key> = K extends `${infer A extends Area}.${infer M}` ? (M extends keyof English[A] ? English[A][M] : never) : never;

/** A message without values, for tables that map the values of an enumeration to texts. */
export type PlainKey = { [K in Key]: Message<K> extends `${string}{${string}` ? never : K }[Key];

/** The values that a message needs, by their names in the English one. */
export type Values<K extends Key> = GetICUArgs<Message<K>, { ICUArgument: string | number; ICUNumberArgument: number; ICUDateArgument: number | Date }>;

type ValueArgs<K extends Key> = keyof Values<K> extends never ? [] : [values: Values<K>];

/** The catalogue of another language: the same keys, some of which may be missing. */
export type Catalogue = { [A in Area]: Translation<English[A]> };
export type Translation<Texts> = Partial<Record<keyof Texts, string>>;

const translations: Record<Exclude<Language, 'en'>, () => Promise<[Catalogue, { default: ProgramTexts }]>> = {
  de: () => Promise.all([import('./de'), import('./de/program')]),
  'zh-CN': () => Promise.all([import('./zh-CN'), import('./zh-CN/program')]),
};

interface ActiveLanguage {
  language: Language;
  /** For numbers and dates: the language, with the system's region if that has the same language. */
  locale: string;
  catalogue: Catalogue;
  /** Translated texts of the program; undefined for English. */
  program?: ProgramTexts;
  /** Parsed messages by key; for Rich the key has a prefix. */
  parsed: Map<string, IntlMessageFormat>;
}

const english = (): ActiveLanguage => ({ language: 'en', locale: localeOf('en', []), catalogue: en, parsed: new Map() });
let active = $state.raw<ActiveLanguage>(english());
let requested = 0;

/** The language of the window. Reactive: code that reads it runs again when it changes. */
export function language(): Language {
  return active.language;
}

/** The locale for Intl; always a valid tag. */
export function locale(): string {
  return active.locale;
}

/** The program's texts in the language of the window; see program.ts. */
export function programTexts(): ProgramTexts | undefined {
  return active.program;
}

/**
 * Switches the window to the language that a setting names; any other value means the system's. Loads the catalogue
 * first.
 */
export async function chooseLanguage(choice: string, preferred: readonly string[] = navigator.languages): Promise<void> {
  const request = ++requested;
  const chosen = languageOf(choice, preferred);
  const next: ActiveLanguage = { ...english(), language: chosen, locale: localeOf(chosen, preferred) };
  if (chosen !== 'en') {
    const [catalogue, { default: program }] = await translations[chosen]();
    Object.assign(next, { catalogue, program });
  }
  if (request !== requested) return;
  active = next;
  document.documentElement.lang = chosen;
}

/** A message in the language of the window; in English if it is not translated. */
export function t<K extends Key>(key: K, ...args: ValueArgs<K>): string {
  const message = messageOf(active.catalogue, key);
  if (!message.includes('{')) return message;
  return String(format(key, message, true).format(args[0] as Record<string, string | number | Date>));
}

/** A table of texts for an enumeration, each translated when it is read. Spreading it copies the current texts. */
export function table<Name extends string>(keys: Record<Name, PlainKey>): Readonly<Record<Name, string>> {
  const texts = {} as Record<Name, string>;
  for (const name of Object.keys(keys) as Name[]) Object.defineProperty(texts, name, { enumerable: true, get: () => t(keys[name] as Key) });
  return texts;
}

/** A part of a sentence: text, or a tag with its text. */
export type RichPart = string | { tag: string; text: string };

/** The parts of a message with tags. Tags contain text, not other tags. */
export function richParts<K extends Key>(key: K, ...args: ValueArgs<K>): RichPart[] {
  const values: Record<string, unknown> = { ...(args[0] as object | undefined) };
  const message = messageOf(active.catalogue, key);
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
  let parsed = active.parsed.get(id);
  if (!parsed) {
    parsed = new IntlMessageFormat(message, active.locale, undefined, { ignoreTag, formatters: formatters(active.locale) });
    active.parsed.set(id, parsed);
  }
  return parsed;
}
