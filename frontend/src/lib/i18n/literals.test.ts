import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFrozen, findLiterals } from './literals';

const root = 'src';

/** Files without displayed texts: catalogues, names of programming languages, generated types, fakes, tests. */
const notTexts = ['lib/i18n', 'lib/markdown/languages.ts', 'lib/backend/types.ts', 'lib/backend/fake', 'lib/backend/fake.ts', 'lib/markdown/testing', 'components/shared/testing', 'parts', 'test'];

/** Strings that look like displayed texts but are not; without file and line, so that code may move. */
const allowed: Record<string, string[]> = {
  'components/inspector/RawCall.svelte': ['`contextinfinity show SESSION --raw ${stepId}`', '`event: ${event.type}\\ndata: ${event.data}\\n\\n`'], // a command, and an event as it was transferred
  'components/inspector/activity/plot.ts': ["`${0.6875 * rem()}px ${style.getPropertyValue('--font-sans')}`", '`color-mix(in srgb, ${colour} 25%, transparent)`'], // CSS
  'components/servers/ServerForm.svelte': ['npx', 'https://example.com/mcp'], // examples
  'lib/shortcuts.ts': ["'Up'", "'Down'", "'Left'", "'Right'", "'Super'"], // names of keys, which Kbd draws
  'components/servers/webSearch.ts': ["'Authorization'"], // a header
  'components/palette/Palette.svelte': ['Up', 'Down'], // names of keys, which Kbd draws
  'components/palette/gather.ts': ['`model ${model.provider} ${model.modelId}`'], // its search words
};

function filesOf(directory: string): string[] {
  return readdirSync(join(root, directory)).flatMap((name) => {
    const path = directory === '' ? name : `${directory}/${name}`;
    if (notTexts.includes(path)) return [];
    if (statSync(join(root, path)).isDirectory()) return filesOf(path);
    return /\.(?:svelte|ts)$/.test(name) && !/\.test\.ts$|\.d\.ts$/.test(name) ? [path] : [];
  });
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const literalsIn = (path: string) => findLiterals(path, read(path)).filter(({ text }) => !(allowed[path] ?? []).includes(text)).map(({ line, text }) => `${path}:${line} ${text}`);

const files = filesOf('');

describe('texts in the code', () => {
  it('are in catalogues', () => {
    expect(files.flatMap(literalsIn)).toEqual([]);
  });

  it('follow the language: none is created once and stored', () => {
    expect(files.flatMap((path) => findFrozen(path, read(path)).map(({ line, text }) => `${path}:${line} ${text}`))).toEqual([]);
  });
});

describe('the finder', () => {
  const found = (file: string, source: string) => findLiterals(file, source).map(({ text }) => text);

  it.each([
    ['<p>Hello there</p>', 'Hello there'],
    ['<p>{count} turns</p>', 'turns'],
    ['<button aria-label="Close">x</button>', 'Close'],
    ['<Field label="Theme" />', 'Theme'],
    ['<Tab {...rest} help="On" />', 'On'],
    ['<p>{open ? "Show it" : t("a.b")}</p>', '"Show it"'],
    ['<Button label="{word} now" />', 'now'],
    ['<p title={`Go to ${name}`}></p>', '`Go to ${name}`'],
    ['{#if ready}<b>Yes</b>{/if}', 'Yes'],
    ["<script>const words = { a: 'Sending' };</script>", "'Sending'"],
  ])('finds the text of %s', (source, text) => expect(found('a.svelte', source)).toEqual([text]));

  it.each([
    '<p class="one two">{t("a.b")}</p>',
    '<p>{count} / {total} · 5 %</p>',
    '<p>{t("a.b", { name: rest.name })}</p>',
    "<script>if (key === 'Enter') field.closest('button, input');</script>",
    "<script>import { a } from './A b.svelte';</script>",
    '<svg viewBox="0 0 10 10"><path d="M 1 2 L 3 4" /></svg>',
  ])('finds nothing in %s', (source) => expect(found('a.svelte', source)).toEqual([]));

  it.each([
    ["throw new BackendError({ message: 'No session is open', hint: '' });", 1],
    ["const kinds = ['none', 'some'] as const;", 0],
    ["toasts.show(`Moved to ${folder}`);", 1],
    ["return why === 'not found' ? 1 : 2;", 0],
  ])('in code: %s', (source, count) => expect(found('a.ts', source)).toHaveLength(count));

  it.each([
    ["const label = t('a.b');", 1],
    ["const label = () => t('a.b');", 0],
    ["class A { label = t('a.b'); get other() { return t('a.b'); } }", 1],
    ["const label = $derived(t('a.b'));", 0],
  ])('stored texts: %s', (source, count) => expect(findFrozen('a.svelte.ts', source)).toHaveLength(count));
});
