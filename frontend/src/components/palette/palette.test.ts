import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { commands } from '$lib/commands/commands';
import { entries } from '$lib/commands/list';
import { capsOf, withKeys } from '$lib/keys';
import * as printing from '$lib/state/printing';
import { program } from '$lib/i18n/program';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountIn, startedApp } from '../../test/mount';
import { sectionsOf, type Item } from './items';
import { gather } from './gather';
import KeySheet from './KeySheet.svelte';
import Palette from './Palette.svelte';

beforeEach(() => void vi.spyOn(printing, 'printPage').mockResolvedValue()); // jsdom cannot print

async function palette(language = 'en') {
  const started = await startedApp({ data: 'rich' });
  await started.backend.settings.set('ui.language', language);
  const { app, backend } = started;
  app.layout.measured(80);
  await app.navigation.openSession([...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!.row.id);
  const show = () => {
    app.palette.toggle();
    return mountIn(app, Palette, {});
  };
  let view = show();
  const reopen = () => {
    view.unmount();
    view = show();
  };
  return { ...started, reopen, field: () => screen.getByRole('combobox') as HTMLInputElement, chosen: () => screen.getByRole('option', { selected: true }), user: userEvent.setup() };
}

describe('the palette', () => {
  it('finds a command by a few letters and runs it', async () => {
    const { app, field, chosen, user } = await palette();
    expect(field()).toHaveFocus();
    await user.type(field(), 'fullsize');
    expect([chosen().textContent, field().getAttribute('aria-activedescendant')]).toEqual([expect.stringContaining('Show the tree at full size'), chosen().id]);
    await user.keyboard('{Enter}');
    await waitFor(() => expect(app.branches.fullView).toEqual({ kind: 'tree' }));
    expect([app.palette.open, app.palette.recent]).toEqual(['', ['command:tree']]);
  });

  it('finds sessions, branches, models, settings and turns, and passes words to the search', async () => {
    const { app, field, user, reopen } = await palette();
    const inGroup = (group: string) => within(screen.getByRole('group', { name: group }));
    await user.type(field(), 'lofoten');
    expect(await inGroup('Sessions').findByRole('option', { name: /Lofoten in February/ })).toBeVisible();
    await user.clear(field());
    await user.type(field(), 'throttled');
    expect(inGroup('Branches').getByRole('option')).toHaveTextContent('throttled-backfill');
    await user.clear(field());
    await user.type(field(), 'sonnet');
    expect(inGroup('Models').getByRole('option', { name: /Answer with sonnet/ })).toHaveTextContent('in use');
    await user.clear(field());
    await user.type(field(), 'compact at');
    await user.click(await inGroup('Settings').findByRole('option', { name: /Compact at.*0.85/ }));
    await waitFor(() => expect([app.layout.view, app.layout.section]).toEqual(['settings', 'group:Context budget']));
    reopen();
    await user.type(field(), '#146{Enter}');
    await waitFor(() => expect(app.conversation.intent).toMatchObject({ to: 'turn', turnId: 't0146' }));
    reopen();
    await user.type(field(), 'nothing is called so');
    await user.click(screen.getByRole('option', { name: /Search messages for “nothing is called so”/ }));
    await waitFor(() => expect([app.layout.searching, app.search.text]).toEqual([true, 'nothing is called so']));
  });

  it('shows why a command is not available, and does not run it', async () => {
    const { app, field, chosen, user } = await palette();
    await user.type(field(), 'undo');
    expect(chosen()).toHaveTextContent('Nothing to undo');
    expect(chosen()).toHaveAttribute('aria-disabled', 'true');
    await user.keyboard('{Enter}');
    expect(app.palette.open).toBe('commands');
  });

  it.each([['en', 'roll', /^Roll back: /], ['en', 'night', /^Dark theme/], ['de', 'dunkel', /^Dunkles Design/], ['de', 'zurücks', /^Zurücksetzen: /], ['zh-CN', '回滚', /^回滚：/], ['zh-CN', '夜间', /^深色主题/]])('in %s, the first result for “%s” is the command', async (language, typed, name) => {
    await chooseLanguage(language);
    const { field, chosen, user } = await palette(language);
    await user.type(field(), typed);
    expect(chosen().querySelector('.title')).toHaveTextContent(name);
    await chooseLanguage('en');
  });

  it('confirms the new value of a setting that it switches', async () => {
    const { app, field, reopen, user } = await palette();
    const toastTexts = () => app.toasts.list.map(({ text }) => text);
    await user.type(field(), 'wrap or scroll{Enter}');
    await waitFor(() => expect(toastTexts()).toEqual(['Long lines of code are wrapped']));
    expect(app.theme.wrap).toBe(true);
    reopen();
    await user.type(field(), 'wrap or scroll{Enter}');
    await waitFor(() => expect(toastTexts()).toEqual(['Long lines of code are not wrapped']));
    reopen();
    await user.type(field(), 'show or hide line{Enter}');
    await waitFor(() => expect(toastTexts()).toEqual(['Line numbers in code are shown']));
  });

  it('asks for the text of a command', async () => {
    const { backend, field, user } = await palette();
    await user.type(field(), 'pin a fact{Enter}');
    await user.type(screen.getByRole('combobox', { name: /^Pin a fact/ }), 'Never on a Friday.{Enter}');
    await waitFor(() => expect(backend.calls.filter(({ name }) => name === 'inspect.addPin').map(({ args }) => args[1])).toEqual(['Never on a Friday.']));
  });

  it('goes back with Esc', async () => {
    const { app, field, user } = await palette();
    await user.type(field(), 'pin a fact{Enter}{Escape}');
    expect(screen.getByRole('combobox', { name: /^Find a command/ })).toBeVisible();
    await user.keyboard('{Escape}');
    expect(app.palette.open).toBe('');
  });
});

describe('the order of the palette', () => {
  const item = (id: string, more: Partial<Item> = {}): Item => ({ id, kind: 'command', title: id, run: () => undefined, ...more });

  it('starts with recent items, and no kind hides the others', () => {
    const items = [item('alpha'), item('beta', { disabledReason: 'Not now' }), ...Array.from({ length: 30 }, (_, i) => item(`session ${i}`, { kind: 'session' }))];
    const shown = sectionsOf(items, '', ['alpha', 'beta', 'gone']).map(({ title, items: rows }) => [title, rows.length]);
    expect(shown).toEqual([['Recent', 1], ['Commands', 1], ['Sessions', 7]]);
    expect(sectionsOf(items, '>', ['alpha']).map(({ title }) => title)).toEqual(['Commands']);
    expect(sectionsOf(items, 'session', [])[0]!.items).toHaveLength(7);
  });

  it('ranks matches in other words below titles, and recent items higher', () => {
    const items = [item('Show the memory', { words: 'chunks' }), item('Chunks of wood', { kind: 'session' }), item('Chunk one'), item('Chunk two')];
    const ids = (recent: string[]) => sectionsOf(items, 'chunk', recent).flatMap(({ items: rows }) => rows.map(({ id }) => id));
    expect(ids([]).at(0)).toBe('Chunk one');
    expect(ids(['Chunk two']).at(0)).toBe('Chunk two');
    expect(ids([])).toContain('Show the memory');
  });
});

it('says in the language of the window why a model cannot be used', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  app.models.adopt(backend.program.models.map((model) => ({ ...model, usable: false, reason: 'There is no key to test.' })));
  await chooseLanguage('de');
  const german = program('There is no key to test.');
  expect(german).not.toBe('There is no key to test.');
  expect(new Set(gather(app, { sessions: [], settings: [] }, '').filter(({ kind }) => kind === 'model').map((item) => item.disabledReason))).toEqual(new Set([german]));
  await chooseLanguage('en');
});

