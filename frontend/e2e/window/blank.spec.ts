import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { drawnTurns, tallTurns } from '../harness/seed.ts';
import { xdotool } from './dragging.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

test('a long conversation that is scrolled to its end stays there and stays drawn, however the window changes', async () => {
  const room = await Room.open({ LANG: 'C' }, '1280x800');
  try {
    const { page } = room.desktop;
    tallTurns(room.home, 67);
    await page.press('Hide inspector');
    await until('the imported conversation', () => page.run<boolean>(`const row = document.querySelector('[data-session]:not([aria-current])'); row?.click(); return row !== null`));
    await until('the end of the conversation', async () => (await page.text('.transcript')).includes('That is all of step 67.'));

    const changes: [string, () => unknown][] = [
      ['the panel is open', () => page.press('Show inspector')],
      ['the panel is closed', () => page.press('Hide inspector')],
      ['the window is narrow', () => xdotool('windowsize', room.desktop.window, 900, 600)],
      ['the window is wide', () => xdotool('windowsize', room.desktop.window, 1260, 740)],
      ['the text is large', () => xdotool('key', 'ctrl+plus', 'ctrl+plus', 'ctrl+plus')],
      ['the text is of normal size', () => xdotool('key', 'ctrl+0')],
      ['the language is another one', () => verb(room.home, 'config', 'set', 'ui.language', 'de')],
      ['the panel is open', () => page.run(`document.querySelector('[aria-label*="(Strg+I)"]').click()`)],
    ];
    const look = () => page.run<string>(`const { documentElement: root } = document; return [root.lang, getComputedStyle(root).fontSize, document.querySelector('.transcript').clientWidth].join()`);
    for (const [what, change] of changes) {
      const before = await look();
      await change();
      await until(what, async () => (await look()) !== before);
      // Long enough for the measurements of the list and their scroll events: a list that draws nothing stays empty.
      await new Promise((done) => setTimeout(done, 700));
      expect([what, await page.run(`return ${drawnTurns}`)]).toEqual([what, [11, 0]]);
    }
  } finally {
    await room.close();
  }
});
