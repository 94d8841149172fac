/** Which languages the window has, and which of them a system asks for. Pure. */

export const languages = ['en', 'de', 'zh-CN'] as const;
export type Language = (typeof languages)[number];

/** Each in its own words, as lists of languages show them. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch', 'zh-CN': '简体中文' };

/** How English writes numbers and dates here, whatever the country: 20 Nov 2026, 14:32. */
const english = 'en-GB';

/** The language that a setting names, or the first of the system's that the window has. "C", "POSIX" and the like are none. */
export function languageOf(choice: string, preferred: readonly string[]): Language {
  const named = languages.find((known) => known === choice);
  if (named) return named;
  for (const tag of preferred) {
    const found = ofTag(tag);
    if (found) return found;
  }
  return 'en';
}

/** What Intl takes for a language: the system's own variant of it (de-AT), if Intl knows it. */
export function localeOf(language: Language, preferred: readonly string[]): string {
  if (language === 'en') return english;
  return preferred.find((tag) => ofTag(tag) === language && isKnown(tag)) ?? language;
}

function ofTag(tag: string): Language | undefined {
  const parts = tag.toLowerCase().split(/[-_.@]/);
  if (parts[0] === 'en' || parts[0] === 'de') return parts[0];
  // Who reads traditional characters is better served by the next language of the list.
  if (parts[0] === 'zh' && !parts.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part))) return 'zh-CN';
  return undefined;
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false; // an environment may name what is not a tag at all
  }
}
