import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { BackendError } from '$lib/backend/errors';
import de from './de/program';
import { noAnswerText, sentence } from '../../components/transcript/labels';
import { program } from './program';
import { chooseLanguage } from './i18n.svelte';
import zh from './zh-CN/program';

/** Go's tables of settings, as source code. */
const tables = readdirSync('../backend/config')
  .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  .map((name) => readFileSync(`../backend/config/${name}`, 'utf8'))
  .join('\n');
const all = (pattern: RegExp): string[] => [...new Set([...tables.matchAll(pattern)].map((match) => match[1]!))];
const keys = all(/\bname: "([a-z_]+(?:\.[a-z_]+)+)"/g);
const terms = [...all(/\bgroup\w+\s*= "([^"]+)"/g), ...all(/\bunit: "([^"]+)"/g)];

/** All strings in Go's sources, with those joined by a plus as one. */
const strings = new Set(sourcesOf('../backend').flatMap((path) => [...readFileSync(path, 'utf8').replace(/"\s*\+\s*"/g, '').matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, text]) => text!.replace(/\\(.)/g, '$1'))));
// Sentences with counts are joined from singular or plural and the rest: counted(n, "document", "documents") + "
// removed".
for (const path of sourcesOf('../backend')) {
  const source = readFileSync(path, 'utf8').replace(/"\s*\+\s*"/g, '');
  for (const [, before = '', singular, plural, after] of source.matchAll(/(?:"([^"]*)" \+ )?counted\(\w+, "([^"]+)", "([^"]+)"\) \+ "([^"]+)"/g)) {
    strings.add(`${before}1 ${singular}${after}`).add(`${before}%d ${plural}${after}`);
  }
}
const verbs = /%(?:\.\d+)?[sdvqfg]/g;
/**
 * Whether Go's sources contain an English text. Some texts are joined in Go from parts and a value: "Import " + name.
 */
const isInSources = (english: string): boolean => [/\0/, '%s', /%s|(?=; )|(?=\.$)/, /(?=, definitions of tools)|(?=, tool calls)/].some((joint) => english.split(joint).every((part) => part === '' || strings.has(part)));

function sourcesOf(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'testdata' ? [] : sourcesOf(path);
    return entry.name.endsWith('.go') && !entry.name.endsWith('_test.go') ? [path] : [];
  });
}
/** A part of one of Go's source files. */
function source(path: string, from = '', to = ''): string {
  const text = readFileSync(`../backend/${path}`, 'utf8');
  return text.slice(text.indexOf(from), to === '' ? undefined : text.indexOf(to));
}
const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group]) => group!);
/** Choices that English descriptions also use as ordinary words. */
const words = ['session', 'project', 'all', 'bundle'];
/** The choices of each setting that its description mentions. */
const choices = new Map([...tables.matchAll(/name: "([\w.]+)"[^}]*?choices:\s*\[\]string\{([^}]*)\}[^}]*?help:\s*((?:"(?:[^"\\]|\\.)*"[\s+]*)+)/g)].map(([, key, list, help]) => [key!, [...list!.matchAll(/"([^"]+)"/g)].map(([, choice]) => choice!).filter((choice) => !words.includes(choice) && new RegExp(`\\b${choice}\\b`).test(help!))]));

it('every language has the same sentences', () => {
  expect(Object.keys(zh.terms).sort()).toEqual(Object.keys(de.terms).sort());
  expect(Object.keys(zh.sentences).sort()).toEqual(Object.keys(de.sentences).sort());
});

