import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

test('typing after a click in the conversation goes into the message, and no focus ring is drawn around the conversation', async () => {
  const env = await WindowEnv.open();
  const { page } = env.desktop;
  try {
    await env.talk('A first question', 'A first answer.');
    const focusRing = () => page.run<string>(`return getComputedStyle(document.querySelector('.transcript')).outlineStyle`);
    const point = await onScreen(env.desktop, await middle(env.desktop, '.transcript', 0.5, 0.9));
    xdotool('mousemove', point.x, point.y);
    xdotool('click', 1);
    await until('the conversation has the focus', () => page.run<boolean>(`return document.activeElement?.matches('.transcript') ?? false`));
    xdotool('key', 'Down');
    expect(await focusRing()).toBe('none');
    xdotool('type', 'Half a ?');
    const message = () => page.run<string>(`return document.querySelector('[data-message-field]').value`);
    await until('the whole text is in the message', async () => (await message()) === 'Half a ?');
    expect(await page.has('dialog[open]')).toBe(false);
  } finally {
    await env.close();
  }
});

test('Ctrl+Z and Ctrl+Shift+Z undo and redo in the message and in a search', async () => {
  const env = await WindowEnv.open();
  const { page } = env.desktop;
  try {
    await env.talk('A first question', 'A first answer.');
    for (const css of ['[data-message-field]', 'input[data-shortcut="search"]']) {
      const value = () => page.run<string>(`return document.querySelector(arguments[0]).value`, css);
      const waitForText = (text: string) => until(`${css} contains “${text}”`, async () => (await value()) === text);
      const point = await onScreen(env.desktop, await middle(env.desktop, css));
      xdotool('mousemove', point.x, point.y, 'click', 1);
      xdotool('type', 'some words');
      await waitForText('some words');
      xdotool('key', 'ctrl+a', 'BackSpace');
      await waitForText('');
      xdotool('key', 'ctrl+z');
      await waitForText('some words');
      xdotool('key', 'ctrl+shift+z');
      await waitForText('');
      xdotool('key', 'ctrl+z');
      await waitForText('some words');
    }
  } finally {
    await env.close();
  }
});
