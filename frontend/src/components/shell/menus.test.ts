import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import Tooltip from '$shared/Tooltip.svelte';
import { mountIn, startedApp } from '../../test/mount';
import { mountWith } from '$shared/testing/harness';
import SessionLine from '../sessions/SessionLine.svelte';
import BranchList from '../branches/BranchList.svelte';
import ChooseBranch from '../branches/ChooseBranch.svelte';
import MenuList from '$shared/MenuList.svelte';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import Shell from './Shell.svelte';
import CloseWindow from './CloseWindow.svelte';
import ContextMenu from './ContextMenu.svelte';
import { keepFocus } from './focus';
import { onWindowKey } from './keys';

const lines = () => screen.queryAllByRole('menuitem').map((line) => line.textContent?.trim());

afterEach(() => vi.useRealTimers());

describe('the context menu', () => {
  it('opens the actions of a turn, and of a link in it', async () => {
    const { app } = await startedApp({ data: 'rich' });
    const turn = app.conversation.newest!;
    const article = document.createElement('article');
    article.dataset['turn'] = turn.id;
    article.innerHTML = '<p>Words and <a href="https://example.com/x">a link</a></p>';
    document.body.append(article);
    mountIn(app, ContextMenu, {});
    expect(await fireEvent.contextMenu(article.querySelector('a')!, { clientX: 5, clientY: 6 })).toBe(false); // the system's menu is suppressed
    expect(lines()).toEqual(expect.arrayContaining(['Open link', 'Copy link address', 'Copy the message', 'Show the prompt', 'Edit and resend', 'Regenerate', 'Fork from here', 'Export this turn…', 'Delete this turn permanently…']));
    expect(lines().join()).not.toContain('Roll back'); // the conversation ends there already
    await userEvent.click(screen.getByRole('menuitem', { name: 'Show the prompt' }));
    expect([app.inspector.tab, app.inspector.xrayTurnId, lines()]).toEqual(['xray', turn.id, []]);
    article.remove();
  });

  it('rolls back to an earlier turn', async () => {
    const { app } = await startedApp({ data: 'rich' });
    const rollback = vi.spyOn(app.branches, 'rollback').mockResolvedValue(true);
    const turn = app.conversation.turns[0]!;
    const article = document.createElement('article');
    article.dataset['turn'] = turn.id;
    document.body.append(article);
    mountIn(app, ContextMenu, {});
    await fireEvent.contextMenu(article);
    await userEvent.click(screen.getByRole('menuitem', { name: `Roll back to #${turn.seq}` }));
    expect(rollback).toHaveBeenCalledWith(app.conversation.branchId, turn.id, turn.seq);
    article.remove();
  });

  it('searches for the selection', async () => {
    const { app } = await startedApp({ data: 'rich' });
    const text = document.createElement('p');
    text.textContent = 'the lag of the replica';
    document.body.append(text);
    getSelection()!.selectAllChildren(text);
    mountIn(app, ContextMenu, {});
    await fireEvent.contextMenu(text);
    await userEvent.click(screen.getByRole('menuitem', { name: 'Search for “the lag of the replica”' }));
    expect([app.search.text, app.layout.searching]).toEqual(['the lag of the replica', true]);
    text.remove();
  });

  it('leaves fields to the system, which has spelling suggestions', async () => {
    const { app } = await startedApp({ data: 'rich' });
    const field = document.createElement('textarea');
    document.body.append(field);
    mountIn(app, ContextMenu, {});
    expect(await fireEvent.contextMenu(field)).toBe(true);
    expect(lines()).toEqual([]);
    field.remove();
  });

  it('opens the menu of the row of a session, which Esc closes', async () => {
    const { app } = await startedApp({ data: 'rich' });
    const row = app.sessions.list[0]!;
    const ignore = () => undefined;
    mountIn(app, SessionLine, { row, open: false, reachable: true, renaming: false, onrename: ignore, onrenamed: ignore, onfocus: ignore, onchoose: ignore });
    const line = screen.getByRole('button', { name: new RegExp(`^${row.title}`) });
    await fireEvent.contextMenu(line);
    expect(lines().join()).toMatch(/Select.*Rename.*Export….*Archive.*Delete/);
    const outer = vi.fn();
    document.body.addEventListener('keydown', outer);
    await userEvent.keyboard('{End}');
    expect(screen.getByRole('menuitem', { name: /^Delete/ })).toHaveFocus();
    await userEvent.keyboard('{Escape}');
    expect(lines()).toEqual([]);
    expect(line).toHaveFocus();
    expect(outer).not.toHaveBeenCalled(); // the list around it has its own keys
    document.body.removeEventListener('keydown', outer);
  });
});

