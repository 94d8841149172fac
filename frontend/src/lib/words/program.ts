/**
 * Texts that come from the program and not from a catalogue: names, units and descriptions of settings. Their English is in Go,
 * once, where the command line shows it too; the other languages have them by what names them. A test compares with Go's tables.
 */
import { programWords } from './words.svelte';

/** The texts of the program in another language. */
export interface ProgramWords {
  /** Short texts by their English: groups and units of settings. */
  terms: Readonly<Record<string, string>>;
  /** Labels and descriptions of settings, by their keys. */
  settings: Readonly<Record<string, readonly [label: string, help: string]>>;
}

/** A short text of the program in the language of the window; as the program says it where there is no translation. */
export function program(text: string): string {
  return programWords()?.terms[text] ?? text;
}

/** What a setting is called, and what it does. */
export function settingWords(setting: { key: string; label: string; help: string }): { label: string; help: string } {
  const [label, help] = programWords()?.settings[setting.key] ?? [setting.label, setting.help];
  return { label, help };
}
