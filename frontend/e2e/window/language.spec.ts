import { expect } from '@playwright/test';
import { until } from '../harness/process.ts';
import { reports } from './fakeshell.ts';
import type { Desktop } from './desktop.ts';
import { test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const run = <T>(desktop: Desktop, body: string, ...args: unknown[]) => desktop.page.run<T>(body, ...args);
const language = (desktop: Desktop) => run<string>(desktop, 'return document.documentElement.lang');
const messageField = 'main form textarea';
const fieldLabel = (desktop: Desktop) => run<string>(desktop, 'return document.querySelector(arguments[0])?.getAttribute("aria-label") ?? ""', messageField);

/** Completes the first run without a model, in any language. */
async function completeFirstRun(desktop: Desktop): Promise<void> {
  await until('the first page', () => desktop.page.has('main.welcome button'));
  await run(desktop, `[...document.querySelectorAll('main.welcome .way:last-child button')].at(-1).click()`);
  await until('the message field', () => desktop.page.has(messageField));
}

test('the window uses the language of the system, and a change takes effect at once and keeps the typed text', async ({ provider, open, home, shell }) => {
  home.configure(provider, '[ui]\nlanguage = "system"');
  const panel = await shell.start('panel');
  const german = await open({ LANG: 'de_DE.UTF-8' });
  await completeFirstRun(german);
  expect([await language(german), await fieldLabel(german)]).toEqual(['de', 'Ihre Nachricht']);
  await until('the icon', () => reports(panel).some((line) => line.registered));
  expect(shell.item().menu.map((line) => line.label)).toEqual(['Untätig', 'ContextInfinity anzeigen', 'Neue Sitzung', 'Neues Fenster', 'Schnellfrage', 'Hintergrundarbeit anhalten', 'Nach unerledigter Arbeit suchen', 'Beenden']);

  await run(german, `const field = document.querySelector(arguments[0]); field.focus(); document.execCommand('insertText', false, 'Half a message')`, messageField);
  await run(german, `window.dispatchEvent(new KeyboardEvent('keydown', { key: ',', ctrlKey: true }))`);
  const choose = (value: string) => run<boolean>(german, `const select = [...document.querySelectorAll('select')].find((candidate) => [...candidate.options].some((option) => option.value === 'zh-CN'));
    if (!select) return false;
    select.value = arguments[0]; select.dispatchEvent(new Event('change', { bubbles: true })); return true`, value);
  await until('the language setting', () => choose('zh-CN'));
  await until('the window is in Chinese', async () => (await language(german)) === 'zh-CN' && (await fieldLabel(german)) === '您的消息');
  expect(await run(german, 'return document.querySelector(arguments[0]).value', messageField)).toBe('Half a message');
  await choose('system');
  await until('the window is in German again', async () => (await fieldLabel(german)) === 'Ihre Nachricht');
  await german.cleanUp(); // closing the window would only hide it in the tray

  for (const [locale, expected] of [['C', 'en'], ['C.UTF-8', 'en'], ['POSIX', 'en'], ['fr_FR.UTF-8', 'en'], ['zh_CN.UTF-8', 'zh-CN'], ['zh_TW.UTF-8', 'en']] as const) {
    const desktop = await open({ LANG: locale });
    await until(`the message field under ${locale}`, () => desktop.page.has(messageField));
    expect([locale, await language(desktop), await run(desktop, 'return [...navigator.languages].length > 0')]).toEqual([locale, expected, true]);
    expect(desktop.console).toEqual([]);
    await desktop.cleanUp();
  }
});
