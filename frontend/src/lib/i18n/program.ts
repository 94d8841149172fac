/**
 * Texts that come from the program: errors, reasons, labels, settings. Go sends each as a phrase, its English format
 * and the values, and the catalogue of a language (de/program.ts) has the format as its key. A phrase without a
 * translation is shown in English. A Go test compares the catalogues with Go's sources.
 */
import { number } from './format';
import { language, locale, programTexts } from './i18n.svelte';

/** chat.Phrase in Go: a text without values is a string. A phrase among the values is always an object. */
export type Phrase = string | ValuedPhrase;
interface ValuedPhrase {
  id: string;
  args?: readonly (string | number | ValuedPhrase)[];
}

/** The texts of the program in another language; values are {1}, {2}. */
export interface ProgramTexts {
  phrases: Readonly<Record<string, string>>;
  /** Labels and descriptions of settings, by their keys. */
  settings: Readonly<Record<string, readonly [label: string, help: string]>>;
}

export const fullStop = (): string => (language() === 'zh-CN' ? '。' : '.');

/** A phrase in the language of the window. */
export function program(phrase: Phrase): string {
  const { id, args = [] }: ValuedPhrase = typeof phrase === 'string' ? { id: phrase } : phrase;
  const translation = programTexts()?.phrases[id];
  if (args.length === 0) return translation ?? id; // it may be somebody else's text, with braces of its own
  const valueOf = (arg: string | number | ValuedPhrase = ''): string => {
    if (typeof arg === 'number') return number(locale(), arg, { useGrouping: 'min2' });
    return typeof arg === 'string' ? arg : program(arg);
  };
  return (translation ?? numbered(id)).replace(/\{(\d+)\}([.。]?)/g, (_, n: string, stop: string) => {
    const value = valueOf(args[Number(n) - 1]);
    // A sentence inside another loses its full stop before the other's; a question keeps its mark.
    return stop && !/[?？]$/.test(value) ? value.replace(/[.。]$/, '') + stop : value;
  });
}

/** An English format of Go's fmt with numbered values, as translations have them. */
function numbered(format: string): string {
  let n = 0;
  return format.replace(/%%|%[+#]?(?:\.\d+)?([a-z])/g, (verb, kind?: string) => {
    if (verb === '%%') return '%';
    return kind === 'q' ? `"{${++n}}"` : `{${++n}}`;
  });
}

/** The label and the description of a setting. */
export function settingTexts(setting: { key: string; label: string; help: string }): { label: string; help: string } {
  const [label, help] = programTexts()?.settings[setting.key] ?? [setting.label, setting.help];
  return { label, help };
}
