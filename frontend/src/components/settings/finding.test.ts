import { afterEach, expect, it } from 'vitest';
import { chooseLanguage } from '$lib/words/words.svelte';
import { startedApp } from '../../test/mount';
import { matches, pageMatches, sectionsOf } from './sections';

afterEach(() => chooseLanguage('en', []));

it.each([['en', 'dark', 'appearance.theme'], ['de', 'dunkel', 'appearance.theme'], ['en', 'write ahead', 'stream.durability']])('the search in %s for %s finds the matching setting, %s', async (language, typed, key) => {
  const { app } = await startedApp({ data: 'rich' });
  const { settings } = await app.backend.settings.settings();
  await chooseLanguage(language, []);
  expect(settings.filter((setting) => matches(setting, typed)).map((setting) => setting.key)).toContain(key);
});

it('finds the page of assistants by the names of its fields', async () => {
  expect(sectionsOf([]).filter((section) => pageMatches(section, 'temperat')).map(({ id }) => id)).toEqual(['assistants']);
});

it.each([['Start when', 'general'], ['sign in', 'general'], ['autostart', 'general'], ['font', 'appearance'], ['text size', 'appearance']])('finds the page of “%s”', (typed, page) => {
  expect(sectionsOf([]).filter((section) => pageMatches(section, typed)).map(({ id }) => id)).toContain(page);
});
