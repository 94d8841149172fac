/** The languages of the window, and the choice among them by the system's preferences. Pure. */

export const languages = ['en', 'de', 'zh-CN'] as const;
export type Language = (typeof languages)[number];

/** The name of each language in that language, for lists. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch', 'zh-CN': '简体中文' };

/** The English format of numbers and dates, in every country: 20 Nov 2026, 14:32. */
const english = 'en-GB';

/**
 * The language that a setting names, otherwise the first of the system's languages that is available. "C", "POSIX" and
 * the like are not languages.
 */
export function languageOf(choice: string, preferred: readonly string[]): Language {
  const named = languages.find((known) => known === choice);
  if (named) return named;
  for (const tag of preferred) {
    const found = ofTag(tag);
    if (found) return found;
  }
  return 'en';
}

/** The locale for Intl: the system's variant of the language (de-AT), if Intl supports it. */
export function localeOf(language: Language, preferred: readonly string[]): string {
  if (language === 'en') return english;
  return preferred.find((tag) => ofTag(tag) === language && isKnown(tag)) ?? language;
}

function ofTag(tag: string): Language | undefined {
  const parts = tag.toLowerCase().split(/[-_.@]/);
  if (parts[0] === 'en' || parts[0] === 'de') return parts[0];
  // Readers of traditional characters are better served by the next language of their list.
  if (parts[0] === 'zh' && !parts.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part))) return 'zh-CN';
  return undefined;
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false; // the environment may contain values that are not language tags
  }
}
