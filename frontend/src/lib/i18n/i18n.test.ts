import { parse, TYPE, type MessageFormatElement } from '@formatjs/icu-messageformat-parser';
import { afterEach, describe, expect, it } from 'vitest';
import { formatTime, formatCount, formatTimeOrDay, formatPercent, formatShort, formatBytes, formatDuration, formatDateTime } from '$shared/format';
import * as de from './de';
import * as en from './en';
import { languageOf, localeOf } from './languages';
import { chooseLanguage, language, locale, richParts, t, type Catalogue } from './i18n.svelte';
import * as zh from './zh-CN';

afterEach(() => chooseLanguage('en'));

type Flat = Record<string, string>;
const flat = (catalogue: Catalogue): Flat =>
  Object.fromEntries(Object.entries(catalogue).flatMap(([area, texts]) => Object.entries(texts as Flat).map(([name, text]) => [`${area}.${name}`, text])));

/** The values and tags of a message, sorted, each with its kind: a text, a number, a plural. */
function names(message: string): string[] {
  const found = new Set<string>();
  const walk = (elements: MessageFormatElement[]) => {
    for (const element of elements) {
      if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
      found.add(element.type === TYPE.tag ? `<${element.value}>` : element.type === TYPE.plural ? `${element.value}, number` : element.type === TYPE.number ? `${element.value}, number` : element.value);
      if (element.type === TYPE.tag) walk(element.children);
      if (element.type === TYPE.plural || element.type === TYPE.select) Object.values(element.options).forEach((option) => walk(option.value));
    }
  };
  walk(parse(message));
  return [...found].sort();
}

const english = flat(en);

describe.each([['de', de], ['zh-CN', zh]] as const)('the catalogue %s', (id, catalogue) => {
  const translated = flat(catalogue);

  it('has every message', () => {
    expect(Object.keys(english).filter((key) => !translated[key]?.trim())).toEqual([]);
  });

  it('uses the values of the English messages, and no others', () => {
    const wrong = Object.keys(english).filter((key) => translated[key] && names(translated[key]!).join() !== names(english[key]!).join());
    expect(wrong.map((key) => [key, english[key], translated[key]])).toEqual([]);
  });

  it('has the plural forms of its language', () => {
    const forms = new Intl.PluralRules(id).resolvedOptions().pluralCategories;
    const incomplete = Object.entries(translated).filter(([, text]) => {
      const plurals = parse(text).filter((element) => element.type === TYPE.plural);
      return plurals.some((plural) => forms.some((form) => !(form in plural.options)));
    });
    expect(incomplete).toEqual([]);
  });
});

it('no message has two consecutive apostrophes, which ICU reads as one only in messages with values', () => {
  for (const catalogue of [en, de, zh]) expect(Object.entries(flat(catalogue)).filter(([, text]) => text.includes("''"))).toEqual([]);
});

/** Messages about the content of a session, about a temporary or plain chat, or about exports of other programs. */
const notSessions = new Set([
  'commands.temporary', 'documents.longText', 'firstrun.fatalTitle', 'firstrun.freshInstead', 'firstrun.slogan', 'header.plainChat', 'header.plainChatTitle', 'inspector.nothingToInspect',
  'inspector.sentWithout', 'inspector.startsMore', 'knows.lead', 'knows.summaryMore', 'sessions.temporary', 'settings.chatCompletions', 'settings.messageWidthHelp', 'settings.providerOptionsLead',
  'shell.temporaryChat', 'state.notTemporary', 'state.temporaryUnsaved', 'tools.discardMore', 'transcript.bringChats', 'transcript.conversation', 'transcript.promptCutMore',
  'transfer.adviceDocument', 'transfer.aiStudio', 'transfer.gptme', 'transfer.tornEmpty',
]);

it.each([
  ['en', en, /\b(?:chats?|conversations?)\b/i],
  ['de', de, /\bChats?\b|Unterhaltung|Gespräch(?!sprotokoll)/],
  ['zh-CN', zh, /聊天|对话(?![框记])/],
] as const)('an entry of the list is a session in every text of %s', (_, catalogue, others) => {
  const found = Object.entries(flat(catalogue)).filter(([key, text]) => others.test(text) && !key.startsWith('temporary.') && !notSessions.has(key));
  expect(found).toEqual([]);
});

it.each([
  ['en', en, /\bthis (?:machine|app)\b|\bthe app\b/i],
  ['de', de, /\bRechner\b|\bApp\b/],
  ['zh-CN', zh, /此计算机|应用(?:现在|自行)/],
] as const)('the computer and the program have one name each in %s', (_, catalogue, others) => {
  expect(Object.entries(flat(catalogue)).filter(([, text]) => others.test(text))).toEqual([]);
});

