import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { undoInFields } from './undo';

const execCommand = vi.fn();
let stop = () => {};

beforeEach(() => {
  execCommand.mockReset();
  document.execCommand = execCommand; // jsdom has none
  document.body.innerHTML = '<textarea></textarea><input type="search"><input type="checkbox"><textarea readonly></textarea><p tabindex="0"></p>';
  stop = undoInFields();
});
afterEach(() => {
  stop();
  vi.restoreAllMocks();
  document.body.innerHTML = '';
});

function press(css: string, key: string, modifiers: KeyboardEventInit = { ctrlKey: true }): boolean {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...modifiers });
  document.querySelector(css)!.dispatchEvent(event);
  return event.defaultPrevented;
}

describe('undo and redo in text fields', () => {
  it.each([
    ['z', {}, 'undo'], ['Z', { shiftKey: true }, 'redo'], ['y', {}, 'redo'],
  ] as const)('Ctrl+%s %o', (key, modifiers, step) => {
    for (const css of ['textarea', 'input']) expect(press(css, key, { ctrlKey: true, ...modifiers })).toBe(true);
    expect(execCommand.mock.calls).toEqual([[step], [step]]);
  });

  it.each([
    ['я', { code: 'KeyZ' }, 'undo'], ['ζ', { code: 'KeyZ' }, 'undo'], ['Я', { code: 'KeyZ', shiftKey: true }, 'redo'], ['н', { code: 'KeyY' }, 'redo'],
    ['z', { code: 'KeyY' }, 'undo'], // a German keyboard
  ] as const)('Ctrl+%s %o on another layout', (key, modifiers, step) => {
    expect(press('textarea', key, { ctrlKey: true, ...modifiers })).toBe(true);
    expect(execCommand.mock.calls).toEqual([[step]]);
  });

  it('leaves the keys to a Mac, where the menu has them and Ctrl+Y pastes', () => {
    vi.spyOn(navigator, 'platform', 'get').mockReturnValue('MacIntel');
    expect(['z', 'y'].map((key) => press('textarea', key))).toEqual([false, false]);
    expect(press('textarea', 'z', { metaKey: true })).toBe(false);
    expect(execCommand).not.toHaveBeenCalled();
  });

  it('is not used where nothing can be edited, and for other keys', () => {
    expect(['[type=checkbox]', '[readonly]', 'p'].map((css) => press(css, 'z'))).toEqual([false, false, false]);
    expect([press('textarea', 'z', {}), press('textarea', 'z', { ctrlKey: true, altKey: true }), press('textarea', 'z', { metaKey: true }), press('textarea', 'a')]).toEqual([false, false, false, false]);
    expect(execCommand).not.toHaveBeenCalled();
  });

  it('a command of the page comes first', () => {
    const field = document.querySelector('textarea')!;
    field.addEventListener('keydown', (event) => event.preventDefault(), { once: true });
    press('textarea', 'z');
    expect(execCommand).not.toHaveBeenCalled();
  });
});
