import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { waitUntilSettled } from '../harness/reach.ts';
import { drawnTurns, importTallTurns } from '../harness/seed.ts';
import { xdotool } from './dragging.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

test('a long conversation that is scrolled to its end stays there and stays drawn, however the window changes', async () => {
  const env = await WindowEnv.open({ LANG: 'C' }, '1280x800');
  try {
    const { page } = env.desktop;
    importTallTurns(env.home, 67);
    await page.press('Hide inspector');
    await until('the imported conversation', () => page.run<boolean>(`const row = document.querySelector('[data-session]:not([aria-current])'); row?.click(); return row !== null`));
    await until('the end of the conversation', async () => (await page.text('.transcript')).includes('That is all of step 67.'));

    const changes: [string, () => unknown][] = [
      ['the panel is open', () => page.press('Show inspector')],
      ['the panel is closed', () => page.press('Hide inspector')],
      ['the window is narrow', () => xdotool('windowsize', env.desktop.window, 900, 600)],
      ['the window is wide', () => xdotool('windowsize', env.desktop.window, 1260, 740)],
      ['the text is large', () => xdotool('key', 'ctrl+plus', 'ctrl+plus', 'ctrl+plus')],
      ['the text has its normal size', () => xdotool('key', 'ctrl+0')],
      ['the language is German', () => cli(env.home, 'config', 'set', 'ui.language', 'de')],
      ['the panel is open', () => page.run(`document.querySelector('[aria-label*="(Strg+I)"]').click()`)],
    ];
    const layout = () => page.run<string>(`const { documentElement: root } = document; return [root.lang, getComputedStyle(root).fontSize, document.querySelector('.transcript').clientWidth].join()`);
    for (const [description, change] of changes) {
      const before = await layout();
      await change();
      await until(description, async () => (await layout()) !== before);
      await page.runAsync(waitUntilSettled);
      expect(await page.run(`return ${drawnTurns}`), `${description}: all is drawn to the end`).toEqual([11, 0]);
    }
  } finally {
    await env.close();
  }
});
