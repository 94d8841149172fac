import { expect, test } from '@playwright/test';
import { until } from '../harness/process.ts';
import { xdotool } from './dragging.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const fence = '```';

// WebKit made room for a scrollbar only in a later layout, for instance when a block was pointed at: what is below moved.
test('in the real window: wide code and tables have the room of their scrollbars from the beginning', async () => {
  const env = await WindowEnv.open();
  const { page } = env.desktop;
  const row = (cell: (i: number) => string) => `|${Array.from({ length: 14 }, (_, i) => ` ${cell(i)} |`).join('')}`;
  try {
    await env.talk('Wide', [`${fence}ts run.ts\n${'const value = compute(alpha, beta); '.repeat(8)}\n${fence}`, [row((i) => `Column number ${i}`), row(() => '---'), row((i) => `value ${i}`)].join('\n'), 'That is all.'].join('\n\n'), 'That is all.');
    const layout = () => page.run<unknown>(`return [...document.querySelectorAll('article .code pre, article .table > .data-scroll')].map((block) => ({
      isWide: block.scrollWidth > block.clientWidth, cut: block.firstElementChild.getBoundingClientRect().bottom > block.getBoundingClientRect().top + block.clientTop + block.clientHeight + 0.5, hasScrollbar: block.offsetHeight - block.clientHeight === parseFloat(getComputedStyle(block, '::-webkit-scrollbar').height) }))`);
    expect(await layout()).toEqual([{ isWide: true, cut: false, hasScrollbar: true }, { isWide: true, cut: false, hasScrollbar: true }]);
  } finally {
    await env.close();
  }
});

test('in the real window: previews run nothing, a conversation can be printed, and Ctrl+Q quits', async () => {
  const env = await WindowEnv.open();
  const { page } = env.desktop;
  try {
    const hostile = `<p>A page</p><script>window.webkit.messageHandlers.external.postMessage('Q'); parent.document.title = 'run'</script><img src="x" onerror="parent.document.title = 'run'">`;
    await env.talk('Draw', [`${fence}mermaid\ngraph TD\n  A[Client] --> B[Server]\n${fence}`, `${fence}html\n${hostile}\n${fence}`, `${fence}svg\n<svg viewBox="0 0 30 10" onload="parent.document.title = 'run'"><rect width="30" height="10"/></svg>\n${fence}`, 'That is all.'].join('\n\n'), 'That is all.');
    const title = 'Draw - ContextInfinity'; // the session gets its title a moment after its first message
    await until('the window has its title', async () => (await page.run<string>('return document.title')) === title);
    await page.run(`for (const button of document.querySelectorAll('article .code:not([data-shown]) [data-act="preview"]')) button.click()`);
    await until('each preview is shown', () => page.run<boolean>(`return document.querySelectorAll('article .preview iframe').length === 3`));
    const frames = await page.run<{ sandbox: string | null; height: number }[]>(`return [...document.querySelectorAll('article .preview iframe')].map((frame) => ({
      sandbox: frame.getAttribute('sandbox'), height: frame.getBoundingClientRect().height }))`);
    for (const frame of frames) {
      expect(frame.sandbox).toBe('');
      expect(frame.height).toBeGreaterThan(20);
    }
    expect([await page.run<string>('return document.title'), env.desktop.running]).toEqual([title, true]);

    // A driven web view shows no print dialog, but the page to print exists.
    await page.run(`document.querySelector('textarea').focus()`);
    xdotool('key', 'ctrl+p');
    await until('the page to print is created', () => page.run<boolean>(`return document.querySelector('.print-frame')?.contentDocument?.body?.textContent.includes('That is all.') ?? false`));
    expect(await page.run<string>('return document.title')).toBe(title);

    await page.run(`document.querySelector('textarea').focus()`);
    xdotool('key', 'ctrl+q');
    await env.desktop.waitUntilEnded();
  } finally {
    await env.close();
  }
});
