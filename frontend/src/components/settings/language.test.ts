import { waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import type { App } from '$lib/state/app.svelte';
import { chooseLanguage, t } from '$lib/i18n/i18n.svelte';
import { startedApp } from '../../test/mount';
import { languageKey, SettingsEditor } from './settings.svelte';

let app: App;
let backend: FakeBackend;
beforeEach(async () => void ({ app, backend } = await startedApp({ data: 'rich' })));
afterEach(() => {
  app.stop(); // otherwise its pending loads would change the language during the next test
  return chooseLanguage('en');
});

it('the language changes with its setting, and back', async () => {
  const editor = new SettingsEditor(backend);
  await editor.set(languageKey, 'de');
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Abbrechen', 'de']);
  await editor.reset(languageKey);
  expect([t('shared.cancel'), document.documentElement.lang]).toEqual(['Cancel', 'en']);
});

it('the configured language is used from the first moment', async () => {
  Object.assign(backend.program.startup, { language: 'zh-CN' });
  Object.assign(backend.program.settings.find(({ key }) => key === languageKey)!, { value: 'zh-CN' });
  await app.startup.load();
  expect(t('shared.cancel')).toBe('取消');
});

it('a language chosen in another window is applied', async () => {
  Object.assign(backend.program.settings.find(({ key }) => key === languageKey)!, { value: 'de' });
  backend.store.changed('settings', '', '');
  await waitFor(() => expect(t('shared.cancel')).toBe('Abbrechen'));
});
