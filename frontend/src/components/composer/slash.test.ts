import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { App } from '$lib/state/app.svelte';
import { errorView } from '$lib/backend/fake/shapes';
import { mountIn, startedApp } from '../../test/mount';
import Composer from './Composer.svelte';
import { listKey } from './keys';

async function composer() {
  const started = await startedApp({ data: 'rich', pace: { prepareMs: 5, frameMs: 5, chars: 400, commitMs: 60_000 } });
  const { app, backend } = started;
  await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id);
  mountIn(app, Composer, {});
  const calls = (name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...started, calls, field: screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement, user: userEvent.setup() };
}

describe('slash commands', () => {
  it('are listed and selected with the keyboard, and the field announces the active row', async () => {
    const { app, field, user } = await composer();
    await user.type(field, '/co');
    expect(screen.getByRole('listbox', { name: 'Commands' })).toBeVisible();
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('/commit');
    await user.keyboard('{ArrowDown}{ArrowDown}');
    const chosen = screen.getByRole('option', { selected: true });
    expect([chosen.textContent, field.getAttribute('aria-activedescendant')]).toEqual([expect.stringContaining('/context'), chosen.id]);
    await user.keyboard('{Enter}');
    await waitFor(() => expect([app.inspector.tab, app.inspector.xrayTurnId, field.value]).toEqual(['xray', '', '']));
  });

  it('Enter after a slash alone does nothing, and archiving needs the whole name', async () => {
    const { app, field, user, calls } = await composer();
    await user.type(field, '/{Enter}');
    expect(screen.queryByRole('option', { selected: true })).toBeNull();
    expect(field.value).toBe('/');
    await user.type(field, 'a{Enter}');
    expect([field.value, calls('sessions.archive'), calls('chat.send'), app.conversation.session?.archived]).toEqual(['/archive', [], [], false]);
    await user.clear(field);
    await user.type(field, '/{ArrowUp}');
    expect(screen.getAllByRole('option').at(-1)).toHaveAttribute('aria-selected', 'true');
  });

  it('Enter runs a command and Ctrl+Enter sends, if so chosen', async () => {
    const { app, backend, field, user, calls } = await composer();
    await backend.settings.set('ui.send_key', 'Ctrl+Enter');
    await waitFor(() => expect(app.keymap.sendKey).toBe('Ctrl+Enter'));
    expect(screen.getByRole('button', { name: 'Send (Ctrl+Enter)' })).toBeInTheDocument();
    await user.type(field, 'one{Enter}two');
    expect(field.value).toBe('one\ntwo');
    await user.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(calls('chat.send')).toHaveLength(1));
    await user.type(field, '/pin Never on a Friday.{Enter}');
    await waitFor(() => expect(calls('inspect.addPin')).toHaveLength(1));
  });

  it('Esc only closes the list, Tab only completes the name', async () => {
    const { field, user, calls } = await composer();
    await user.type(field, '/pi');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    await user.type(field, 'n');
    await user.keyboard('{Tab}');
    expect([field.value, calls('inspect.addPin').length]).toEqual(['/pin ', 0]);
  });

  it('pins, and keeps the text when that fails', async () => {
    const { backend, field, user, calls } = await composer();
    backend.failNext('inspect.addPin', errorView('The disk is full', 'Free some space.'));
    await user.type(field, '/pin Never on a Friday.{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    expect(field.value).toBe('/pin Never on a Friday.');
    await user.type(field, '{Enter}');
    await waitFor(() => expect(field.value).toBe(''));
    expect(calls('inspect.addPin').at(-1)?.[1]).toBe('Never on a Friday.');
    expect(calls('chat.send')).toEqual([]);
  });

  it('a message sent while a command runs is sent after it', async () => {
    const { backend, field, user, calls } = await composer();
    const release = backend.hold('inspect.addPin');
    await user.type(field, '/pin Never on a Friday.{Enter}');
    await waitFor(() => expect(calls('inspect.addPin')).toHaveLength(1));
    await user.type(field, '{Enter}');
    await user.type(field, ' And now?{Enter}');
    release();
    await waitFor(() => expect(calls('chat.send')).toHaveLength(1));
    expect(calls('chat.send')[0]![0]).toMatchObject({ text: 'And now?' });
    expect([calls('inspect.addPin').length, field.value]).toEqual([1, '']);
  });

  it('forks with a label, and clears the command', async () => {
    const { app, backend, field, user } = await composer();
    const before = app.conversation.branchId;
    await user.type(field, '/fork second try{Enter}');
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('second try'));
    await waitFor(() => expect(backend.store.branch(before).draft.text).toBe(''));
    expect(field.value).toBe('');
  });

  it.each([['/rollback #146', '01KAD3T9K4T146'], ['/rollback', '01KAD3T9K4T147']])('%s goes back to a state', async (typed, state) => {
    const { app, field, user, calls } = await composer();
    await user.type(field, `${typed}{Enter}`);
    await waitFor(() => expect(calls('sessions.rollback')).toEqual([[app.conversation.sessionId, state]]));
  });

  it('searches the memory, and sends nothing', async () => {
    const { app, field, user, calls } = await composer();
    await user.type(field, '/recall what did we promise?{Enter}');
    await waitFor(() => expect(app.inspector.tab).toBe('memory'));
    expect(app.memory.query).toBe('what did we promise?');
    await waitFor(() => expect(field.value).toBe(''));
    expect(calls('chat.send')).toEqual([]);
  });

  it.each([['/commit', 'inspect.commitNow', []], ['/summarize', 'inspect.summarize', [false]]])('%s works', async (typed, name, more) => {
    const { app, field, user, calls } = await composer();
    const branch = app.conversation.branchId;
    await user.type(field, `${typed}{Enter}`);
    await waitFor(() => expect(calls(name)).toEqual([[branch, ...more]]));
    await waitFor(() => expect(field.value).toBe(''));
  });

  it('opens the session’s settings', async () => {
    const { app, field, user } = await composer();
    await user.type(field, '/settings{Enter}');
    await waitFor(() => expect(app.sessionSettings.open).toBe(true));
  });

  it('previews the effects of another model before the switch', async () => {
    const { app, field, user, calls } = await composer();
    await user.type(field, '/model local{Enter}');
    await waitFor(() => expect(app.modelSwitch.preview?.model).toBe('local'));
    expect(calls('chat.setModel')).toEqual([]);
    await user.type(field, '/model gpt{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('gpt cannot be used: There is no key for openai');
  });

  it('asks before sending an unknown command as text', async () => {
    const { field, user, calls } = await composer();
    await user.type(field, '/nope x{Enter}');
    expect(screen.getByRole('status')).toHaveTextContent('There is no command /nope');
    expect(calls('chat.send')).toEqual([]);
    await user.keyboard('{Enter}');
    await waitFor(() => expect(calls('chat.send')).toMatchObject([[{ text: '/nope x' }]]));
  });

  it('hides the hint when the text changes', async () => {
    const { field, user, calls } = await composer();
    await user.type(field, '/nope{Enter}y');
    expect(screen.queryByRole('status')).toBeNull();
    await user.keyboard('{Enter}');
    expect([screen.getByRole('status').textContent, calls('chat.send').length]).toEqual([expect.stringContaining('/nopey'), 0]);
  });

  it('says what is missing', async () => {
    const { field, user } = await composer();
    await user.type(field, '/pin {Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('/pin needs some text after it');
  });

  it('sends a doubled slash as a single one', async () => {
    const { field, user, calls } = await composer();
    await user.type(field, '//pin is a command{Enter}');
    await waitFor(() => expect(calls('chat.send')).toMatchObject([[{ text: '/pin is a command' }]]));
  });
});

describe('keys of the list', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, keyCode: 0, ...more });
  it.each([
    ['Enter runs the selected command', press('Enter'), 3, '/pi', 'run'], ['Enter runs a complete command', press('Enter'), 1, '/commit', null], ['Enter switches to the selected model', press('Enter'), 1, '/model so', 'run'],
    ['Enter while composing belongs to the input method', press('Enter', { isComposing: true }), 3, '/pi', null], ['Shift+Tab leaves the field', press('Tab', { shiftKey: true }), 3, '/pi', null], ['nothing without a list', press('Enter'), 0, 'x', null],
  ])('%s', (_, event, count, typed, action) => expect(listKey(event, { count, typed })).toBe(action));
});

