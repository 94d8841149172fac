import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block, errorView } from '$lib/backend/fake/shapes';
import { program } from '$lib/i18n/program';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountIn, startedApp } from '../../test/mount';
import Composer from './Composer.svelte';
import { refusal } from './images';
import { composerKey } from './keys';
import { budgetText } from './labels';

const press = (more: Partial<KeyboardEvent>) => ({ key: 'Enter', shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, keyCode: 13, ...more });

describe('keys of the message field', () => {
  const field = { empty: false, editing: false };
  it.each([
    ['Enter sends', press({}), field, 'send'],
    ['Ctrl+Enter sends too', press({ ctrlKey: true }), field, 'send'],
    ['Shift+Enter breaks the line', press({ shiftKey: true }), field, null],
    ['Enter while composing belongs to the input method', press({ isComposing: true }), field, null],
    ['the Enter that ends a composition does so too', press({ keyCode: 229 }), field, null],
    ['Up in an empty field shows the previous message', press({ key: 'ArrowUp', keyCode: 38 }), { empty: true, editing: false }, 'older'],
    ['Up on an earlier message shows the one before it', press({ key: 'ArrowUp' }), { empty: false, editing: false, earlier: true }, 'older'],
    ['Down on an earlier message shows the one after it', press({ key: 'ArrowDown' }), { empty: false, editing: false, earlier: true }, 'newer'],
    ['Esc on an earlier message leaves the history', press({ key: 'Escape' }), { empty: false, editing: false, earlier: true }, 'leaveHistory'],
    ['Esc elsewhere is not handled by the field', press({ key: 'Escape' }), field, null],
    ['Down in a text moves the caret', press({ key: 'ArrowDown' }), field, null],
    ['Ctrl+Up in an empty field edits', press({ key: 'ArrowUp', ctrlKey: true }), { empty: true, editing: false }, 'editLast'],
    ['Up in a text moves the caret', press({ key: 'ArrowUp', keyCode: 38 }), field, null],
    ['Up while composing belongs to the input method', press({ key: 'ArrowUp', isComposing: true }), { empty: true, editing: false }, null],
    ['Up while editing moves the caret', press({ key: 'ArrowUp' }), { empty: true, editing: true }, null],
    ['letters are typed', press({ key: 'a' }), field, null],
    ['Enter breaks the line if Ctrl+Enter sends', press({}), { ...field, sendKey: 'Ctrl+Enter' as const }, null],
    ['Ctrl+Enter sends if so chosen', press({ ctrlKey: true }), { ...field, sendKey: 'Ctrl+Enter' as const }, 'send'],
  ])('%s', (_, event, state, action) => expect(composerKey(event, state)).toBe(action));
});

describe('texts of the composer', () => {
  it.each([
    [12, 14_088, 0, 50_000, '', false], [12, 1_188, 6_000, 50_000, '', false], [10, 48_990, 6_000, 50_000, '', false],
    [10, 14_090, 20, 50_000, '', false], [1_200, 49_000, 6_000, 50_000, 'over budget by 200', true], [3, 0, 0, 0, '', false],
  ])('%d tokens with %d and up to %d of memory, of %d', (tokens, context, memory, ceiling, label, isOver) => {
    expect(budgetText(tokens, context, memory, ceiling)).toMatchObject({ label, isOver });
  });

  it('the exact size of the next request is in the title', () => {
    expect(budgetText(12, 1_188, 6_000, 50_000).title).toMatch(/1.200 of at most 50.000 tokens, or up to 7.200 with the memory found/);
    expect(budgetText(12, 1_188, 0, 50_000).title).toMatch(/1.200 of at most 50.000/);
  });
  it('rejects files that cannot be sent, with the reason', () => {
    expect(refusal({ name: 'a.png', type: 'image/png', size: 10 })).toBe('');
    expect(refusal({ name: 'a.svg', type: 'image/svg+xml', size: 10 })).toContain('not a picture that can be sent');
    expect(refusal({ name: 'a.png', type: 'image/png', size: 6_000_000 })).toContain('larger than 5 MB');
    expect(refusal({ name: 'a.png', type: 'image/png', size: 0 })).toContain('empty');
  });
});

