import { waitFor } from '@testing-library/svelte';
import { afterEach, expect, it } from 'vitest';
import { chooseLanguage, t } from '$lib/words/words.svelte';
import { startedApp } from '../../test/mount';
import { languageKey, SettingsEditor } from './settings.svelte';

afterEach(() => chooseLanguage('en'));

it('the language changes with its setting, and goes back with it', async () => {
  const { backend } = await startedApp({ data: 'rich' });
  const editor = new SettingsEditor(backend);
  await editor.set(languageKey, 'de');
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Abbrechen', 'de']);
  await editor.reset(languageKey);
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Cancel', 'en']);
});

it('what is configured is shown from the first moment', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  Object.assign(backend.program.startup, { language: 'zh-CN' });
  Object.assign(backend.program.settings.find(({ key }) => key === languageKey)!, { value: 'zh-CN' });
  await app.startup.load();
  expect(t('shared.cancel')).toBe('取消');
});

it('a language that another window chose is followed', async () => {
  const { backend } = await startedApp({ data: 'rich' });
  Object.assign(backend.program.settings.find(({ key }) => key === languageKey)!, { value: 'de' });
  backend.world.changed('settings', '', '');
  await waitFor(() => expect(t('shared.cancel')).toBe('Abbrechen'));
});
