import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { globalChordOf } from '$lib/shortcuts';
import { mountWith } from '$shared/testing/harness';
import Settings from './Settings.svelte';

const user = userEvent.setup();

/** The page of general settings. */
const general = (prepare: (backend: FakeBackend) => void = () => {}) =>
  mountWith(Settings, (app) => (app.layout.openSettings('general'), {}), { data: 'empty' }, prepare);

describe('the keys of quick ask', () => {
  it('are set by pressing them, and the response of the desktop is shown beside them', async () => {
    const { backend } = await general();
    const button = await screen.findByRole('button', { name: 'Shortcut for Quick ask from anywhere: none. Change' });
    await user.click(button);
    await user.keyboard('x');
    expect(await screen.findByText(/^Hold Ctrl, Alt or Super/)).toBeVisible();
    await user.keyboard('{Control>}{Alt>} {/Alt}{/Control}');
    await waitFor(() => expect(backend.program.valueOf('desktop.quick_ask_keys')).toBe('Ctrl+Alt+Space'));
    expect(await screen.findByText('Active: Ctrl+Alt+Space opens the small window.')).toBeVisible();
    await user.click(await screen.findByRole('button', { name: 'Remove the shortcut for Quick ask from anywhere' }));
    await waitFor(() => expect(backend.program.valueOf('desktop.quick_ask_keys')).toBe(''));
    await waitFor(() => expect(screen.queryByText(/^Active/)).toBeNull());
  });

  it('used by another program are reported as taken; Esc cancels', async () => {
    const { backend } = await general();
    await user.click(await screen.findByRole('button', { name: /^Shortcut for Quick ask from anywhere/ }));
    await user.keyboard('{Escape}');
    expect(backend.program.valueOf('desktop.quick_ask_keys')).toBe('');
    await user.click(screen.getByRole('button', { name: /^Shortcut for Quick ask from anywhere/ }));
    await user.keyboard('{Control>}{Alt>}t{/Alt}{/Control}');
    await waitFor(() => expect(backend.program.valueOf('desktop.quick_ask_keys')).toBe('Ctrl+Alt+T'));
    expect(await screen.findByText('Another program already uses Ctrl+Alt+T. Choose another combination.')).toBeVisible();
  });

  it.each([
    [{ key: 'q', metaKey: true, shiftKey: true }, 'Shift+Super+Q'], [{ key: 'F9' }, 'F9'], [{ key: 'Q', shiftKey: true }, ''], [{ key: 'Enter', ctrlKey: true }, ''],
    [{ key: 'Control', ctrlKey: true }, null], [{ key: 'ä', ctrlKey: true }, ''], [{ key: '1', ctrlKey: true, altKey: true }, 'Ctrl+Alt+1'],
  ])('%o is %s', (press, chord) => {
    expect(globalChordOf({ code: '', ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, ...press })).toBe(chord);
  });
});

describe('checking for a new version', () => {
  it('is offered only if there is an address to ask, with the result in one line', async () => {
    const { backend } = await general();
    expect(await screen.findByText(/no release feed is set/)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Check for a new version' })).toBeNull();
    expect(backend.program.updates.at).toBe(0);
  });

  it('happens on click, and opens the page of a newer version', async () => {
    const { backend } = await general(({ program }) => {
      program.updates = { ...program.updates, feed: true };
      program.feed = { verdict: 'newer', newest: '9.0.0', page: 'https://example.org/9', at: Date.now() };
    });
    const button = await screen.findByRole('button', { name: 'Check for a new version' });
    expect(screen.queryByText(/9\.0\.0/)).toBeNull(); // no check without a request
    await user.click(button);
    expect(await screen.findByText(/Version 9\.0\.0 is available\./)).toBeVisible();
    backend.failNext('settings.openExternal', { code: 'unavailable', message: 'No browser.' });
    await user.click(screen.getByRole('button', { name: 'Open its page' }));
    expect(await screen.findByText('No browser.')).toBeVisible();
  });

  it('shows why it failed', async () => {
    await general(({ program }) => {
      program.updates = { ...program.updates, feed: true };
      program.feed = { reason: 'example.org could not be reached.', hint: 'check the network and updates.url' };
    });
    await user.click(await screen.findByRole('button', { name: 'Check for a new version' }));
    expect(await screen.findByText('example.org could not be reached. check the network and updates.url')).toBeVisible();
  });
});
