import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block } from '$lib/backend/fake/shapes';
import { mountIn, startedApp } from '../../test/mount';
import Composer from '../composer/Composer.svelte';
import Chat from '../shell/Chat.svelte';
import TemporaryComposer from '../temporary/TemporaryComposer.svelte';
import UserMessage from '../transcript/UserMessage.svelte';

async function composer() {
  const started = await startedApp({ pace: { prepareMs: 5, frameMs: 5, chars: 400, commitMs: 5 } });
  mountIn(started.app, Composer, {});
  return { ...started, field: screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement, user: userEvent.setup() };
}

function drop(...files: File[]): Event {
  const event = new Event('drop', { bubbles: true, cancelable: true });
  Object.assign(event, { dataTransfer: { types: ['Files'], files } });
  document.dispatchEvent(event);
  return event;
}

const notes = (text = '# Notes') => new File([text], 'notes.md', { type: 'text/markdown' });
const chips = () => screen.findByRole('list', { name: 'Sent with the message' });

describe('documents in the composer', () => {
  it('attaches a dropped file, sends it, and shows it on the turn', async () => {
    const { app, backend, field, user } = await composer();
    expect(drop(notes()).defaultPrevented).toBe(true);
    await waitFor(async () => expect(await chips()).toHaveTextContent(/notes\.md\s*2 tokens/));
    await user.type(field, 'What is it?{Enter}');
    await waitFor(() => expect(field.value).toBe(''));
    expect(backend.store.lineage(app.conversation.branchId)[0]!.user[0]).toMatchObject({ kind: 'document', name: 'notes.md', tokens: 2, whole: true });
    expect(screen.queryByRole('list', { name: 'Sent with the message' })).toBeNull();
  });

  it('is a message even without text, and not a command', async () => {
    const { app, backend, field, user } = await composer();
    drop(notes());
    await chips();
    await user.type(field, '/commit');
    expect(app.composer.isCommand).toBe(false);
    await user.clear(field);
    await waitFor(() => expect(screen.getByRole('button', { name: 'Send (Enter)' })).toBeEnabled());
    await user.type(field, '{Enter}');
    await waitFor(() => expect(backend.store.lineage(app.conversation.branchId)).toHaveLength(1));
  });

  it('keeps documents in the draft of their branch, and removes them', async () => {
    const { app, backend, user } = await composer();
    drop(notes());
    await screen.findByRole('button', { name: 'Remove notes.md' });
    await app.draft.flush();
    expect((await backend.sessions.draft(app.draft.branchId)).files).toMatchObject([{ name: 'notes.md' }]);
    await user.click(screen.getByRole('button', { name: 'Remove notes.md' }));
    expect(app.draft.files).toEqual([]);
  });

  it('sends nothing while a document is still being attached, which can be cancelled', async () => {
    const { app, backend, field, user } = await composer();
    const release = backend.hold('chat.attach');
    drop(notes());
    await user.type(field, 'Wait for it{Enter}');
    expect(screen.getByRole('button', { name: 'Send (Enter)' })).toBeDisabled();
    expect(backend.calls.some((call) => call.name === 'chat.send')).toBe(false);
    await user.click(screen.getByRole('button', { name: 'Stop attaching notes.md' }));
    release();
    await waitFor(() => expect(screen.getByRole('button', { name: 'Send (Enter)' })).toBeEnabled());
    expect(app.draft.files).toEqual([]);
  });

  it('adds a document that arrives late to the draft where it was attached', async () => {
    const { app, backend } = await composer();
    const firstBranch = app.draft.branchId;
    const other = backend.store.addSession('Other');
    const release = backend.hold('chat.attach');
    drop(notes());
    await app.navigation.openSession(other.row.id);
    release();
    await waitFor(async () => expect((await backend.sessions.draft(firstBranch)).files).toHaveLength(1));
    expect(app.draft.files).toEqual([]);
  });

  it('explains beside the field why a file cannot be attached, until the message is dismissed', async () => {
    const { app, user } = await composer();
    drop(new File(['a\0b'], 'photo.raw'));
    expect(await screen.findByRole('alert')).toHaveTextContent(/photo\.raw is not a text file; nothing was attached\..*Text, Markdown/s);
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByRole('alert')).toBeNull();
    const huge = new File(['x'], 'disk.img');
    Object.defineProperty(huge, 'size', { value: 201 * 1024 * 1024 });
    expect(await app.documents.attach(huge)).toBe(false);
    expect(app.documents.error?.message).toContain('disk.img is 201 MB');
    expect(await app.documents.attach(new File([], 'empty.txt'))).toBe(false);
    expect(app.documents.error?.message).toContain('empty.txt is empty');
  });

  it('sends a large file in parts', async () => {
    const { app, backend } = await composer();
    const size = 7 * 1024 * 1024;
    expect(await app.documents.attach(notes('a'.repeat(size)))).toBe(true);
    const parts = backend.calls.filter((call) => call.name === 'chat.attach').map((call) => call.args[0] as { upload: string; last: boolean });
    expect(parts.map((part) => part.last)).toEqual([false, false, true]);
    expect([parts[0]!.upload, parts[1]!.upload]).toEqual(['', parts[2]!.upload]);
    expect((await backend.chat.document(app.draft.files[0]!.id)).text).toHaveLength(size);
  });
});

