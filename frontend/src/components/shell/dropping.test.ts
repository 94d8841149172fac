import { screen, waitFor } from '@testing-library/svelte';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeOptions } from '$lib/backend/fake';
import type { App } from '$lib/state/app.svelte';
import { hasDraggedTurn, setDraggedTurn, getDraggedTurn } from '$lib/turnDrag';
import { mountIn, startedApp } from '../../test/mount';
import Composer from '../composer/Composer.svelte';
import SessionsFoot from '../sessions/SessionsFoot.svelte';
import SessionLine from '../sessions/SessionLine.svelte';
import DropHint from '../transfer/DropHint.svelte';
import { guardPage } from './guards';

let unguard = () => {};
afterEach(() => unguard());

async function page(options: Partial<FakeOptions> = {}) {
  const started = await startedApp({ data: 'rich', ...options });
  unguard = guardPage(started.app);
  return started;
}

/** A stub of DataTransfer, which jsdom does not have. */
function transferWith(data: Record<string, string>, files: File[] = []) {
  const contents = new Map(Object.entries(data));
  return {
    get types() {
      return [...(files.length > 0 ? ['Files'] : []), ...contents.keys()];
    },
    files, items: [], dropEffect: 'uninitialized', effectAllowed: 'all',
    setData: (type: string, text: string) => void contents.set(type, text), getData: (type: string) => contents.get(type) ?? '',
  };
}

function drag(name: string, target: EventTarget, dataTransfer: ReturnType<typeof transferWith>): boolean {
  const event = Object.assign(new Event(name, { bubbles: true, cancelable: true }), { dataTransfer, relatedTarget: null });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}

const inspectFiles = async (app: App, paths: string[]) => app.backend.transfer.inspect(paths);
const requestWindow = async (backend: Awaited<ReturnType<typeof page>>['backend'], app: App, paths: string[], x = 300) => {
  backend.tasks.requestWindow({ kind: 'files', files: await inspectFiles(app, paths), x, y: 400 });
  await new Promise((resolve) => setTimeout(resolve));
};

describe('the page stays, whatever is dropped', () => {
  it.each([
    ['a file', transferWith({}, [new File(['x'], 'a.txt')])], ['a link', transferWith({ 'text/uri-list': 'https://example.com', 'text/plain': 'https://example.com' })],
    ['words', transferWith({ 'text/plain': 'some words' })], ['a picture of a page', transferWith({ 'text/html': '<img>', 'text/uri-list': 'https://example.com/a.png' })], ['nothing', transferWith({})],
  ])('%s', async (_, data) => {
    await page();
    expect([drag('dragenter', document.body, data), drag('dragover', document.body, data), drag('drop', document.body, data)]).toEqual([true, true, true]);
  });

  it('text is accepted by text fields only', async () => {
    const { app } = await page();
    mountIn(app, Composer, {});
    const field = screen.getByRole('textbox', { name: 'Your message' });
    const words = transferWith({ 'text/plain': 'some words' });
    expect([drag('dragenter', field, words), drag('dragover', field, words), drag('drop', field, words)]).toEqual([false, false, false]);
    expect(drag('drop', document.body, words)).toBe(true);
    expect(words.dropEffect).toBe('uninitialized');
  });

  it('a very long text is shown beside the field', async () => {
    const { app } = await page();
    mountIn(app, Composer, {});
    const book = 'word '.repeat(20_000);
    expect(drag('drop', screen.getByRole('textbox', { name: 'Your message' }), transferWith({ 'text/plain': book }))).toBe(true);
    expect([app.draft.typed, app.draft.longTexts]).toEqual(['', [book]]);
  });

  it('shows over the whole window what a drop will do, until the files leave', async () => {
    const { app } = await page();
    const files = transferWith({}, [new File(['x'], 'a.txt')]);
    drag('dragover', document.body, files);
    expect([app.dropping.hovering, files.dropEffect]).toEqual([true, 'copy']);
    mountIn(app, DropHint, {});
    expect(screen.getByText('Documents and pictures')).toBeInTheDocument();
    expect(screen.getByText('Exports and bundles')).toBeInTheDocument();
    drag('dragleave', document.body, files);
    drag('dragover', document.body, files);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(app.dropping.hovering).toBe(true); // it left an element, not the window
    drag('dragleave', document.body, files);
    await waitFor(() => expect(app.dropping.hovering).toBe(false));
  });
});

