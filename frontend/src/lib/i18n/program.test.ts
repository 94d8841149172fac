import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { BackendError, toBackendError } from '$lib/backend/errors';
import de from './de/program';
import { noAnswerText, sentence } from '../../components/transcript/labels';
import { program, type Phrase } from './program';
import { chooseLanguage } from './i18n.svelte';
import zh from './zh-CN/program';

const sourcesIn = (directory: string): string =>
  readdirSync(`../backend/${directory}`)
    .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
    .map((name) => readFileSync(`../backend/${directory}/${name}`, 'utf8'))
    .join('\n');
const found = (text: string, pattern: RegExp): string[] => [...new Set([...text.matchAll(pattern)].map(([, group]) => group!))];

/** Go's tables of settings, as source code. */
const tables = sourcesIn('config');
const keys = found(tables, /\bname: "([a-z_]+(?:\.[a-z_]+)+)"/g);
const storage = sourcesIn('api');
/** Texts that Go's own test of the catalogues does not see. */
const listed = [
  ['the groups of settings', found(tables, /\bgroup\w+\s*= "([^"]+)"/g), 10],
  ['the units of settings', found(tables, /\bunit: "([^"]+)"/g), 10],
  ['the measures to make a request fit', found(sourcesIn('prompt'), /\ba\.log\("([^"]+)"/g), 3],
  ['what a permanent deletion removes', found(storage.slice(storage.indexOf('\nvar storeLabels'), storage.indexOf('\nfunc deletedParts(')), /: "([^"]+)"/g), 30],
] as const;

/** Choices that English descriptions also use as ordinary words. */
const words = ['session', 'project', 'all', 'bundle'];
/** The choices of each setting that its description mentions. */
const choices = new Map([...tables.matchAll(/name: "([\w.]+)"[^}]*?choices:\s*\[\]string\{([^}]*)\}[^}]*?help:\s*((?:"(?:[^"\\]|\\.)*"[\s+]*)+)/g)].map(([, key, list, help]) => [key!, [...list!.matchAll(/"([^"]+)"/g)].map(([, choice]) => choice!).filter((choice) => !words.includes(choice) && new RegExp(`\\b${choice}\\b`).test(help!))]));

it('every language has the same phrases', () => {
  expect(Object.keys(zh.phrases).sort()).toEqual(Object.keys(de.phrases).sort());
});

const lost = { id: 'the connection to %s was lost', args: ['localhost:11434'] };
const cases: [phrase: Phrase, english: string, german: string][] = [
  ['', '', ''],
  ['The disk is read-only; nothing was changed.', 'The disk is read-only; nothing was changed.', 'Die Platte kann nur gelesen werden; nichts wurde geändert.'],
  [{ id: 'There is no model named %q; nothing was sent.', args: ['opus (2)'] }, 'There is no model named "opus (2)"; nothing was sent.', 'Es gibt kein Modell namens „opus (2)“; nichts wurde gesendet.'],
  [{ id: '%d bytes of an unfinished answer were recovered.', args: [1234567] }, '1\u202f234\u202f567 bytes of an unfinished answer were recovered.', '1.234.567 Bytes einer unfertigen Antwort wurden wiederhergestellt.'],
  [{ id: 'Turn %d, you', args: [2024] }, 'Turn 2024, you', 'Runde 2024, Sie'],
  [{ id: 'more similar than %s %% of unrelated text', args: ['95'] }, 'more similar than 95 % of unrelated text', 'ähnlicher als 95\u202f% der nicht verwandten Texte'],
  [{ id: 'The embedding model could not be used: %s.', args: [lost] }, 'The embedding model could not be used: the connection to localhost:11434 was lost.', 'Das Embedding-Modell konnte nicht verwendet werden: die Verbindung zu localhost:11434 ist abgebrochen.'],
  [{ id: 'The embedding model could not be used: %s.', args: ['It is tired.'] }, 'The embedding model could not be used: It is tired.', 'Das Embedding-Modell konnte nicht verwendet werden: It is tired.'],
  [{ id: 'The provider answered %d: %s', args: [500, 'The disk is full'] }, 'The provider answered 500: The disk is full', 'Der Anbieter antwortete mit 500: The disk is full'],
  [{ id: '%s %s', args: [{ id: 'It is ready.' }, lost] }, 'It is ready. the connection to localhost:11434 was lost', 'Er ist bereit. die Verbindung zu localhost:11434 ist abgebrochen'],
  [{ id: 'A new text of %d with %q and %.2f %%', args: [20000, 'x', '1.50'] }, 'A new text of 20\u202f000 with "x" and 1.50 %', 'A new text of 20.000 with "x" and 1.50 %'],
];