describe('a sentence of the program', () => {
  afterEach(() => chooseLanguage('en', []));

  it.each([
    ['Turn 7 has changed in the meantime.', 'Runde 7 hat sich inzwischen geändert.'],
    ['There is no model named "opus (2)"; nothing was sent.', 'Es gibt kein Modell namens „opus (2)“; nichts wurde gesendet.'],
    ['The disk is read-only; nothing was changed.', 'Die Platte kann nur gelesen werden; nichts wurde geändert.'],
    ['The database refused the operation; nothing was changed. Your message is saved.', 'The database refused the operation; nothing was changed. Your message is saved.'],
    ['Stopped before an answer arrived. Your message is saved.', 'Angehalten, bevor eine Antwort eintraf. Ihre Nachricht ist gespeichert.'],
    ['more similar than 95 % of unrelated text', 'ähnlicher als 95\u202f% der nicht verwandten Texte'],
    ['matched: dual, writes and 3 more', 'gefunden: dual, writes und 3 weitere'],
    ['Model "own" cannot be used; nothing was sent. No key: paste one in the settings or set OWN_KEY.', 'Das Modell „own“ kann nicht verwendet werden; nichts wurde gesendet. Kein Schlüssel: Fügen Sie einen in den Einstellungen ein, oder setzen Sie OWN_KEY.'],
    ['Model "own" cannot be used; nothing was sent. It is tired.', 'Model "own" cannot be used; nothing was sent. It is tired.'],
    ['Something new happened.', 'Something new happened.'],
    ['The provider answered 500: model "x" crashed. See the log.', 'Der Anbieter antwortete mit 500: model "x" crashed. See the log.'],
    ['The provider answered 429: retry', 'Der Anbieter antwortete mit 429: retry'],
    ['The provider answered 400: Tool use is not supported', 'Der Anbieter antwortete mit 400: Tool use is not supported'],
    ['Keyword search only: The embedding model could not be used: overloaded. Not reranked: The reranker could not be used: busy.', 'Nur nach Wörtern gesucht: Das Embedding-Modell konnte nicht verwendet werden: overloaded. Nicht neu geordnet: Der Reranker konnte nicht verwendet werden: busy.'],
    ['The provider answered 502: the server answered with status 502 and no explanation; check the address of the server', 'Der Anbieter antwortete mit 502: der Server antwortete mit dem Status 502 und ohne Erklärung; prüfen Sie die Adresse des Servers'],
    ['The provider answered 200: example.org answered with a web page instead of an answer; check the address of the server', 'Der Anbieter antwortete mit 200: statt einer Antwort kam von example.org eine Webseite; prüfen Sie die Adresse des Servers'],
    ['The provider answered 301: the server redirects to another address; a key is not sent there, correct the address of the server', 'Der Anbieter antwortete mit 301: der Server leitet an eine andere Adresse weiter; ein Schlüssel wird nicht dorthin gesendet, berichtigen Sie die Adresse des Servers'],
    ['The provider answered 413: prompt is too long Nothing more can be removed from it: the context needs 9000 tokens, but the limit is 8000: system 10, pinned facts 0, state summary 20, history 0, 0 pending turns 0, message 8970, definitions of tools 5, tool calls of this turn and their results 6', 'Der Anbieter antwortete mit 413: prompt is too long Mehr lässt sich daraus nicht weglassen: der Kontext braucht 9000 Token, erlaubt sind 8000: Anweisungen 10, angeheftete Tatsachen 0, Zustandszusammenfassung 20, Verlauf 0, 0 ausstehende Runden 0, Nachricht 8970, Werkzeugbeschreibungen 5, Werkzeugaufrufe dieser Runde und ihre Ergebnisse 6'],
    ['the connection to localhost:11434 failed: read tcp: i/o error', 'die Verbindung zu localhost:11434 ist fehlgeschlagen: read tcp: i/o error'],
    ['The answer was stopped because it is too long: it is longer than 4 MB (stream.max_answer_bytes). The partial answer is kept.', 'Die Antwort ist zu lang und wurde beendet: sie ist länger als 4 MB (stream.max_answer_bytes). Was eingetroffen war, bleibt erhalten.'],
    ['The key was refused: Incorrect API key provided.', 'Der Schlüssel wurde abgelehnt: Incorrect API key provided.'],
    ['Keyword search only: The embedding model could not be used: the connection to localhost:11434 was lost. Not reranked: The reranker could not be used: 127.0.0.1:8080 did not answer in time.', 'Nur nach Wörtern gesucht: Das Embedding-Modell konnte nicht verwendet werden: die Verbindung zu localhost:11434 ist abgebrochen. Nicht neu geordnet: Der Reranker konnte nicht verwendet werden: der Server 127.0.0.1:8080 hat nicht rechtzeitig geantwortet.'],
    ['The embedding model could not be used: API (v2) failed. (nothing is lost: words are still searched, and vectors are made once it responds)', 'Das Embedding-Modell konnte nicht verwendet werden: API (v2) failed. (nichts ist verloren: Wörter werden weiterhin durchsucht, und Vektoren entstehen, sobald es antwortet)'],
    ['Ollama does not have the model "bge-m3". (ollama pull bge-m3)', 'Ollama hat das Modell „bge-m3“ nicht. (führen Sie ollama pull bge-m3 aus)'],
    ['', ''],
  ])('%s', async (english, german) => {
    expect(program(english)).toBe(english);
    await chooseLanguage('de', []);
    expect(program(english)).toBe(german);
  });

  it('follows the language in an error, whose hint is a sentence', async () => {
    const error = new BackendError({ code: 'no_space', op: '', message: 'The disk is full; the change was undone and everything before it is safe.', hint: 'free some space and try again' });
    expect(error.hint).toBe('Free some space and try again.');
    await chooseLanguage('zh-CN', []);
    expect([error.message, error.hint]).toEqual(['磁盘已满；更改已撤销，此前的数据不受影响。', '请释放空间后重试。']);
  });
});