describe('a tooltip', () => {
  it('replaces that of the system, disappears on a press, and restores the title', async () => {
    vi.useFakeTimers();
    const { app } = await startedApp({ data: 'rich' });
    const button = document.createElement('button');
    button.title = 'What it does';
    document.body.append(button);
    mountIn(app, Tooltip, {});
    await fireEvent.pointerOver(button);
    expect(button).not.toHaveAttribute('title'); // otherwise the system would show its own tooltip
    await vi.advanceTimersByTimeAsync(600);
    expect(screen.getByRole('tooltip')).toHaveTextContent('What it does');
    button.title = 'What it did'; // its state changed under the pointer
    await vi.advanceTimersByTimeAsync(1);
    expect([button.hasAttribute('title'), screen.getByRole('tooltip').textContent]).toEqual([false, 'What it did']);
    button.title = 'What it does';
    await fireEvent.pointerDown(button);
    expect(screen.queryByRole('tooltip')).toBeNull();
    await fireEvent.pointerOver(document.body);
    expect(button).toHaveAttribute('title', 'What it does');
    button.setAttribute('aria-expanded', 'true'); // its menu is open, and no tooltip may cover it
    await fireEvent.pointerOver(button);
    await vi.advanceTimersByTimeAsync(600);
    expect(screen.queryByRole('tooltip')).toBeNull();
    button.remove();
  });

  it('disappears with its element, although the pointer does not move', async () => {
    vi.useFakeTimers();
    const { app } = await startedApp({ data: 'rich' });
    const container = document.createElement('div');
    const button = document.createElement('button');
    container.append(button);
    document.body.append(container);
    mountIn(app, Tooltip, {});
    const ways: [string, () => void, () => void][] = [
      ['hidden', () => (container.hidden = true), () => (container.hidden = false)],
      ['inert', () => container.setAttribute('inert', ''), () => container.removeAttribute('inert')],
      ['removed', () => button.remove(), () => undefined],
    ];
    for (const [name, hide, restore] of ways) {
      button.title = 'What it does';
      for (const [x, target] of [[1, document.body], [9, button]] as const) target.dispatchEvent(new MouseEvent('pointerover', { bubbles: true, clientX: x }));
      await vi.advanceTimersByTimeAsync(600);
      expect(screen.queryByRole('tooltip'), name).not.toBeNull();
      hide();
      await vi.advanceTimersByTimeAsync(0);
      expect(screen.queryByRole('tooltip'), name).toBeNull();
      restore();
    }
    container.remove();
  });

  it('is not shown without pointing: for elements below a pointer that does not move, or text that is shown in full', async () => {
    vi.useFakeTimers();
    const { app } = await startedApp({ data: 'rich' });
    const button = document.createElement('button');
    button.title = 'What it does';
    document.body.append(button);
    mountIn(app, Tooltip, {});
    const hover = (x: number, target: Element) => target.dispatchEvent(new MouseEvent('pointerover', { bubbles: true, clientX: x, clientY: 40 }));
    const shown = async () => (await vi.advanceTimersByTimeAsync(600), screen.queryByRole('tooltip') !== null);
    hover(40, document.body);
    hover(40, button); // a dialog above it closed
    expect(await shown()).toBe(false);
    hover(80, document.body);
    hover(41, button);
    expect(await shown()).toBe(true);
    hover(80, document.body);
    button.textContent = 'What it does';
    hover(41, button);
    expect(await shown()).toBe(false);
    button.remove();
  });
});

describe('Esc', () => {
  // WebKit's search field consumes Esc, so the dialog gets no cancel event; jsdom has none either.
  it('closes a dialog from its search field, and shortcuts do nothing below it', async () => {
    const onclose = vi.fn();
    const { app } = await mountWith(ChooseBranch, (started) => ({ left: started.conversation.branchId, onchoose: () => undefined, onclose }));
    const field = screen.getByRole('searchbox');
    field.focus();
    const open = app.conversation.sessionId;
    const press = new KeyboardEvent('keydown', { key: 'n', ctrlKey: true, bubbles: true, cancelable: true });
    onWindowKey(app, press);
    expect([press.defaultPrevented, app.conversation.sessionId]).toEqual([true, open]);
    await userEvent.keyboard('ab{Escape}');
    expect(field).toHaveValue('ab');
    expect(onclose).toHaveBeenCalledOnce();
  });
});