describe('a phrase of the program', () => {
  afterEach(() => chooseLanguage('en', []));

  it.each(cases)('%j', async (phrase, english, german) => {
    expect(program(phrase)).toBe(english);
    await chooseLanguage('de', []);
    expect(program(phrase)).toBe(german);
  });

  it.each([
    'The program ended after 1234567 bytes (retry, or choose another model)',
    'Model "own" cannot be used; nothing was sent. It is 100 %d tired: {1}.',
    'Something new happened.',
  ])('that an earlier version stored as text is shown as it is: %s', async (text) => {
    await chooseLanguage('de', []);
    expect(program(text)).toBe(text);
  });

  it('follows the language in an error, whose hint is a sentence', async () => {
    const error = new BackendError({ code: 'no_space', op: '', message: 'The disk is full; the change was undone and everything before it is safe.', hint: 'free some space and try again' });
    expect(error.hint).toBe('Free some space and try again.');
    await chooseLanguage('zh-CN', []);
    expect([error.message, error.hint]).toEqual(['磁盘已满；更改已撤销，此前的数据不受影响。', '请释放空间后重试。']);
  });

  it('arrives with its values in the rejection of a call', async () => {
    await chooseLanguage('de', []);
    const { code, message, hint } = toBackendError(JSON.stringify({ code: 'unavailable', op: '', message: lost, hint: { id: 'the provider asks to wait %s, then retry', args: ['3s'] } }));
    expect([code, message, hint]).toEqual(['unavailable', 'die Verbindung zu localhost:11434 ist abgebrochen', 'Der Anbieter bittet, 3s zu warten; versuchen Sie es dann erneut.']);
  });

  it('is part of the title of a turn without an answer', async () => {
    const failure = { code: 'unavailable', op: '', message: lost, hint: '' } as const;
    expect(noAnswerText(failure)).toBe('No answer. The connection to localhost:11434 was lost');
    await chooseLanguage('de', []);
    expect(noAnswerText(failure)).toBe('Keine Antwort. Die Verbindung zu localhost:11434 ist abgebrochen');
  });

  it('is a sentence in Chinese, with its full stop', async () => {
    await chooseLanguage('zh-CN', []);
    expect(sentence(program(lost))).toBe('与 localhost:11434 的连接已中断。');
    expect(program({ id: 'The embedding model could not be used: %s.', args: [{ id: 'It is ready.' }] })).toBe('无法使用嵌入模型：已就绪。');
  });
});

describe.each([['de', de], ['zh-CN', zh]] as const)('the texts of the program in %s', (_, texts) => {
  it('are exactly those of the settings in Go', () => {
    expect(keys.length).toBeGreaterThan(90);
    expect(Object.keys(texts.settings).sort()).toEqual([...keys].sort());
    expect(Object.entries(texts.settings).filter(([, values]) => values.some((text) => text.trim() === ''))).toEqual([]);
  });

  it.each(listed)('include %s', (_area, english, atLeast) => {
    expect(english.length).toBeGreaterThan(atLeast - 1);
    expect(english.filter((text) => !(text in texts.phrases))).toEqual([]);
  });

  it('use each value of a phrase once', () => {
    const placeholders = (english: string) => (english.replaceAll('%%', '').match(/%[+#]?(?:\.\d+)?[a-z]/g) ?? []).map((_verb, i) => `{${i + 1}}`).sort();
    const used = (translation: string) => (translation.match(/\{\d+\}/g) ?? []).sort();
    expect(Object.entries(texts.phrases).filter(([english, translation]) => used(translation).join() !== placeholders(english).join())).toEqual([]);
  });

  it('contain the choices that the English descriptions contain', () => {
    expect(choices.size).toBeGreaterThan(5);
    const settings: Record<string, readonly [string, string]> = texts.settings;
    expect([...choices].flatMap(([key, list]) => list.filter((choice) => !settings[key]![1].includes(choice)).map((choice) => `${key}: ${choice}`))).toEqual([]);
  });
});
