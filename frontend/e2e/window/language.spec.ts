import { expect } from '@playwright/test';
import { until } from '../harness/process.ts';
import { reports } from './desk.ts';
import type { Desktop } from './desktop.ts';
import { test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const run = <T>(desktop: Desktop, body: string, ...args: unknown[]) => desktop.page.run<T>(body, ...args);
const language = (desktop: Desktop) => run<string>(desktop, 'return document.documentElement.lang');
const message = 'main form textarea';
const placeOf = (desktop: Desktop) => run<string>(desktop, 'return document.querySelector(arguments[0])?.getAttribute("aria-label") ?? ""', message);

/** Completes the first run without a model, in any language. */
async function start(desktop: Desktop): Promise<void> {
  await until('the first start', () => desktop.page.has('main.welcome button'));
  await run(desktop, `[...document.querySelectorAll('main.welcome .way:last-child button')].at(-1).click()`);
  await until('the message field', () => desktop.page.has(message));
}

test('the window uses the language of the system, and a change takes effect at once and keeps the typed text', async ({ provider, open, home, desk }) => {
  home.configure(provider, '[ui]\nlanguage = "system"');
  const panel = await desk.play('panel');
  const german = await open({ LANG: 'de_DE.UTF-8' });
  await start(german);
  expect([await language(german), await placeOf(german)]).toEqual(['de', 'Ihre Nachricht']);
  await until('the icon', () => reports(panel).some((line) => line.registered));
  expect(desk.item().menu.map((line) => line.label)).toEqual(['Untätig', 'ContextInfinity anzeigen', 'Neue Sitzung', 'Neues Fenster', 'Schnellfrage', 'Hintergrundarbeit anhalten', 'Nach unerledigter Arbeit suchen', 'Beenden']);

  await run(german, `const field = document.querySelector(arguments[0]); field.focus(); document.execCommand('insertText', false, 'Half a message')`, message);
  await run(german, `window.dispatchEvent(new KeyboardEvent('keydown', { key: ',', ctrlKey: true }))`);
  const choose = (value: string) => run<boolean>(german, `const select = [...document.querySelectorAll('select')].find((one) => [...one.options].some((option) => option.value === 'zh-CN'));
    if (!select) return false;
    select.value = arguments[0]; select.dispatchEvent(new Event('change', { bubbles: true })); return true`, value);
  await until('the setting of the language', () => choose('zh-CN'));
  await until('the window is in Chinese', async () => (await language(german)) === 'zh-CN' && (await placeOf(german)) === '您的消息');
  expect(await run(german, 'return document.querySelector(arguments[0]).value', message)).toBe('Half a message');
  await choose('system');
  await until('it is in German again', async () => (await placeOf(german)) === 'Ihre Nachricht');
  await german.abandon(); // closing it would hide it in the tray

  for (const [locale, expected] of [['C', 'en'], ['C.UTF-8', 'en'], ['POSIX', 'en'], ['fr_FR.UTF-8', 'en'], ['zh_CN.UTF-8', 'zh-CN'], ['zh_TW.UTF-8', 'en']] as const) {
    const desktop = await open({ LANG: locale });
    await until(`the message field under ${locale}`, () => desktop.page.has(message));
    expect([locale, await language(desktop), await run(desktop, 'return [...navigator.languages].length > 0')]).toEqual([locale, expected, true]);
    expect(desktop.console).toEqual([]);
    await desktop.abandon();
  }
});