describe('Enter', () => {
  it('selects the only branch of a list, and of several none without a search', async () => {
    const onchoose = vi.fn();
    const { app } = await startedApp({ data: 'rich' });
    const [first, second] = app.conversation.branches;
    const single = mountIn(app, BranchList, { branches: [first!], current: '', onchoose });
    screen.getByRole('searchbox').focus();
    await userEvent.keyboard('{Enter}');
    expect(onchoose).toHaveBeenCalledWith(first!.id);
    single.unmount();
    const several = mountIn(app, BranchList, { branches: [first!, { ...(second ?? first!), id: 'other' }], current: '', onchoose });
    screen.getByRole('searchbox').focus();
    await userEvent.keyboard('{Enter}');
    expect(onchoose).toHaveBeenCalledOnce();
    several.unmount();
  });
});

describe('Esc in a field beside the conversation', () => {
  it.each([['input', 'search'], ['textarea', ''], ['input', 'number']])('leaves the %s %s, and only then stops the answer', async (tag, type) => {
    const { app } = await startedApp({ data: 'rich' });
    const stop = vi.spyOn(app.turnActions, 'stop').mockResolvedValue(undefined as never);
    vi.spyOn(app.conversation, 'running', 'get').mockReturnValue(true);
    const field = document.createElement(tag) as HTMLInputElement;
    if (type) field.type = type;
    document.body.append(field);
    const onKeyDown = (event: KeyboardEvent) => onWindowKey(app, event);
    addEventListener('keydown', onKeyDown);
    field.focus();
    const requestsBefore = app.composer.focusRequests;
    await userEvent.keyboard('{Escape}');
    expect([stop.mock.calls.length, document.activeElement === field, app.composer.focusRequests]).toEqual([0, false, requestsBefore + 1]);
    await userEvent.keyboard('{Escape}');
    expect(stop).toHaveBeenCalledOnce();
    removeEventListener('keydown', onKeyDown);
    field.remove();
  });
});

describe('a notice', () => {
  it('is shown in the topmost dialog, where it can be dismissed, and afterwards in the window', async () => {
    const onclose = vi.fn();
    const { app } = await startedApp({ data: 'rich' });
    const below = mountIn(app, CloseWindow, {});
    const above = mountIn(app, ChooseBranch, { left: app.conversation.branchId, onchoose: () => undefined, onclose });
    app.toasts.show('The backup was made');
    const shown = await screen.findAllByText('The backup was made');
    expect(shown).toHaveLength(1);
    expect(shown[0]!.closest('dialog')).toHaveAccessibleName(/^Compare/);
    above.unmount();
    expect((await screen.findByText('The backup was made')).closest('dialog')).toHaveAccessibleName('Quit while an answer is arriving?');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('The backup was made')).toBeNull();
    below.unmount();
    expect(app.toasts.modal).toBe('');
  });
});

describe('shortcuts in a menu', () => {
  it('use the key names of the language', async () => {
    const { app } = await startedApp({ data: 'rich' });
    await chooseLanguage('de', []);
    const menu = mountIn(app, MenuList, { items: [{ id: 'choose', label: 'Auswählen', keys: 'Ctrl+Space' }, { id: 'archive', label: 'Archivieren', keys: 'Delete' }], anchor: () => new DOMRect(), label: 'Sitzung', onselect: () => undefined, onclose: () => undefined });
    expect(document.body).toHaveTextContent('Strg+Leertaste');
    expect(document.body).toHaveTextContent('Entf');
    menu.unmount();
    await chooseLanguage('en', []);
  });
});

describe('a notice from before a dialog', () => {
  it('is not shown in the dialog, and again in the window afterwards', async () => {
    const { app } = await startedApp({ data: 'rich' });
    app.toasts.show('Memory: all your sessions');
    const dialog = mountIn(app, CloseWindow, {});
    expect(screen.queryByText('Memory: all your sessions')).toBeNull();
    expect(app.toasts.shown).toBeUndefined(); // in the window, below the dialog, it could not be reached
    dialog.unmount();
    expect(app.toasts.shown?.text).toBe('Memory: all your sessions');
  });
});

