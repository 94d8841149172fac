import { afterEach, describe, expect, it, vi } from 'vitest';
import { BackendError } from './errors';
import { wailsBackend } from './wails';

type Bridge = { go?: unknown; runtime?: unknown };
const bridge = window as unknown as Bridge;

afterEach(() => {
  delete bridge.go;
  delete bridge.runtime;
});

function serve(service: string, methods: Record<string, (...args: unknown[]) => Promise<unknown>>): void {
  bridge.go = { api: { [service]: methods } };
}

describe('the bridge to the program', () => {
  it('names the real window, and not a browser', () => {
    const WindowSetTitle = vi.fn();
    bridge.runtime = { WindowSetTitle };
    wailsBackend().nameWindow('A talk - ContextInfinity');
    expect(WindowSetTitle).not.toHaveBeenCalled();
    (window as unknown as { webkit?: unknown }).webkit = { messageHandlers: { external: {} } };
    wailsBackend().nameWindow('A talk - ContextInfinity');
    delete (window as unknown as { webkit?: unknown }).webkit;
    expect(WindowSetTitle).toHaveBeenCalledWith('A talk - ContextInfinity');
  });

  it('calls bound services by their names', async () => {
    const Turn = vi.fn().mockResolvedValue({ id: 't1', user: null, assistant: [{ kind: 'text' }], error: null });
    serve('Sessions', { Turn });
    expect(await wailsBackend().sessions.turn('b1', 't1')).toEqual({ id: 't1', user: [], assistant: [{ kind: 'text' }], calls: [], error: null });
    expect(Turn).toHaveBeenCalledWith('b1', 't1');
  });

  it('returns an empty list if the program sends null for one', async () => {
    serve('Inspect', { Pending: () => Promise.resolve(null), CommitNow: () => Promise.resolve(null) });
    expect(await wailsBackend().inspect.pending('b1')).toEqual([]);
    expect(await wailsBackend().inspect.commitNow('b1')).toBeNull();
  });

  it('replaces null lists at any depth, and leaves other nulls unchanged', async () => {
    serve('Sessions', {
      Open: () => Promise.resolve({ branches: null, header: { summaries: 0 }, draft: { images: null, files: [], memories: null }, turns: [{ user: null, assistant: [], calls: null, error: null }] }),
    });
    expect(await wailsBackend().sessions.open('s1', '')).toEqual({
      branches: [],
      header: { summaries: 0 },
      draft: { images: [], files: [], memories: [] },
      turns: [{ user: [], assistant: [], calls: [], error: null }],
    });
    serve('Work', { Resume: () => Promise.resolve({ id: '1', check: null, import: { skipped: null, notices: null, instructions: null } }) });
    expect(await wailsBackend().work.resume('1')).toEqual({ id: '1', check: null, import: { skipped: [], notices: [], instructions: [], tornFiles: [] } });
  });

  it('replaces null lists in events', () => {
    const EventsOn = vi.fn((_: string, listener: (data: unknown) => void) => (listener({ kind: 'new_chat', files: null }), () => undefined));
    bridge.runtime = { EventsOn };
    const received = vi.fn();
    wailsBackend().onWindowRequest(received);
    expect(received).toHaveBeenCalledWith({ kind: 'new_chat', files: [] });
  });

  it('turns a rejection into an error with its code and hint', async () => {
    serve('Chat', { Send: () => Promise.reject('{"code":"over_budget","op":"chat.send","message":"Too long","hint":"Shorten it."}') });
    const failed = await wailsBackend().chat.send({ sessionId: '', branchId: '', text: '', images: [], files: [], memories: [], model: '', effort: '', incomplete: '' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(BackendError);
    expect(failed).toMatchObject({ code: 'over_budget', op: 'chat.send', message: 'Too long', hint: 'Shorten it.' });
  });

  it('reads a rejection that the bridge has wrapped', async () => {
    serve('Chat', { Send: () => Promise.reject(new Error('{"code":"no_space","op":"chat.send","message":"The disk is full","hint":"free some space"}')) });
    await expect(wailsBackend().chat.send({} as never)).rejects.toMatchObject({ code: 'no_space', message: 'The disk is full', hint: 'Free some space.' });
  });

  it('shows plain text of the bridge unchanged', async () => {
    serve('Chat', { Stop: () => Promise.reject('received 1 arguments') });
    await expect(wailsBackend().chat.stop('t1')).rejects.toMatchObject({ code: 'internal', message: 'received 1 arguments' });
  });

  it('names the missing call if the program is older than the window', async () => {
    await expect(wailsBackend().settings.version()).rejects.toThrow('Settings.Version');
  });

  it('passes events on until the subscription ends', () => {
    const listeners = new Map<string, (data: unknown) => void>();
    bridge.runtime = { EventsOn: (name: string, listener: (data: unknown) => void) => (listeners.set(name, listener), () => listeners.delete(name)) };
    const received: unknown[] = [];
    const unsubscribe = wailsBackend().onFrame((frame) => received.push(frame.seq));
    listeners.get('ci:frame')?.({ seq: 7 });
    unsubscribe();
    expect([received, listeners.size]).toEqual([[7], 0]);
  });
});
