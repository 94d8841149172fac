import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it } from 'vitest';
import { chooseLanguage } from '$lib/words/words.svelte';
import { mountWith } from '$shared/testing/harness';
import { startedApp } from '../../test/mount';
import Settings from './Settings.svelte';
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

it('found settings have the controls of their pages: stars for the favourite models, pressed keys for quick ask', async () => {
  const user = userEvent.setup();
  const { backend } = await mountWith(Settings, (app) => (app.layout.openSettings('general'), {}), { data: 'empty' }, ({ program }) => {
    program.set('general.favourite_models', '["long-gone"]');
  });
  const search = await screen.findByRole('searchbox', { name: 'Search settings' });
  await user.type(search, 'favourite');
  const list = within(await screen.findByRole('list', { name: 'Favourite models' }));
  await user.click(list.getByRole('button', { name: 'Favourite: local', pressed: false }));
  expect(await list.findByRole('button', { name: 'Favourite: local', pressed: true })).toBeVisible();
  await user.click(list.getByRole('button', { name: 'Favourite: long-gone', pressed: true }));
  await waitFor(() => expect(list.queryByRole('button', { name: 'Favourite: long-gone' })).toBeNull());
  expect(backend.program.valueOf('general.favourite_models')).toBe('["local"]');
  await user.clear(search);
  await user.type(search, 'quick ask');
  expect(await screen.findByRole('button', { name: /^Keys of Quick ask from anywhere/ })).toBeVisible();
});
