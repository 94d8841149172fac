import { describe, expect, it } from 'vitest';
import { ToastsState } from './toasts.svelte';
import { UndoState } from './undo.svelte';

function setUp() {
  const toasts = new ToastsState();
  const undo = new UndoState(toasts);
  const undone: string[] = [];
  const archive = (name: string) => undo.record({ text: `Archived ${name}`, undo: async () => void undone.push(name) });
  return { toasts, undo, undone, archive, texts: () => toasts.list.map((toast) => toast.text) };
}

describe('undo', () => {
  it('undoes the newest action first, with the key or the toast, each once', async () => {
    const { toasts, undo, undone, archive, texts } = setUp();
    for (const name of ['a', 'b', 'c']) archive(name);
    expect(undo.next).toBe('Archived c');
    toasts.act(toasts.list[1]!.id);
    await new Promise((resolve) => setTimeout(resolve));
    await undo.undo();
    expect([undone, undo.next]).toEqual([['b', 'c'], 'Archived a']);
    expect(texts()).toEqual(['Archived a', 'Undone: archived b', 'Undone: archived c']);
    expect([await undo.undo(), await undo.undo(), undone]).toEqual([true, false, ['b', 'c', 'a']]);
  });

  it('keeps an action that could not be undone, and shows why', async () => {
    const { undo, texts } = setUp();
    let full = true;
    undo.record({ text: 'Renamed it', undone: 'It has its old name again', undo: () => (full ? Promise.reject(new Error('The disk is full')) : Promise.resolve()) });
    await undo.undo();
    expect([undo.next, texts().at(-1)]).toEqual(['Renamed it', 'The disk is full']);
    full = false;
    await undo.undo();
    expect([undo.next, texts().at(-1)]).toEqual(['', 'It has its old name again']);
  });

  it('undoes one at a time', async () => {
    const { undo, undone, archive } = setUp();
    let release = () => {};
    archive('a');
    undo.record({ text: 'Moved b', undo: () => new Promise<void>((resolve) => (release = resolve)) });
    const first = undo.undo();
    expect(await undo.undo()).toBe(false);
    release();
    await first;
    expect([undone, undo.next]).toEqual([[], 'Archived a']);
  });

  it('remembers a limited number', async () => {
    const { undo, undone, archive } = setUp();
    for (let i = 0; i < 25; i++) archive(String(i));
    while (await undo.undo());
    expect([undone.length, undone.at(-1)]).toEqual([20, '5']);
  });
});