/** The program's texts about a provider: how it failed, and what to do. */
const failures = [
  ...found(source('internal/wire/failure.go', '\nfunc (s Server) transportError(', '\n// Cancelled describes'), /((?:host\s*\+\s*)?"[^"]*"(?:\s*\+\s*(?:host|cleanWords\(.*\)|"[^"]*"))*)/g)
    .map((joined) => [...joined.matchAll(/"([^"]*)"|\bhost\b|cleanWords/g)].map(([, text]) => text ?? '%s').join('')),
  ...found(source('turn/ending.go', '\nfunc hintFor(', '\n// retryable reports'), /return (?:fmt\.Sprintf\()?"((?:[^"\\]|\\.)*)"/g).map((text) => text.replaceAll('\\"', '"')),
  ...found(source('turn/ending.go'), /(?:Message|Hint)(?: = |: +)"([^"]+)"/g),
];

describe('a failure of a provider', () => {
  afterEach(() => chooseLanguage('en', []));

  it.each([
    ['The provider answered 500: upstream error', 'retry, or choose another model', 'Keine Antwort. Der Anbieter antwortete mit 500: upstream error', 'Versuchen Sie es erneut, oder wählen Sie ein anderes Modell.'],
    ['The provider answered 429: slow down', 'the provider asks to wait 3s, then retry', 'Keine Antwort. Der Anbieter antwortete mit 429: slow down', 'Der Anbieter bittet, 3s zu warten; versuchen Sie es dann erneut.'],
    ['the connection to 127.0.0.1:4010 was lost', 'check that the server is running and its address is right, then retry', 'Keine Antwort. Die Verbindung zu 127.0.0.1:4010 ist abgebrochen', 'Prüfen Sie, ob der Server läuft und seine Adresse stimmt, und versuchen Sie es dann erneut.'],
    ['nothing answers at localhost:11434; is the server running?', 'retry', 'Keine Antwort. Unter localhost:11434 antwortet nichts; läuft der Server?', 'Versuchen Sie es erneut.'],
  ])('is shown in German: %s', async (message, hint, title, advice) => {
    await chooseLanguage('de', []);
    const error = new BackendError({ code: 'unavailable', op: '', message, hint });
    expect([noAnswerText(error), error.hint]).toEqual([title, advice]);
  });

  it('is a sentence in Chinese, with its full stop', async () => {
    await chooseLanguage('zh-CN', []);
    expect(sentence(program('the connection to localhost:11434 was lost'))).toBe('与 localhost:11434 的连接已中断。');
    expect(program('The embedding model could not be used: the connection to localhost:11434 was lost.')).toBe('无法使用嵌入模型：与 localhost:11434 的连接已中断。');
  });
});

