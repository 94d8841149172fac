import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

test('typing after a click in the conversation goes into the message, and no focus ring is drawn around the conversation', async () => {
  const room = await Room.open();
  const { page } = room.desktop;
  try {
    await room.talk('A first question', 'A first answer.');
    const ring = () => page.run<string>(`return getComputedStyle(document.querySelector('.transcript')).outlineStyle`);
    const at = await onScreen(room.desktop, await middle(room.desktop, '.transcript', 0.5, 0.9));
    xdotool('mousemove', at.x, at.y);
    xdotool('click', 1);
    await until('the conversation has the focus', () => page.run<boolean>(`return document.activeElement?.matches('.transcript') ?? false`));
    xdotool('key', 'Down');
    expect(await ring()).toBe('none');
    xdotool('type', 'Half a ?');
    const typed = () => page.run<string>(`return document.querySelector('[data-message-field]').value`);
    await until('the whole text is in the message', async () => (await typed()) === 'Half a ?');
    expect(await page.has('dialog[open]')).toBe(false);
  } finally {
    await room.close();
  }
});

test('Ctrl+Z and Ctrl+Shift+Z undo and redo in the message and in a search', async () => {
  const room = await Room.open();
  const { page } = room.desktop;
  try {
    await room.talk('A first question', 'A first answer.');
    for (const css of ['[data-message-field]', 'input[data-shortcut="search"]']) {
      const value = () => page.run<string>(`return document.querySelector(arguments[0]).value`, css);
      const becomes = (text: string) => until(`${css} holds “${text}”`, async () => (await value()) === text);
      const at = await onScreen(room.desktop, await middle(room.desktop, css));
      xdotool('mousemove', at.x, at.y, 'click', 1);
      xdotool('type', 'some words');
      await becomes('some words');
      xdotool('key', 'ctrl+a', 'BackSpace');
      await becomes('');
      xdotool('key', 'ctrl+z');
      await becomes('some words');
      xdotool('key', 'ctrl+shift+z');
      await becomes('');
      xdotool('key', 'ctrl+z');
      await becomes('some words');
    }
  } finally {
    await room.close();
  }
});
