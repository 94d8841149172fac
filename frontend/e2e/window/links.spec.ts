import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { Home, canaryKey } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const webAddress = 'https://example.com/a%20path?first=1&second=two#part';
const dangerous = {
  javascript: 'javascript:document.title="run"',
  file: 'file:///etc/passwd',
  data: 'data:text/html,<script>document.title="run"</script>',
  blob: 'blob:wails://wails/0',
  program: 'wails://wails/other.html',
  empty: 'https://',
};

/** Creates a fake system browser: a script that records the addresses that it is asked to open, and its environment. */
function createFakeBrowser(home: Home): { path: string; opened: () => string[]; environment: () => string } {
  const bin = join(home.root, 'bin');
  const openedFile = join(home.root, 'opened');
  const environmentFile = join(home.root, 'browser-environment');
  mkdirSync(bin);
  for (const name of ['xdg-open', 'x-www-browser', 'www-browser']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nenv >>'${environmentFile}'\nprintf '%s\\n' "$1" >>'${openedFile}'\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  return { path: `${bin}:${process.env['PATH']}`, opened: () => read(openedFile).split('\n').filter(Boolean), environment: () => read(environmentFile) };
}

test('a link opens in the system’s browser and never in the window; other kinds of addresses do nothing', async () => {
  let browser: ReturnType<typeof createFakeBrowser> | undefined;
  const env = await WindowEnv.open((home) => ({ PATH: (browser = createFakeBrowser(home)).path }));
  const { page } = env.desktop;
  const { opened, environment } = browser!;
  try {
    const markdown = Object.entries(dangerous).map(([name, href]) => `[${name}](${href})`).join(' and ');
    await env.talk('Show links', `Read [the page](${webAddress}), not ${markdown}.\n\nThat is all.`, 'That is all.');
    const clickOn = async (css: string, button: number, ...keys: string[]) => {
      await page.run(`document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })`, css);
      const { x, y } = await onScreen(env.desktop, await middle(env.desktop, css));
      xdotool('mousemove', x, y, ...keys.flatMap((key) => ['keydown', key]), 'click', button, ...keys.flatMap((key) => ['keyup', key]));
    };

    // With every mouse button and with the keyboard.
    const link = `article a[href="${webAddress}"]`;
    const ways = [() => clickOn(link, 1), () => clickOn(link, 2), () => clickOn(link, 1, 'ctrl'), () => clickOn(link, 1, 'shift'), async () => {
      await page.run(`document.querySelector(arguments[0]).focus()`, link);
      xdotool('key', 'Return');
    }];
    for (const [i, way] of ways.entries()) {
      await way();
      await until(`click ${i + 1} opens the browser`, () => opened().length === i + 1);
    }
    expect(new Set(opened())).toEqual(new Set([webAddress]));
    expect(environment()).toContain('HOME=');
    expect(environment()).not.toContain(canaryKey);

    // Answers are sanitised before they are drawn, so dangerous links do not exist. Clicks on links that get into the
    // page anyway do nothing.
    expect(await page.run<string[]>(`return [...document.querySelectorAll('article a')].map((anchor) => anchor.getAttribute('href')).filter((href) => !/^https:/.test(href ?? ''))`)).toEqual([]);
    await page.run(`const answer = document.querySelector('article .answer');
      for (const [name, href] of Object.entries(arguments[0])) {
        const link = document.createElement('a');
        Object.assign(link, { id: 'link-' + name, href, textContent: ' ' + name + ' ', target: '_blank' });
        answer.append(link);
      }`, dangerous);
    const before = await page.run<string>('return location.href + document.title');
    for (const name of Object.keys(dangerous)) for (const button of [1, 2]) await clickOn(`#link-${name}`, button);
    await clickOn(link, 1); // comes after all others, so none of them is still being processed
    await until('the last link is opened', () => opened().length > ways.length);
    expect(opened().slice(ways.length)).toEqual([webAddress]);
    expect(await page.run<string>('return location.href + document.title')).toBe(before);
    expect(await page.has('article')).toBe(true);
  } finally {
    await env.close();
  }
});
