import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { entries, entryOf } from '$lib/commands/list';
import { chordOf, defaultChords, isRebindable, refusalOf } from '$lib/shortcuts';
import ShortcutsPage from '../../components/settings/ShortcutsPage.svelte';
import { mountIn, startedApp } from '../../test/mount';

const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key, ...more });
const ctrl = { ctrlKey: true };

describe('a key press', () => {
  it.each<[string, KeyboardEventInit, string | null]>([
    ['n', ctrl, 'Ctrl+N'], ['N', { ctrlKey: true, shiftKey: true }, 'Ctrl+Shift+N'], ['n', { metaKey: true }, 'Ctrl+N'], ['?', { shiftKey: true }, '?'], ['+', { ctrlKey: true, shiftKey: true }, 'Ctrl++'], ['ArrowUp', { altKey: true }, 'Alt+Up'], ['F3', { shiftKey: true }, 'Shift+F3'], ['Tab', { ctrlKey: true, shiftKey: true }, 'Ctrl+Shift+Tab'],
    ['т', { ctrlKey: true, code: 'KeyN' }, 'Ctrl+N'], ['ü', { ctrlKey: true, code: 'BracketLeft' }, 'Ctrl+Ü'], ['z', { ctrlKey: true, code: 'KeyY' }, 'Ctrl+Z'],
    ['Control', ctrl, null], ['Dead', {}, null], ['Unidentified', ctrl, null], [' ', ctrl, 'Ctrl+Space'], ['@', { ctrlKey: true, altKey: true, modifierAltGraph: true, code: 'KeyQ' }, '@'],
  ])('%s %o is %s', (key, more, chord) => expect(chordOf(press(key, more))).toBe(chord));
});

describe('the keys of the window', () => {
  it('are the default ones until changed, and each command has all of its default keys', async () => {
    const { app } = await startedApp();
    const defaults = entries.filter(isRebindable).flatMap((entry) => defaultChords(entry).map((chord) => [chord, entry.id] as const));
    expect(new Set(defaults.map(([chord]) => chord)).size).toBe(defaults.length);
    for (const [chord, id] of defaults) expect(app.keymap.ownerOf(chord), chord).toBe(id);
    const commandOf = (key: string, more: KeyboardEventInit = {}) => app.keymap.commandOf(press(key, more));
    expect([commandOf('n', ctrl), commandOf('k', ctrl), commandOf('/', ctrl), commandOf('/'), commandOf('=', ctrl), commandOf('Tab', ctrl), commandOf('Tab', { ...ctrl, shiftKey: true }), commandOf('3', ctrl), commandOf('F3')]).toEqual(['new', 'palette', 'help', 'search', 'zoomIn', 'nextSession', 'previousSession', 'session3', 'findNext']);
    expect([commandOf('n'), commandOf('I', { ...ctrl, shiftKey: true }), commandOf('b', { ...ctrl, altKey: true }), commandOf('n', { ...ctrl, isComposing: true })]).toEqual([null, null, null, null]);
  });

  it.each([['/', {}], ['?', {}], ['z', ctrl]])('leave %s to a focused text field', async (key, more) => {
    const { app } = await startedApp();
    const event = press(key, more);
    Object.defineProperty(event, 'target', { value: document.createElement('textarea') });
    expect(app.keymap.commandOf(event)).toBeNull();
  });

  it('are saved, and shown everywhere', async () => {
    const { app, backend } = await startedApp();
    await app.keymap.assign('new', 'Ctrl+Shift+M');
    expect(backend.program.valueOf('keys.shortcuts')).toBe('["new=Ctrl+Shift+M"]');
    expect([app.keymap.commandOf(press('n', ctrl)), app.keymap.commandOf(press('M', { ...ctrl, shiftKey: true })), app.keymap.label('New', 'new'), app.keymap.isChanged('new')]).toEqual([null, 'new', 'New (Ctrl+Shift+M)', true]);
    await app.keymap.assign('fork', 'Ctrl+Shift+M'); // "new" has none now
    expect([app.keymap.keys('new'), app.keymap.keys('fork'), app.keymap.label('New', 'new')]).toEqual(['', 'Ctrl+Shift+M', 'New']);
    await app.keymap.assign('inspector', 'Ctrl+N');
    await app.keymap.reset('new');
    expect([app.keymap.commandOf(press('n', ctrl)), app.keymap.keys('inspector')]).toEqual(['new', '']);
    await app.keymap.resetAll();
    expect([backend.program.valueOf('keys.shortcuts'), app.keymap.keys('inspector'), app.keymap.keys('fork')]).toEqual(['[]', 'Ctrl+I', '']);
  });

  it('follow the configuration, and ignore unknown commands', async () => {
    const { app } = await startedApp();
    app.keymap.adopt(['new=Ctrl+U', 'gone=Ctrl+P', 'rename=F5', 'stop=Ctrl+S', 'broken']);
    expect([app.keymap.keys('new'), app.keymap.keys('print'), app.keymap.keys('rename'), app.keymap.keys('stop')]).toEqual(['Ctrl+U', 'Ctrl+P', 'F2', 'Esc']);
  });

  it('apply to a command whose name changed since they were saved', async () => {
    const { app } = await startedApp();
    app.keymap.adopt(['eraseSession=Ctrl+Shift+D']);
    expect([app.keymap.keys('deleteSession'), app.keymap.ownerOf('Ctrl+Shift+D'), app.keymap.commandOf(press('D', { ...ctrl, shiftKey: true }))]).toEqual(['Ctrl+Shift+D', 'deleteSession', 'deleteSession']);
  });

  it('are unchanged if the program rejects the change', async () => {
    const { app, backend } = await startedApp();
    backend.failNext('settings.set', { code: 'invalid' });
    await app.keymap.assign('new', 'Ctrl+U');
    expect(app.keymap.keys('new')).toBe('Ctrl+N');
  });

  it.each([['Ctrl+C', /Editing text/], ['Ctrl+Z', /Editing text/], ['F2', /Rename the session in the list/], ['Ctrl+3', /First to ninth/], ['Enter', /Send/], ['Ctrl+Delete', /needed to navigate/], ['Shift+M', /Hold Ctrl or Alt/], ['M', /Hold Ctrl or Alt/]])('%s cannot be assigned', (chord, why) => expect(refusalOf('new', chord)).toMatch(why));
  it.each(['Ctrl+U', 'Alt+M', 'F8', 'Ctrl+Alt+Shift+Ü', 'Ctrl++'])('%s can be assigned', (chord) => expect(refusalOf('new', chord)).toBe(''));
  it('resets a command to its default keys', () => expect([refusalOf('undo', 'Ctrl+Z'), refusalOf('help', '?')]).toEqual(['', '']));
});

