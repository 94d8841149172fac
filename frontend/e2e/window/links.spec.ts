import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { Home, canaryKey } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const good = 'https://example.com/a%20path?first=1&second=two#part';
const dangerous = {
  javascript: 'javascript:document.title="run"',
  file: 'file:///etc/passwd',
  data: 'data:text/html,<script>document.title="run"</script>',
  blob: 'blob:wails://wails/0',
  program: 'wails://wails/other.html',
  nothing: 'https://',
};

/** A fake system browser: a script that records the addresses it is asked to open, and its environment. */
function playBrowser(home: Home): { path: string; opened: () => string[]; environment: () => string } {
  const bin = join(home.root, 'bin');
  const opened = join(home.root, 'opened');
  const environment = join(home.root, 'browser-environment');
  mkdirSync(bin);
  for (const name of ['xdg-open', 'x-www-browser', 'www-browser']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nenv >>'${environment}'\nprintf '%s\\n' "$1" >>'${opened}'\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return { path: `${bin}:${process.env['PATH']}`, opened: () => read(opened).split('\n').filter(Boolean), environment: () => read(environment) };
}

test('a link opens in the system’s browser and never in the window; other addresses do nothing', async () => {
  let browser: ReturnType<typeof playBrowser> | undefined;
  const room = await Room.open((home) => ({ PATH: (browser = playBrowser(home)).path }));
  const { page } = room.desktop;
  const { opened, environment } = browser!;
  try {
    const markdown = Object.entries(dangerous).map(([name, href]) => `[${name}](${href})`).join(' and ');
    await room.talk('Show links', `Read [the page](${good}), not ${markdown}.\n\nThat is all.`, 'That is all.');
    const press = async (css: string, button: number, ...keys: string[]) => {
      await page.run(`document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })`, css);
      const { x, y } = await onScreen(room.desktop, await middle(room.desktop, css));
      xdotool('mousemove', x, y, ...keys.flatMap((key) => ['keydown', key]), 'click', button, ...keys.flatMap((key) => ['keyup', key]));
    };

    // With every mouse button and with the keyboard.
    const link = `article a[href="${good}"]`;
    const ways = [() => press(link, 1), () => press(link, 2), () => press(link, 1, 'ctrl'), () => press(link, 1, 'shift'), async () => {
      await page.run(`document.querySelector(arguments[0]).focus()`, link);
      xdotool('key', 'Return');
    }];
    for (const [i, way] of ways.entries()) {
      await way();
      await until(`the browser is asked, ${i + 1}`, () => opened().length === i + 1);
    }
    expect(new Set(opened())).toEqual(new Set([good]));
    expect(environment()).toContain('HOME=');
    expect(environment()).not.toContain(canaryKey);

    // The content of an answer is made harmless before it is drawn. Clicks on links that exist anyway are refused.
    expect(await page.run<string[]>(`return [...document.querySelectorAll('article a')].map((one) => one.getAttribute('href')).filter((href) => !/^https:/.test(href ?? ''))`)).toEqual([]);
    await page.run(`const place = document.querySelector('article .answer');
      for (const [name, href] of Object.entries(arguments[0])) {
        const link = document.createElement('a');
        Object.assign(link, { id: 'link-' + name, href, textContent: ' ' + name + ' ', target: '_blank' });
        place.append(link);
      }`, dangerous);
    const before = await page.run<string>('return location.href + document.title');
    for (const name of Object.keys(dangerous)) for (const button of [1, 2]) await press(`#link-${name}`, button);
    await press(link, 1); // comes after all others, so none of them is still being processed
    await until('the last link is opened', () => opened().length > ways.length);
    expect(opened().slice(ways.length)).toEqual([good]);
    expect(await page.run<string>('return location.href + document.title')).toBe(before);
    expect(await page.has('article')).toBe(true);
  } finally {
    await room.close();
  }
});