async function composer(options: Parameters<typeof startedApp>[0] = {}) {
  const started = await startedApp({ pace: { prepareMs: 5, frameMs: 5, chars: 400, commitMs: 5 }, ...options });
  mountIn(started.app, Composer, {});
  return { ...started, field: screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement, user: userEvent.setup() };
}

describe('the composer', () => {
  it('sends with Enter, breaks the line with Shift+Enter, and is empty afterwards', async () => {
    const { app, field, user, backend } = await composer();
    await user.type(field, 'One{Shift>}{Enter}{/Shift}two{Enter}');
    await waitFor(() => expect(field.value).toBe(''));
    expect(backend.store.lineage(app.conversation.branchId)[0]!.user[0]!.text).toBe('One\ntwo');
  });

  it('does not send an empty message', async () => {
    const { field, user, backend } = await composer();
    await user.type(field, '   {Enter}');
    expect(screen.getByRole('button', { name: /Send/ })).toBeDisabled();
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(false);
  });

  it('explains why attached memory alone cannot be sent, and sends it with a text', async () => {
    const { app, backend, field, user } = await composer();
    app.draft.memories = [{ id: 'c1', at: 1, role: 'user', speaker: '', document: '', title: 'a piece' }];
    const button = screen.getByRole('button', { name: /Send/ });
    expect(await screen.findByText('Add a message to go with the attached memory')).toBeVisible();
    expect(button).toBeDisabled();
    expect(button).toHaveAttribute('title', 'Add a message to go with the attached memory');
    await user.type(field, 'What of it?{Enter}');
    await waitFor(() => expect(backend.calls.find((call) => call.name === 'chat.send')?.args[0]).toMatchObject({ text: 'What of it?', memories: [{ id: 'c1' }] }));
  });

  it('sends a document without text', async () => {
    const { app, backend, user } = await composer();
    app.draft.files = [{ id: 'f1', name: 'notes.md', mediaType: 'text/markdown', tokens: 5 }];
    await user.click(screen.getByRole('button', { name: /Send/ }));
    await waitFor(() => expect(backend.calls.find((call) => call.name === 'chat.send')?.args[0]).toMatchObject({ text: '', files: [{ id: 'f1' }] }));
  });

  it('does not send while an input method composes', async () => {
    const { field, backend } = await composer();
    await fireEvent.input(field, { target: { value: '日本' } });
    await fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(false);
    await fireEvent.keyDown(field, { key: 'Enter' });
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(true);
  });

  it('says that the data is read-only, in place of the field', async () => {
    const { app, backend } = await composer();
    expect(screen.queryByText(/open read-only/)).toBeNull();
    backend.program.startup.readOnly = 'The disk is full, so the data is open read-only.';
    backend.program.startup = { ...backend.program.startup };
    await app.startup.load();
    expect(await screen.findByText('The disk is full, so the data is open read-only.')).toBeVisible();
    expect(screen.getByText(/Nothing is lost\. You can read, search and export.*restart the program\./)).toBeVisible();
  });

  it('keeps the text and shows an error when sending fails', async () => {
    const { field, user, backend } = await composer();
    backend.failNext('chat.send', { message: 'Over budget by 1 200 tokens', hint: 'Shorten it.' });
    await user.type(field, 'Words{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent(/Over budget by 1 200 tokens.*Shorten it\. Your text is still here\./s);
    expect(field).toHaveValue('Words');
  });

  it('edits the last message with Ctrl+Up, and cancels', async () => {
    const { app, backend, field, user } = await composer();
    backend.store.addTurn(app.conversation.branchId, { user: [block('text', 'First words')], state: 'head' });
    await app.navigation.openSession(app.conversation.sessionId);
    await user.click(field);
    await user.keyboard('{Control>}{ArrowUp}{/Control}');
    expect(field).toHaveValue('First words');
    expect(screen.getByRole('status')).toHaveTextContent('Editing #1');
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(field).toHaveValue('');
  });

  it('recalls earlier messages with Up and Down, and leaves them with Esc', async () => {
    const { app, backend, field, user } = await composer();
    for (const text of ['One', 'Two', 'Two', 'Three\nof lines']) backend.store.addTurn(app.conversation.branchId, { user: [block('text', text)], state: 'committed' });
    await app.navigation.openSession(app.conversation.sessionId);
    await user.click(field);
    const walk = async (keys: string, value: string) => {
      await user.keyboard(keys);
      await waitFor(() => expect(field).toHaveValue(value));
    };
    await walk('{ArrowUp}', 'Three\nof lines');
    expect(screen.getByRole('status')).toHaveTextContent('Your message #4');
    await walk('{ArrowUp}', 'Two');
    await walk('{ArrowUp}', 'One');
    await walk('{ArrowUp}', 'One'); // it was the first
    await walk('{ArrowDown}', 'Two');
    await walk('{ArrowDown}', 'Three\nof lines');
    await walk('{ArrowDown}', '');
    await walk('{ArrowUp}{Escape}', '');
    expect(app.history.shown).toBeNull();
  });

  it('treats a changed earlier message as a draft, and a draft never as an earlier message', async () => {
    const { app, backend, field, user } = await composer();
    for (const text of ['One', 'Two']) backend.store.addTurn(app.conversation.branchId, { user: [block('text', text)], state: 'committed' });
    await app.navigation.openSession(app.conversation.sessionId);
    await user.click(field);
    await user.keyboard('{ArrowUp}');
    await waitFor(() => expect(field).toHaveValue('Two'));
    await user.keyboard('!{ArrowUp}{ArrowDown}{Escape}');
    expect(field).toHaveValue('Two!');
    await app.draft.flush();
    expect(backend.store.branch(app.conversation.branchId).draft.text).toBe('Two!');
    expect(await app.history.older()).toBe(false);
    app.draft.typed = 'Mine';
    app.history.newer();
    app.history.leave();
    expect(app.draft.typed).toBe('Mine');
  });

  it('reorders attachments with the keyboard and by dragging', async () => {
    const { app, user } = await composer();
    const picture = (name: string) => ({ mediaType: 'image/png', data: 'iVBORw==', name });
    app.draft.images = [picture('a'), picture('b'), picture('c')];
    app.draft.files = [{ id: 'f1', name: 'one.md', mediaType: '', tokens: 1 }];
    const names = () => app.draft.images.map((image) => image.name).join('');
    const remove = (name: string) => screen.getByRole('button', { name: `Remove ${name}` });
    await waitFor(() => expect(remove('a')).toBeVisible());
    remove('a').focus();
    await user.keyboard('{Alt>}{ArrowRight}{/Alt}');
    expect(names()).toBe('bac');
    expect(remove('a')).toHaveFocus();
    expect(screen.getByText('Moved to position 2 of 3')).toBeInTheDocument();
    await user.keyboard('{Alt>}{ArrowRight}{ArrowRight}{/Alt}'); // it is the last one now
    expect(names()).toBe('bca');
    const data = new Map<string, string>();
    const dataTransfer = { get types() { return [...data.keys()]; }, setData: (type: string, text: string) => void data.set(type, text), getData: (type: string) => data.get(type) ?? '', effectAllowed: '', dropEffect: '' };
    const item = (name: string) => remove(name).closest('li')!;
    const drag = (kind: string, on: Element) => fireEvent(on, Object.assign(new Event(kind, { bubbles: true, cancelable: true }), { dataTransfer }));
    await drag('dragstart', item('a'));
    await drag('dragover', item('b'));
    await drag('drop', item('b'));
    expect(names()).toBe('abc');
    await drag('dragstart', item('a'));
    await drag('dragover', item('one.md')); // different kinds are not mixed
    await drag('drop', item('one.md'));
    expect(names()).toBe('abc');
    const notices = () => app.toasts.list.filter((toast) => toast.text.startsWith('Documents come first, then memories, pictures')).length;
    expect(notices()).toBe(1);
    app.toasts.dismiss(app.toasts.list.at(-1)!.id);
    remove('a').focus();
    await user.keyboard('{Alt>}{ArrowLeft}{/Alt}');
    expect([names(), notices()]).toEqual(['abc', 1]);
    app.draft.images = [];
    await waitFor(() => expect(item('one.md')).toHaveAttribute('draggable', 'false'));
  });

  it('first asks whether to keep or discard an incomplete answer', async () => {
    const { app, backend, field, user } = await composer();
    backend.store.addTurn(app.conversation.branchId, { state: 'incomplete', outcome: 'incomplete' });
    await app.navigation.openSession(app.conversation.sessionId);
    await user.type(field, 'Next{Enter}{Enter}');
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(false);
    // A second Enter, or continuing to type, must not decide: the focus stays in the field.
    expect(screen.getByRole('button', { name: 'Keep and send' })).toBeVisible();
    expect(field).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Discard and send' }));
    expect(backend.calls.find((call) => call.name === 'chat.send')?.args[0]).toMatchObject({ text: 'Next', incomplete: 'discard' });
  });

  it('attaches a pasted picture, and removes it', async () => {
    const { app, field, user } = await composer();
    const file = new File([new Uint8Array([137, 80, 78, 71])], 'dot.png', { type: 'image/png' });
    await fireEvent.paste(field, { clipboardData: { files: [file], getData: () => '' } });
    expect(await screen.findByRole('button', { name: 'Remove dot.png' })).toBeVisible();
    expect(app.draft.images).toEqual([{ mediaType: 'image/png', data: 'iVBORw==', name: 'dot.png' }]);
    await user.click(screen.getByRole('button', { name: 'Remove dot.png' }));
    expect(app.draft.images).toEqual([]);
  });

  it('attaches copied files that only the program can read, and withdraws the notice about an empty clipboard', async () => {
    const { app, backend, field } = await composer();
    const paste = () => fireEvent.paste(field, { clipboardData: { files: [], getData: () => '' } });
    const notices = () => app.toasts.list.map((toast) => toast.text);
    await paste();
    await waitFor(() => expect(notices()).toEqual(['The clipboard has no text, picture or file']));
    backend.files.copied = ['/home/ada/plan.md'];
    await paste();
    expect(await screen.findByRole('button', { name: 'Remove plan.md' })).toBeVisible();
    expect(notices()).toEqual([]);
  });

  it('shows a very long pasted text beside the field', async () => {
    const { app, field } = await composer();
    const book = 'word '.repeat(20_000);
    await fireEvent.paste(field, { clipboardData: { files: [], getData: () => book } });
    expect(screen.getByRole('list', { name: 'Sent with the message' })).toHaveTextContent('100');
    expect([field.value, app.draft.text]).toEqual(['', book]);
  });
});

describe('the queue above the message field', () => {
  /** A composer with an answer that is still arriving, and these queued messages. */
  async function queueing(...texts: string[]) {
    const started = await composer({ pace: { prepareMs: 5, frameMs: 60_000, chars: 1, commitMs: 5 } });
    for (const text of ['First', ...texts]) {
      await started.user.type(started.field, `${text}{Enter}`);
      await waitFor(() => expect(started.field.value).toBe(''));
    }
    await waitFor(() => expect(started.app.conversation.running).toBe(true));
    return started;
  }
  const rows = () => screen.queryAllByRole('listitem').map((row) => row.querySelector('.text')?.textContent);

  it('shows each message, and moves, deletes and edits it by keyboard', async () => {
    const { app, field, user } = await queueing('One', 'Two', 'Three');
    expect(rows()).toEqual(['One', 'Two', 'Three']);
    expect(screen.getByText('3 messages are queued. Each is sent when the answer before it is complete.')).toBeVisible();
    const up = () => screen.getAllByRole('button', { name: /^Move up/ });
    expect(up().map((button) => button.tabIndex)).toEqual([0, -1, -1]);
    up()[0]!.focus();
    await user.keyboard('{ArrowDown}{ArrowDown}');
    expect(up()[2]).toHaveFocus();
    await user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    await waitFor(() => expect(rows()).toEqual(['One', 'Three', 'Two']));
    await waitFor(() => expect(up()[1]).toHaveFocus());
    await user.keyboard('{Delete}');
    await waitFor(() => expect(rows()).toEqual(['One', 'Two']));
    await app.undo.undo();
    await waitFor(() => expect(rows()).toEqual(['One', 'Three', 'Two']));
    await user.click(screen.getAllByRole('button', { name: 'Edit the queued message' })[1]!);
    await waitFor(() => expect(field.value).toBe('Three'));
    expect(rows()).toEqual(['One', 'Two']);
    await user.clear(field);
    await user.keyboard('{Control>}{ArrowUp}{/Control}');
    await waitFor(() => expect(field.value).toBe('Two'));
  });

  it.each(['Delete', 'Enter'])('deletes only one message if a key is held down on its delete button: %s', async (key) => {
    const { backend, user } = await queueing('One', 'Two', 'Three');
    screen.getAllByRole('button', { name: /^Delete the queued message/ })[0]!.focus();
    await user.keyboard(`{${key}>}`);
    await waitFor(() => expect(rows()).toEqual(['Two', 'Three']));
    const next = screen.getAllByRole('button', { name: /^Delete the queued message/ })[0]!;
    await waitFor(() => expect(next).toHaveFocus());
    expect(await fireEvent.keyDown(next, { key, repeat: true }), 'a key whose default action is not prevented presses the button').toBe(false);
    expect(backend.calls.filter(({ name }) => name === 'chat.removeQueued')).toHaveLength(1);
  });

  it('deletes only one message on a double click on its delete button', async () => {
    const { backend, user } = await queueing('One', 'Two', 'Three');
    const deleteButton = () => screen.getAllByRole('button', { name: /^Delete the queued message/ })[0]!;
    await user.click(deleteButton());
    await waitFor(() => expect(rows()).toEqual(['Two', 'Three']));
    await fireEvent.click(deleteButton(), { detail: 2 }); // the next row is now under the pointer
    expect(backend.calls.filter(({ name }) => name === 'chat.removeQueued')).toHaveLength(1);
  });

  it('says why a message could not be moved or edited, also while another one was refused', async () => {
    const { app, backend, field, user } = await queueing('One', 'Two');
    Object.assign(backend.store.branch(app.conversation.branchId), { held: 'error', refused: errorView('The disk is full') });
    backend.store.changed('queue', app.conversation.branchId, app.conversation.sessionId);
    await screen.findByText(/The disk is full/);
    const notices = () => app.toasts.list.filter((toast) => toast.tone === 'danger').map((toast) => toast.text);
    const down = screen.getAllByRole('button', { name: /^Move down/ })[0]!;
    backend.failNext('chat.moveQueued', { message: 'The disk is full' });
    await user.click(down);
    await waitFor(() => expect(notices()).toEqual(['The disk is full']));
    expect(down).toHaveFocus();
    expect(screen.queryByText(/^Moved to/)).toBeNull();
    backend.failNext('chat.editQueued', { message: 'The disk is full' });
    const edit = screen.getAllByRole('button', { name: 'Edit the queued message' })[0]!;
    await user.click(edit);
    await waitFor(() => expect(notices()).toHaveLength(2));
    expect([document.activeElement, field.value, rows()]).toEqual([edit, '', ['One', 'Two']]);
    backend.failNext('chat.sendQueue', { message: 'The disk is full' });
    await user.click(screen.getByRole('button', { name: 'Send after this answer' }));
    await waitFor(() => expect(backend.calls.at(-1)?.name).toBe('chat.queue'));
    expect(notices()).toHaveLength(2); // this one is shown above the messages
  });

  it('says in the language of the window why a message was not sent', async () => {
    const { app, backend } = await queueing('One');
    await chooseLanguage('de');
    const [english, german] = ['There is no key to test.', program('There is no key to test.')];
    expect(german).not.toBe(english);
    Object.assign(backend.store.branch(app.conversation.branchId), { held: 'error', refused: errorView(english) });
    backend.store.changed('queue', app.conversation.branchId, app.conversation.sessionId);
    expect(await screen.findByText((text) => text.includes(german))).toBeVisible();
    await chooseLanguage('en');
  });

  it('says that a stopped answer holds the queue, and sends it on request', async () => {
    const { app, user, backend } = await queueing('One', 'Two');
    await waitFor(() => expect(app.conversation.newest?.live).toBe(true));
    backend.store.branch(app.conversation.branchId).held = 'stop';
    backend.store.changed('queue', app.conversation.branchId, app.conversation.sessionId);
    expect(await screen.findByText('2 queued messages were not sent, because you stopped the answer.')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Send after this answer' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Send after this answer' })).toBeNull());
    expect(backend.calls.filter((call) => call.name === 'chat.sendQueue')).toHaveLength(1);
  });
});
