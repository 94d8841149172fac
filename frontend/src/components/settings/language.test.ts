import { afterEach, expect, it } from 'vitest';
import { fakeBackend } from '$lib/backend/fake';
import { StartupState } from '$lib/state/startup.svelte';
import { chooseLanguage, t } from '$lib/words/words.svelte';
import { startedApp } from '../../test/mount';
import { languageKey, SettingsEditor } from './settings.svelte';

afterEach(() => chooseLanguage('en'));

it('the language changes with its setting, and goes back with it', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  const editor = new SettingsEditor(backend);
  await editor.set(languageKey, 'de');
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Abbrechen', 'de']);
  await editor.reset(languageKey);
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Cancel', 'en']);
  app.stop(); // it would read the settings again, in the middle of the next test
});

it('what is configured is shown from the first moment', async () => {
  const backend = fakeBackend({ data: 'rich' });
  backend.program.set(languageKey, 'zh-CN');
  Object.assign(backend.program.startup, { language: 'zh-CN' });
  await new StartupState(backend).load();
  expect(t('shared.cancel')).toBe('取消');
});