it.each([['en', en], ['de', de], ['zh-CN', zh]] as const)('a page of the settings is named by its title in %s', (_, catalogue) => {
  const { 'settings.providers': title, 'header.keysAndModels': header, 'models.keysAndModels': models, 'state.fixModel': fix } = flat(catalogue);
  expect([header, models]).toEqual([title, title]);
  expect(fix).toContain(title);
});

it.each([['en', en], ['de', de], ['zh-CN', zh]] as const)('an action or choice has one name in %s', (_, catalogue) => {
  const texts = flat(catalogue);
  expect(texts['tools.giveUp']!.replace('…', '')).toBe(texts['tools.discardTitle']!.replace(/[?？]$/, ''));
  for (const key of ['knows.scopeHere', 'knows.scopeHereSet']) expect(texts[key]!.toLowerCase()).toContain(texts['shared.thisBranch']!.toLowerCase());
});

describe('the language', () => {
  it.each([
    ['system', ['de-AT', 'en-US'], 'de', 'de-AT'],
    ['system', ['de_DE.UTF-8'], 'de', 'de'],
    ['system', ['zh-Hans-CN'], 'zh-CN', 'zh-Hans-CN'],
    ['system', ['zh-TW', 'de'], 'de', 'de'],
    ['system', ['zh-TW'], 'en', 'en-GB'],
    ['system', ['fr', 'en-US'], 'en', 'en-GB'],
    ['system', ['C'], 'en', 'en-GB'],
    ['system', ['c.utf-8', 'POSIX', ''], 'en', 'en-GB'],
    ['system', [], 'en', 'en-GB'],
    ['de', ['zh-CN'], 'de', 'de'],
    ['klingon', ['zh-CN'], 'zh-CN', 'zh-CN'],
  ] as const)('is for %s and %j: %s', (choice, preferred, expected, tag) => {
    const found = languageOf(choice, preferred);
    expect([found, localeOf(found, preferred)]).toEqual([expected, tag]);
    expect(() => new Intl.NumberFormat(tag)).not.toThrow();
  });

  it('changes every text at once, and sets the language of the page', async () => {
    await chooseLanguage('de', []);
    expect([language(), locale(), document.documentElement.lang, t('shared.cancel')]).toEqual(['de', 'de', 'de', 'Abbrechen']);
    await chooseLanguage('zh-CN', []);
    expect([document.documentElement.lang, t('shared.cancel')]).toEqual(['zh-CN', '取消']);
  });

  it('is the one requested last, whichever catalogue arrives last', async () => {
    await Promise.all([chooseLanguage('de', []), chooseLanguage('en', [])]);
    expect(t('shared.cancel')).toBe('Cancel');
  });
});

describe('messages', () => {
  it('have plural forms and grouped numbers', async () => {
    expect([1, 2, 12_480].map((count) => t('branches.branchesFromHere', { count }))).toEqual(['1 branch from here', '2 branches from here', '12\u202f480 branches from here']);
    await chooseLanguage('de', []);
    expect([1, 12_480].map((count) => t('branches.branchesFromHere', { count }))).toEqual(['1 Zweig von hier', '12.480 Zweige von hier']);
  });

  it('have formatted parts, with their values as text', () => {
    expect(richParts('composer.unknownCommand', { name: '<b>x' })).toEqual([
      'There is no command ', { tag: 'b', text: '/<b>x' }, '. Press Enter again to send it as text, or start with ', { tag: 'b', text: '//' }, '.',
    ]);
  });
});

it.each([
  ['en', '12\u202f480', '54\u202f%', '12.4k', '1.2\u202fMB', '3\u202fmin 5\u202fs', '20 Nov 2026, 14:32:10', '20 Nov'],
  ['de', '12.480', '54\u00a0%', '12,4k', '1,2\u202fMB', '3\u202fmin 5\u202fs', '20. Nov. 2026, 14:32:10', '20. Nov.'],
  ['zh-CN', '12,480', '54%', '12.4k', '1.2\u202fMB', '3\u202f分 5\u202f秒', '2026年11月20日 14:32:10', '11月20日'],
])('numbers and dates in %s', async (id, number, percent, brief, size, span, full, day) => {
  await chooseLanguage(id, []);
  const at = new Date(2026, 10, 20, 14, 32, 10).getTime();
  expect([formatCount(12_480), formatPercent(54), formatShort(12_400), formatBytes(1_234_567), formatDuration(185_000), formatDateTime(at), formatTimeOrDay(at, at + 86_400_000 * 3)]).toEqual([number, percent, brief, size, span, full, day]);
  expect([formatTimeOrDay(at, at), formatTime(at)]).toEqual(['14:32:10', '14:32:10']);
});
