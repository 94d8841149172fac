import { describe, expect, it } from 'vitest';
import type { StateOrigin } from '$lib/backend/types';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { accountOf, translateHeadings } from './validation';

const account = (origin: StateOrigin, fields: unknown) => accountOf({ origin, validation: typeof fields === 'string' ? fields : JSON.stringify(fields) });

describe('the report on a state', () => {
  it.each(['', 'not json', '[]', 'null', '7'])('is null for: %s', (text) => expect(account('librarian', text)).toBeNull());

  it('shows which try passed, and what was kept of what was found', () => {
    expect(account('librarian', { tries: 2, turns: 3, found: { numbers: 22, open_tasks: 2, facts: 0 }, kept: { numbers: 21, open_tasks: 2 } })).toMatchObject({
      verdict: 'Passed on attempt 2', short: 'passed, attempt 2', tone: 'ok', turns: 3,
      checks: [{ name: 'Numbers', kept: 21, found: 22 }, { name: 'Open tasks', kept: 2, found: 2 }],
    });
  });

  it('shows why no model made it, and what is missing', () => {
    expect(account('fallback', { method: 'fallback', tries: 2, reason: 'It timed out', missing: ['30 s'], dropped: ['old'], dropped_count: 12 })).toMatchObject({
      verdict: 'Generated without a model, after 2 failed attempts', tone: 'warn', reason: 'It timed out', missing: ['30 s', 'old'], missingCount: 12,
    });
  });

  it('shows what the model lost and what was added by rule', () => {
    expect(account('librarian', { tries: 1, required: 5, required_kept: 3, missing: ['Never log a key.', 'old name'], added: ['Never log a key.'] })).toMatchObject({
      verdict: 'Repaired after 1 attempt: 1 entry added', short: 'repaired, +1', tone: 'ok', added: ['Never log a key.'], missing: ['old name'], missingCount: 1,
    });
  });

  it('shows why an answer was not used although another was', () => {
    expect(account('librarian', { tries: 2, reason: 'it is empty' })).toMatchObject({ verdict: 'Passed on attempt 2', reason: "The model's summary is empty", added: [] });
  });

  it('lists required items first', () => {
    expect(account('librarian', { tries: 1, required: 12, required_kept: 11, found: { facts: 3 }, kept: { facts: 3 } })?.checks).toEqual([{ name: 'Required', kept: 11, found: 12 }, { name: 'Facts', kept: 3, found: 3 }]);
  });

  it('names the sections in the language of the window', async () => {
    await chooseLanguage('de');
    expect(account('fallback', { kept: { 'Open tasks': 1, Facts: 2, 'Last exchange': 2 } })?.checks.map(({ name }) => name)).toEqual(['Offene Aufgaben', 'Tatsachen', 'Letzter Austausch']);
    await chooseLanguage('en');
  });

  it('accepts lists and numbers as counts, and never fails on unknown fields', () => {
    expect(account('librarian', { found: ['a', 'b'], kept: 1, missing: [3, null, 'x'], tries: 'two' })).toMatchObject({ checks: [{ name: 'Entities', kept: 1, found: 2 }], missing: ['x'], verdict: 'Passed' });
  });
});

it('names the sections of a summary in the language of the window, and changes nothing else', async () => {
  const summary = '## Facts\n- Facts are here\n\n## Open tasks\n\n## What happened\nWe met.\n## Own heading\n';
  expect(translateHeadings(summary)).toBe(summary);
  await chooseLanguage('de', []);
  expect(translateHeadings(summary)).toBe('## Tatsachen\n- Facts are here\n\n## Offene Aufgaben\n\n## Was geschah\nWe met.\n## Own heading\n');
  await chooseLanguage('en', []);
});

it('changes no heading in a block of code', async () => {
  await chooseLanguage('de', []);
  for (const [open, close] of [['```', '```'], ['~~~~ md', '~~~~~'], ['  ```md', '  ```']]) {
    const code = `${open}\n## Facts\n~~~\n## Open tasks\n${close}\n`;
    expect(translateHeadings(`## Facts\n${code}\n## Open tasks\n${code}`)).toBe(`## Tatsachen\n${code}\n## Offene Aufgaben\n${code}`);
  }
  expect(translateHeadings('```a```\n## Facts\n```\n## Facts')).toBe('```a```\n## Tatsachen\n```\n## Facts'); // the last one is not closed
  await chooseLanguage('en', []);
});