describe('the page of shortcuts', () => {
  it('records pressed keys, asks before taking them from another command, and resets them', async () => {
    const { app } = await startedApp();
    mountIn(app, ShortcutsPage, {});
    const user = userEvent.setup();
    const field = (id: Parameters<typeof entryOf>[0]) => screen.getByRole('button', { name: new RegExp(`^(Shortcuts? for|Press the new shortcut for) ${entryOf(id).title.replace(/[()?]/g, '\\$&')}[:,]`) });
    await user.click(field('inspector'));
    expect(field('inspector')).toHaveTextContent('Press the new shortcut…');
    await user.keyboard('{Control>}c{/Control}');
    expect(screen.getByText(/Ctrl\+C is used for something/)).toBeVisible();
    await user.keyboard('{Control>}n{/Control}');
    expect(screen.getByText(/Ctrl\+N is used by “New session”/)).toBeVisible();
    expect(app.keymap.keys('inspector')).toBe('Ctrl+I');
    await user.click(screen.getByRole('button', { name: 'Use it here' }));
    expect([app.keymap.keys('inspector'), app.keymap.keys('new')]).toEqual(['Ctrl+N', '']);
    expect(field('new')).toHaveTextContent('No shortcut');
    await user.click(screen.getByRole('button', { name: /^Reset the shortcut for New session/ }));
    expect([app.keymap.keys('inspector'), app.keymap.keys('new')]).toEqual(['', 'Ctrl+N']);
    await user.click(field('print'));
    await user.keyboard('{Escape}');
    expect(field('print')).toHaveTextContent('CtrlP');
    await user.click(screen.getByRole('button', { name: 'Reset all shortcuts' }));
    expect(app.keymap.changed).toBe(false);
  });
});