describe.each([['de', de], ['zh-CN', zh]] as const)('the texts of the program in %s', (_, texts) => {
  it('are exactly those of the settings in Go', () => {
    expect(keys.length).toBeGreaterThan(90);
    expect(Object.keys(texts.settings).sort()).toEqual([...keys].sort());
    expect(Object.entries(texts.settings).filter(([, values]) => values.some((text) => text.trim() === ''))).toEqual([]);
  });

  it('include its groups and units', () => {
    expect([...new Set(terms)].filter((term) => !(term in texts.terms))).toEqual([]);
  });

  it('match the English of the program exactly', () => {
    expect([...Object.keys(texts.terms), ...Object.keys(texts.sentences)].filter((english) => !isInSources(english))).toEqual([]);
  });

  it('include everything that the X-ray lists: items, measures to make it fit, reasons for memory', () => {
    const groups = [
      found(source('api/context.go', '\nfunc label(', '\nfunc redactionViews('), /return (?:fmt\.Sprintf\()?"([^"]+)"/g),
      readdirSync('../backend/prompt').filter((name) => name.endsWith('.go') && !name.endsWith('_test.go')).flatMap((name) => found(source(`prompt/${name}`), /\ba\.log\("([^"]+)"/g)),
      found(source('chat/turn.go'), /DroppedBecause: fmt\.Sprintf\("([^"]+)"/g),
      found(source('retrieval/explain.go', '\nfunc (m Match) String('), /"([a-z][^"]*)"/g),
    ];
    for (const group of groups) expect(group.length).toBeGreaterThan(3);
    expect(groups.flat().filter((english) => !(english in texts.terms) && !(english in texts.sentences))).toEqual([]);
  });

  it('include what a permanent deletion removes', () => {
    const labels = found(source('api/storage.go', '\nvar storeLabels', '\nfunc deletedParts('), /: "([^"]+)"/g);
    expect(labels.length).toBeGreaterThan(30);
    expect(labels.filter((label) => !(label in texts.terms))).toEqual([]);
  });

  it.each([
    ['the queue', source('store/records/queue.go'), 4],
    ['merging answers', source('turn/engine.go', '\nfunc (e *Engine) CanMerge(', '\n// checkContent'), 2],
    ['models that cannot be used', source('config/models.go', '\nfunc (m Model) Usable(', '\n// ExposesKey'), 3],
  ])('include the errors of %s', (_area, code, atLeast) => {
    const messages = found(code, /(?:Conflict|Invalid|WithHint|Errorf|return false,) ?\(?(?:[\w.]+, "[\w.]*", )?"([^"]{9,}?)"/g);
    expect(messages.length).toBeGreaterThanOrEqual(atLeast);
    expect(messages.filter((english) => !Object.keys(texts.sentences).some((sentence) => sentence.startsWith(english)))).toEqual([]);
  });

  it('include every failure of a provider, and what to do about it', () => {
    expect(failures.length).toBeGreaterThan(25);
    expect(failures.filter((english) => !(english in texts.sentences))).toEqual([]);
  });

  it('use each value of a sentence once', () => {
    const placeholders = (english: string) => (english.match(verbs) ?? []).map((_, i) => `{${i + 1}}`).sort();
    expect(Object.entries(texts.sentences).filter(([english, translation]) => ((translation as string).match(/\{\d+\}/g) ?? []).sort().join() !== placeholders(english).join()).map(([english]) => english)).toEqual([]);
  });

  it('contain the choices that the English descriptions contain', () => {
    expect(choices.size).toBeGreaterThan(5);
    const settings: Record<string, readonly [string, string]> = texts.settings;
    expect([...choices].flatMap(([key, list]) => list.filter((choice) => !settings[key]![1].includes(choice)).map((choice) => `${key}: ${choice}`))).toEqual([]);
  });
});