describe('files with their paths', () => {
  it('are attached to the message or imported, depending on their type', async () => {
    const { app, backend } = await page({ nativeDrops: true });
    await requestWindow(backend, app, ['/home/ada/notes.md', '/home/ada/cat.png', '/home/ada/conversations.json', '/home/ada/backup.db', '/home/ada/missing.pdf']);
    await waitFor(() => expect([app.draft.files.map((file) => file.name), app.draft.images.map((image) => image.name)]).toEqual([['notes.md'], ['cat.png']]));
    expect([app.importing.open, app.importing.files.map((file) => file.name)]).toEqual([true, ['conversations.json', 'backup.db', 'missing.pdf']]);
  });

  it('are not read again by the page', async () => {
    const { app, backend } = await page({ nativeDrops: true });
    mountIn(app, Composer, {});
    const drop = transferWith({}, [new File(['x'], 'a.txt'), new File(['x'], 'conversations.json')]);
    expect(drag('drop', document.body, drop)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([backend.calls.some((call) => call.name === 'chat.attach'), app.importing.open]).toEqual([false, false]);
  });

  it('are listed if no message is being written, and offered for it later', async () => {
    const { app, backend } = await page();
    app.layout.openSettings();
    await requestWindow(backend, app, ['/home/ada/notes.md']);
    expect([app.draft.files, app.importing.files.map((file) => file.name)]).toEqual([[], ['notes.md']]);
    app.layout.closeSettings();
    expect(app.dropping.accepts(app.importing.files[0]!)).toBe(true);
  });

  it('of a second start are listed, whatever they are', async () => {
    const { app, backend } = await page();
    await requestWindow(backend, app, ['/home/ada/notes.md', '/home/ada/a.cinf'], -1);
    expect([app.draft.files, app.importing.files.map((file) => file.name)]).toEqual([[], ['notes.md', 'a.cinf']]);
  });

  it('in a temporary chat: pictures are attached, nothing is saved', async () => {
    const { app, backend } = await page();
    await app.navigation.newTemporary();
    await requestWindow(backend, app, ['/home/ada/cat.png', '/home/ada/notes.md']);
    await waitFor(() => expect(app.temporary.draft.images.map((image) => image.name)).toEqual(['cat.png']));
    expect(app.importing.files.map((file) => file.name)).toEqual(['notes.md']);
  });

  it('show why they could not be attached, beside the message', async () => {
    const { app, backend } = await page();
    backend.failNext('transfer.attach', { message: 'notes.md cannot be opened', hint: 'Look whether you may read it.' });
    await requestWindow(backend, app, ['/home/ada/notes.md']);
    await waitFor(() => expect(app.documents.error?.message).toBe('notes.md cannot be opened'));
    expect(app.documents.uploads).toEqual([]);
  });
});

describe('files without their paths', () => {
  it('are attached directly; possible history is requested by path', async () => {
    const { app, backend } = await page();
    mountIn(app, Composer, {});
    drag('drop', document.body, transferWith({}, [new File(['some notes'], 'notes.txt', { type: 'text/plain' }), new File(['{}'], 'conversations.json'), new File(['PK'], 'Orders.cinf')]));
    await waitFor(() => expect(app.draft.files.map((file) => file.name)).toEqual(['notes.txt']));
    expect(backend.calls.filter((call) => call.name === 'chat.attach')).toHaveLength(1);
    expect([app.importing.open, app.importing.pathless]).toEqual([true, ['conversations.json', 'Orders.cinf']]);
  });
});

describe('a request from outside the window', () => {
  it('is handled: a new chat, a session', async () => {
    const { app, backend } = await page();
    const other = app.sessions.list.find((row) => row.id !== app.conversation.sessionId)!;
    backend.tasks.requestWindow({ kind: 'open_session', sessionId: other.id });
    await waitFor(() => expect(app.conversation.sessionId).toBe(other.id));
    backend.tasks.requestWindow({ kind: 'new_chat' });
    await waitFor(() => expect(app.conversation.session?.turns).toBe(0));
  });

  it('made before the page was ready is handled afterwards, also on the first start', async () => {
    const { app, backend } = await startedApp({ data: 'first' });
    backend.tasks.waiting = [{ kind: 'new_chat', sessionId: '', files: [], x: -1, y: -1 }, { kind: 'files', sessionId: '', files: await inspectFiles(app, ['/home/ada/a.cinf']), x: -1, y: -1 }];
    await app.dropping.begin();
    expect([app.importing.files.map((file) => file.name), app.conversation.sessionId, backend.tasks.waiting]).toEqual([['a.cinf'], '', []]);
  });
});

describe('dragging out of the window', () => {
  const line = (app: App) => {
    const row = app.sessions.list[0]!;
    const props = { row, open: false, reachable: true, renaming: false, onrename: () => undefined, onrenamed: () => undefined, onfocus: () => undefined, onchoose: () => undefined };
    mountIn(app, SessionLine, props);
    return { row, element: screen.getByRole('button', { name: new RegExp(`^${row.title}`) }) };
  };
  const drags = (backend: { calls: { name: string; args: unknown[] }[] }) => backend.calls.filter((call) => call.name === 'dragFile').map((call) => call.args[0]);
  /** jsdom has no pointer events. */
  const press = (element: Element, more = {}) => void element.dispatchEvent(Object.assign(new Event('pointerdown', { bubbles: true }), { button: 0, pointerType: 'mouse', ...more }));

  it('writes nothing before it starts, and then contains the whole file', async () => {
    const { app, backend } = await page();
    const { row, element } = line(app);
    press(element);
    expect(drags(backend)).toEqual([]);
    const data = transferWith({});
    drag('dragstart', element, data);
    expect(drags(backend)).toMatchObject([{ scope: 'session', sessionId: row.id, format: 'bundle', allBranches: true }]);
    expect(data.getData('text/uri-list')).toMatch(/^file:\/\/\/.*\.cinf$/);
    expect(JSON.parse(data.getData('application/x-contextinfinity-sessions'))).toEqual([row.id]);
  });

  it('works only within the window if the file cannot be written', async () => {
    const { app, backend } = await page();
    const { element } = line(app);
    backend.failNext('dragFile', { message: 'The disk is full' });
    const data = transferWith({});
    drag('dragstart', element, data);
    expect([data.getData('text/uri-list'), data.types.includes('application/x-contextinfinity-sessions'), app.toasts.list]).toEqual(['', true, []]);
  });

  it('creates no bundle of a turn, which would be a whole session', async () => {
    const { app, backend } = await page();
    const event = { dataTransfer: transferWith({}) } as unknown as DragEvent;
    app.dragOut.put(event, [{ scope: 'turn', sessionId: app.conversation.sessionId, branchId: app.conversation.branchId, turnId: app.conversation.newest!.id }]);
    expect(drags(backend)).toMatchObject([{ scope: 'turn', format: 'md' }]);
  });

  it('does nothing when dropped on the window it came from', async () => {
    const { app, backend } = await page({ nativeDrops: true });
    const what = [{ scope: 'session' as const, sessionId: app.sessions.list[0]!.id }];
    const data = transferWith({});
    app.dragOut.put({ dataTransfer: data } as unknown as DragEvent, what);
    await requestWindow(backend, app, [decodeURI(data.getData('text/uri-list').replace('file://', ''))]);
    expect([app.importing.open, app.draft.files]).toEqual([false, []]);
  });

  it('is still a turn within the window if the engine reports only files', async () => {
    const { app } = await page();
    const full = { dataTransfer: transferWith({}) } as unknown as DragEvent;
    setDraggedTurn(full, { turnId: 't1', seq: 4 }, '#4');
    const hidden = { dataTransfer: transferWith({}, [new File([], 'x.md')]) } as unknown as DragEvent;
    expect([hasDraggedTurn(hidden), getDraggedTurn(hidden)]).toEqual([true, { turnId: 't1', seq: 4 }]);
    drag('dragover', document.body, hidden.dataTransfer as unknown as ReturnType<typeof transferWith>);
    expect(app.dropping.hovering).toBe(false); // it is our own drag
    const addresses = { dataTransfer: transferWith({ 'text/uri-list': 'file:///x.md' }) } as unknown as DragEvent; // WebKitGTK
    expect([hasDraggedTurn(addresses), getDraggedTurn(addresses)]).toEqual([true, { turnId: 't1', seq: 4 }]);
    dispatchEvent(new Event('dragend'));
    expect([hasDraggedTurn(hidden), getDraggedTurn(hidden)]).toEqual([false, null]);
  });
});

describe('paused background work', () => {
  it('is shown below the list, also after the command', async () => {
    const { app } = await page();
    mountIn(app, SessionsFoot, {});
    await app.commands.run('pauseWork');
    expect(await screen.findByText('Paused')).toBeVisible();
    expect(app.toasts.list.at(-1)?.text).toBe('Background work is paused');
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(app.work.paused).toBe(false));
    expect(screen.queryByText('Paused')).toBeNull();
  });

  it('is no longer shown once it is resumed', async () => {
    const { app } = await page();
    await app.commands.run('pauseWork');
    await app.commands.run('pauseWork');
    expect(app.toasts.list.map((toast) => toast.text)).toEqual(['Background work resumed']);
  });
});
