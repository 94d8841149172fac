import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountWith } from '$shared/testing/harness';
import { startedApp } from '../../test/mount';
import { showField } from './findField';
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
  const gone = list.getByRole('button', { name: 'Favourite: long-gone', pressed: true });
  const saved = backend.hold('settings.setFavourite');
  await user.click(gone);
  expect(gone).toBeEnabled(); // a button that is disabled meanwhile loses the focus
  saved();
  await waitFor(() => expect(list.queryByRole('button', { name: 'Favourite: long-gone' })).toBeNull());
  expect(list.getAllByRole('button')).toContain(document.activeElement);
  expect(backend.program.valueOf('general.favourite_models')).toBe('["local"]');
  await user.clear(search);
  await user.type(search, 'quick ask');
  expect(await screen.findByRole('button', { name: /^Shortcut for Quick ask from anywhere/ })).toBeVisible();
});

describe('a field that appears late', () => {
  /** A page whose field appears after `meanwhile`. */
  async function lateField(meanwhile: (page: HTMLElement) => void, isCurrent?: () => boolean) {
    document.body.innerHTML = '<main><input aria-label="Other"></main>';
    const page = document.querySelector('main')!;
    const found = showField(page, 'Version', isCurrent);
    meanwhile(page);
    page.insertAdjacentHTML('beforeend', '<div class="field-row"><label for="version">Version</label><input id="version"></div>');
    return { found: await found, page };
  }

  it('takes the focus', async () => {
    expect((await lateField(() => undefined)).found).toBe(true);
    expect(document.getElementById('version')).toHaveFocus();
  });

  it('leaves the focus where the user has moved it', async () => {
    const { found, page } = await lateField((page) => page.querySelector('input')!.focus());
    expect(found).toBe(true);
    expect(page.querySelector('[aria-label="Other"]')).toHaveFocus();
  });

  it('stays in the middle while what is above it is loaded, until the user scrolls', async () => {
    let grow: (() => void) | undefined;
    vi.stubGlobal('ResizeObserver', class {
      constructor(callback: () => void) { grow = callback; }
      observe() {}
      disconnect() { grow = undefined; }
    });
    const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
    const { page } = await lateField(() => undefined);
    grow?.();
    expect(scrolled).toHaveBeenCalledTimes(2);
    page.dispatchEvent(new Event('wheel'));
    expect(grow).toBeUndefined();
    vi.unstubAllGlobals();
    scrolled.mockRestore();
  });

  it('is ignored after another page was opened or another search started', async () => {
    let current = true;
    expect((await lateField(() => (current = false), () => current)).found).toBe(false);
    expect(document.querySelector('[data-found]')).toBeNull();
  });
});

it('a page that is found has the focus, and a heading on it if that is what was looked for', async () => {
  const user = userEvent.setup();
  await mountWith(Settings, (app) => (app.layout.openSettings('general'), {}), { data: 'empty' });
  await user.type(await screen.findByRole('searchbox', { name: 'Search settings' }), 'keyboard');
  await user.click(within(screen.getByRole('group', { name: 'Pages' })).getByRole('button', { name: 'Keyboard' }));
  await waitFor(() => expect(screen.getByRole('main', { name: 'Keyboard' })).toHaveFocus());
  document.body.innerHTML = '<main><h2>orders-db</h2></main>';
  await showField(document.querySelector('main')!, 'orders-db');
  expect(document.querySelector('h2')).toHaveFocus();
});