describe('typing outside of fields', () => {
  async function typing() {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Shell, {});
    const field = document.querySelector<HTMLTextAreaElement>('[data-message-field]')!;
    const type = (key: string, target: HTMLElement = document.body, more: KeyboardEventInit = {}) => {
      if (target === document.body) (document.activeElement as HTMLElement | null)?.blur();
      else target.focus();
      const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
      target.addEventListener('keydown', (dispatched) => onWindowKey(app, dispatched), { once: true });
      target.dispatchEvent(event);
      return { written: document.activeElement === field && !event.defaultPrevented };
    };
    return { app, field, type };
  }

  it('goes to the end of the message', async () => {
    const { field, type } = await typing();
    field.value = 'Half';
    for (const key of ['h', 'ß', '1', '!']) expect(type(key), key).toEqual({ written: true });
    expect(field.selectionStart).toBe(4);
    expect(type('@', document.body, { ctrlKey: true, altKey: true, modifierAltGraph: true })).toEqual({ written: true });
    const button = screen.getAllByRole('button')[0]!;
    expect(type('h', button)).toEqual({ written: true });
    const tree = document.createElement('div');
    tree.setAttribute('role', 'tree');
    tree.tabIndex = 0;
    document.body.append(tree);
    for (const target of [document.body, button, tree]) {
      expect(type('v', target, { ctrlKey: true }), 'Ctrl+V').toEqual({ written: true });
      expect(type('м', target, { code: 'KeyV', ctrlKey: true }), 'Ctrl+V of a Russian keyboard').toEqual({ written: true });
      expect(type('Insert', target, { shiftKey: true }), 'Shift+Insert').toEqual({ written: true });
    }
    tree.remove();
  });

  it('does not affect shortcuts, Space, keys with Ctrl, and other fields', async () => {
    const { app, type } = await typing();
    for (const [key, more] of [[' ', {}], ['x', { ctrlKey: true }], ['x', { altKey: true }], ['ArrowDown', {}], ['Shift', {}]] as const) expect(type(key, document.body, more), key).toEqual({ written: false });
    const menu = document.createElement('div');
    menu.setAttribute('role', 'menu');
    menu.tabIndex = 0;
    document.body.append(menu);
    expect(type('h', menu)).toEqual({ written: false });
    expect(type('v', menu, { ctrlKey: true })).toEqual({ written: false });
    menu.remove();
    expect(type('?')).toEqual({ written: false });
    expect(app.palette.open).toBe('keys');
    const dialog = mountIn(app, CloseWindow, {});
    expect(type('h')).toEqual({ written: false });
    dialog.unmount();
  });
});

describe('the focus', () => {
  it('goes to the message field when the focused element disappears or is disabled, unless a dialog is open or another one takes it', async () => {
    const { app } = await startedApp({ data: 'rich' });
    mountIn(app, Shell, {});
    const release = keepFocus(app);
    const field = document.querySelector<HTMLTextAreaElement>('[data-message-field]')!;
    const frames = () => new Promise((done) => setTimeout(done, 100));
    const button = () => {
      const added = document.body.appendChild(document.createElement('button'));
      added.focus();
      return added;
    };
    button().remove();
    await waitFor(() => expect(field).toHaveFocus());
    expect('untouched' in field.dataset, 'Ctrl+Z undoes the removal').toBe(true);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    expect('untouched' in field.dataset, 'Ctrl+Z undoes the typing').toBe(false);

    const other = button();
    const gone = button();
    gone.remove();
    other.focus();
    await frames();
    expect(other).toHaveFocus();
    other.remove();
    await waitFor(() => expect(field).toHaveFocus());

    const dialog = mountIn(app, CloseWindow, {});
    button().remove();
    await frames();
    expect(field).not.toHaveFocus();
    dialog.unmount();
    release();
  });
});

describe('closing during an answer', () => {
  it('asks when the program requests it, and replies once', async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    await app.dropping.handle({ kind: 'close', sessionId: '', files: [], x: -1, y: -1 });
    expect(app.closing.asked).toBe(true);
    mountIn(app, CloseWindow, {});
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    app.closing.answer(true); // the question is closed
    await waitFor(() => expect(backend.calls.filter(({ name }) => name === 'closeWindow').map(({ args }) => args)).toEqual([[false]]));
  });
});