describe('commands that open something else', () => {
  it.each([
    ['/search what we promised', (app: App) => [app.layout.searching, app.search.text], [true, 'what we promised']],
    ['/find lag', (app: App) => [app.find.open, app.find.text], [true, 'lag']],
    ['/help', (app: App) => app.palette.open, 'keys'],
    ['/compare throttled-backfill', (app: App) => app.branches.fullView?.kind, 'compare'],
    ['/compare', (app: App) => app.branches.asking?.kind, 'compare'],
    ['/rename Cutover', (app: App) => app.sessions.find(app.conversation.sessionId)?.title, 'Cutover'],
    ['/rename', (app: App) => app.branches.asking?.kind, 'session'],
  ])('%s', async (typed, actual, expected) => {
    const { app, field, user, calls } = await composer();
    await user.type(field, `${typed}{Enter}`);
    await waitFor(() => expect(actual(app)).toEqual(expected));
    await waitFor(() => expect(field.value).toBe(''));
    expect(calls('chat.send')).toEqual([]);
  });

  it('/archive archives the session, and can be undone', async () => {
    const { app, backend, field, user } = await composer();
    const id = app.conversation.sessionId;
    await user.type(field, '/archive{Enter}');
    await waitFor(() => expect([backend.store.session(id).row.archived, app.conversation.sessionId === id]).toEqual([true, false]));
    await app.commands.run('undo');
    expect(backend.store.session(id).row.archived).toBe(false);
  });

  it('/compare lists the branches', async () => {
    const { field, user } = await composer();
    await user.type(field, '/compare nobody{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('There is no other branch “nobody”');
  });
});