describe('the shortcut sheet', () => {
  it('lists every shortcut and slash command once, and can be searched', async () => {
    const { app } = await startedApp();
    app.palette.showKeys();
    mountIn(app, KeySheet, {});
    const listed = app.keymap.groups().flatMap((group) => group.entries);
    expect(new Set(listed).size).toBe(entries.filter(({ keys, slash }) => keys || slash).length);
    for (const { name } of commands) expect(screen.getByText(new RegExp(`^/${name}\\b`))).toBeVisible();
    const field = screen.getByRole('textbox', { name: 'Search keys and commands' });
    expect(field).toHaveFocus();
    await userEvent.type(field, 'ctrl+k');
    expect(screen.getAllByRole('definition')).toHaveLength(1);
    await userEvent.type(field, 'zzz');
    expect(screen.getByRole('status')).toHaveTextContent('No results for');
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(app.palette.open).toBe('');
  });

  it.each([['Ctrl+Shift+N', false, ['Ctrl', 'Shift', 'N']], ['Ctrl+Shift+N', true, ['⌘', '⇧', 'N']], ['Ctrl++', false, ['Ctrl', '+']], ['Alt+Up', true, ['⌥', '↑']], ['?', true, ['?']], ['+', false, ['+']]])('names %s (Mac: %s)', (keys, mac, caps) => expect(capsOf(keys, mac)).toEqual(caps));
});

it('labels use the key names of this system', () => {
  expect([withKeys('Settings (Ctrl+,)', true), withKeys('Settings (Ctrl+,)', false), withKeys('Close', true), withKeys('Theme: Light. Changes it', true)]).toEqual(['Settings (⌘,)', 'Settings (Ctrl+,)', 'Close', 'Theme: Light. Changes it']);
});

describe('commands', () => {
  it('have unique ids, and slash commands have names', () => {
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  });

  it('in the palette all run or explain why they cannot', async () => {
    const { app } = await startedApp({ data: 'rich' });
    app.conversation.stop();
    const done = new Set<string>();
    for (const { id, local } of entries) {
      if (local || id === 'new' || id === 'temporary') continue;
      if (app.commands.disabledReason(id) === '') await app.commands.run(id, id === 'model' ? 'sonnet' : id === 'pin' ? 'x' : '').then(() => done.add(id), (error: Error) => expect(error.message).toBeTruthy());
    }
    expect(done.size).toBeGreaterThan(25);
  });
});