describe('a long paste', () => {
  const essay = 'A sentence of an essay. '.repeat(300);

  async function pasted(text: string) {
    const started = await composer();
    started.field.focus();
    await fireEvent.paste(started.field, { clipboardData: { files: [], getData: () => text } });
    if (!started.app.draft.longTexts.includes(text)) started.app.draft.typed = text;
    return started;
  }

  it('is offered as a document, without taking the focus or the text', async () => {
    const { app, backend, field, user } = await pasted(essay);
    const attachButton = await screen.findByRole('button', { name: 'Attach as document' });
    expect(field).toHaveFocus();
    expect(app.draft.typed).toBe(essay);
    await user.click(attachButton);
    await waitFor(() => expect(app.draft.files).toMatchObject([{ name: 'Pasted text.txt' }]));
    await waitFor(() => expect(app.draft.text).toBe(''));
    expect((await backend.chat.document(app.draft.files[0]!.id)).text).toBe(essay);
  });

  it('stays in the message if the user prefers, and if it cannot be attached', async () => {
    const { app, backend, user } = await pasted(essay);
    backend.failNext('chat.attach', { message: 'The disk is full' });
    await user.click(await screen.findByRole('button', { name: 'Attach as document' }));
    await waitFor(() => expect(app.draft.text).toBe(essay));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    app.documents.offer(essay);
    await user.click(await screen.findByRole('button', { name: 'Keep as text' }));
    expect(screen.queryByRole('button', { name: 'Attach as document' })).toBeNull();
    expect(app.draft.text).toBe(essay);
  });

  it.each([[true], [false]])('stays in its draft until it is attached, also if another session is opened meanwhile (attached: %s)', async (attached) => {
    const { app, backend, user } = await pasted(essay);
    const { branchId } = app.draft;
    const image = { mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'chart.png' };
    app.draft.images = [image];
    const release = backend.hold('chat.attach');
    if (!attached) backend.failNext('chat.attach', { message: 'The disk is full' });
    await user.click(await screen.findByRole('button', { name: 'Attach as document' }));
    expect(app.draft.text).toBe(essay);
    await app.navigation.newSessionIn('Other');
    await waitFor(() => expect(app.draft.text).toBe(''));
    release();
    await waitFor(async () => expect((await backend.sessions.draft(branchId)).text).toBe(attached ? '' : essay));
    await waitFor(async () => expect((await backend.sessions.draft(branchId)).files).toHaveLength(attached ? 1 : 0));
    expect((await backend.sessions.draft(branchId)).images).toEqual([image]); // an empty text deletes no attachments
    expect(app.draft.text).toBe('');
  });

  it('is also offered for a very long text, which is shown beside the field, until that text is removed', async () => {
    const book = 'word '.repeat(20_000);
    const { app } = await pasted(book);
    expect(await screen.findByRole('button', { name: 'Attach as document' })).toBeVisible();
    app.draft.removeLongText(0);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Attach as document' })).toBeNull());
  });

  it('is not offered for a short one', async () => {
    await pasted('A few words.');
    expect(screen.queryByRole('button', { name: 'Attach as document' })).toBeNull();
  });
});

describe('documents of a turn', () => {
  it('open for reading, and close', async () => {
    const { app, backend } = await startedApp();
    await app.documents.attach(notes('The harbour opens at seven.'));
    const file = app.draft.files[0]!;
    const user = userEvent.setup();
    mountIn(app, Chat, {});
    await user.click(within(await chips()).getByRole('button', { name: /^Read the document notes\.md/ }));
    const dialog = await screen.findByRole('dialog', { name: 'notes.md' });
    expect(await within(dialog).findByText('The harbour opens at seven.')).toBeVisible();
    await user.click(within(dialog).getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('dialog')).toBeNull();
    backend.failNext('chat.document', { message: 'That document cannot be read', hint: 'Run verify.' });
    app.documents.read({ id: file.id, name: file.name });
    expect(await screen.findByRole('alert')).toHaveTextContent(/That document cannot be read.*Run verify/s);
  });

  it('are shown above the text, and say when the message contains only a part', async () => {
    const { app } = await startedApp();
    mountIn(app, UserMessage, { blocks: [block('document', '', { id: 'f', name: 'book.pdf', tokens: 90_000 }), block('text', 'Who did it?')] });
    expect(screen.getByRole('list', { name: 'Attached documents' })).toHaveTextContent(/book\.pdf\s*90.000 tokens, in part/);
    expect(screen.getByText('Who did it?')).toBeVisible();
  });

  it('cannot be attached to a temporary chat, which saves nothing', async () => {
    const { app } = await startedApp();
    await app.temporary.start('sonnet');
    mountIn(app, TemporaryComposer, {});
    expect(screen.queryByRole('button', { name: 'Attach files' })).toBeNull();
    drop(notes());
    await waitFor(() => expect(app.toasts.list[0]?.text).toContain('notes.md is not a picture'));
  });
});
