import { afterEach, expect, it } from 'vitest';
import { capsOf, keysIn, withKeys } from './keys';
import { chooseLanguage } from './i18n/i18n.svelte';

afterEach(() => chooseLanguage('en', []));

it('uses the names of German keyboards', async () => {
  await chooseLanguage('de', []);
  expect(capsOf('Ctrl+Shift+N', false)).toEqual(['Strg', 'Umschalt', 'N']);
  expect(keysIn('Ctrl+Space', false)).toBe('Strg+Leertaste');
  expect([withKeys('Archivieren (Delete)', false), withKeys('Einstellungen (Ctrl+,)', false), withKeys('Schließen', false)]).toEqual(['Archivieren (Entf)', 'Einstellungen (Strg+,)', 'Schließen']);
});

it('uses Mac symbols in every language', async () => {
  await chooseLanguage('de', []);
  expect([keysIn('Ctrl+N', true), withKeys('Archivieren (Delete)', true), capsOf('Ctrl+PageUp', true)]).toEqual(['⌘N', 'Archivieren (⌫)', ['⌘', 'Bild↑']]);
});

it('uses the names of lists in English', () => {
  expect([keysIn('Ctrl+Shift+PageUp', false), withKeys('Archive (Delete)', false)]).toEqual(['Ctrl+Shift+PageUp', 'Archive (Delete)']);
});
