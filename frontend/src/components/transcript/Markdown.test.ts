import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import Markdown from './Markdown.svelte';
import { answerAct } from './answerActs';
import { unfold } from './codeFolds';
import UserMessage from './UserMessage.svelte';
import * as clipboard from '$lib/clipboard';
import type { BlockView } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { tick } from 'svelte';

let copyText: ReturnType<typeof vi.spyOn>;
beforeEach(() => void (copyText = vi.spyOn(clipboard, 'copyText').mockResolvedValue()));

const heavy = `a${'\u0301'.repeat(500_000)}`;
const copyButton = { name: 'Copy the original text' };

test('an answer that would block the page is drawn partially, and offered in full', async () => {
  const { container } = render(Markdown, { text: heavy });
  expect(container.querySelector('.prose')!.textContent.length).toBeLessThan(200);
  await userEvent.click(screen.getByRole('button', copyButton));
  expect(copyText).toHaveBeenLastCalledWith(heavy);
});

test('a long user message is folded in the same way', async () => {
  const { container } = render(UserMessage, { blocks: [{ kind: 'text', text: heavy } as BlockView] });
  expect(container.querySelector('p.text')!.textContent.length).toBeLessThan(200);
  await userEvent.click(screen.getByRole('button', copyButton));
  expect(copyText).toHaveBeenLastCalledWith(heavy);
});

test('an ordinary text is drawn completely', () => {
  render(Markdown, { text: 'Grüße, שָׁלוֹם, 👨‍👩‍👧‍👦' });
  expect(screen.queryByRole('button', copyButton)).not.toBeInTheDocument();
});

test('labels around code and tables are translated again in streamed and loaded answers', async () => {
  const code = '```go\nfunc main() {}\n```';
  const streamed = render(Markdown, { text: `First.\n\n${code}\n\nLast`, growing: true });
  await streamed.rerender({ text: `First.\n\n${code}\n\nLast.`, growing: false });
  const loaded = render(Markdown, { text: `${code}\n\nAs it was.` });
  const copies = () => [streamed, loaded].map(({ container }) => container.querySelector('[data-act="copy"]')?.textContent);
  expect(copies()).toEqual(['Copy', 'Copy']);
  await chooseLanguage('de', []);
  await tick();
  expect(copies()).toEqual(['Kopieren', 'Kopieren']);
  await chooseLanguage('en', []);
});

const numbered = (lines: number) => `\`\`\`go\n${Array.from({ length: lines }, (_, i) => `line(${i})`).join('\n')}`;
const fewer = () => screen.queryByRole('button', { name: 'Show fewer lines' });

test('long code can be folded while it arrives, and stays as the user chose', async () => {
  const { container, rerender } = render(Markdown, { text: numbered(40), growing: true });
  const foldButton = () => container.querySelector<HTMLElement>('.block > .code__more');
  const folded = () => container.querySelector('.block')!.hasAttribute('data-folded');
  const grow = async (text: string, end: string, growing = true) => {
    await rerender({ text, growing });
    await vi.waitFor(() => expect(container.querySelector('.prose')).toHaveTextContent(end));
  };
  expect(foldButton()).toBeNull();
  await grow(numbered(50), 'line(49)');
  const button = foldButton()!;
  expect([button.textContent, button.getAttribute('aria-expanded'), folded()]).toEqual(['Show fewer lines', 'true', false]);
  await userEvent.click(button);
  expect(folded()).toBe(true);
  await grow(numbered(60), 'line(59)');
  expect([foldButton(), button.textContent, document.activeElement]).toEqual([button, 'Show all 60 lines', button]);
  await grow(`${numbered(60)}\n\`\`\`\n\nThe end`, 'The end', false);
  expect([foldButton(), button.textContent, folded()]).toEqual([button, 'Show all 60 lines', true]);
  unfold(container.querySelector<HTMLElement>('.code')!, true); // as for a result of the search in it
  await vi.waitFor(() => expect([button.textContent, folded()]).toEqual(['Show fewer lines', false]));
});

test('the buttons of code that grows stay, with the focus and what was chosen, also when its answer is drawn again', async () => {
  const { container, rerender, unmount } = render(Markdown, { text: numbered(14), growing: true });
  const wrap = container.querySelector<HTMLElement>('[data-act="wrap"]')!;
  const grow = async (text: string, end: string, growing = true) => {
    await rerender({ text, growing });
    await vi.waitFor(() => expect(container.querySelector('.prose')).toHaveTextContent(end));
    expect([document.activeElement, wrap.closest<HTMLElement>('.code')!.dataset['wrap']]).toEqual([wrap, 'on']);
  };
  wrap.focus();
  await answerAct({} as App, wrap);
  await grow(numbered(16), 'line(15)');
  await grow(`${numbered(20)}\n\`\`\`\n\nThe end`, 'The end', false);
  expect(container.querySelector<HTMLElement>('.code')!.dataset['lines']).toBe('20');
  unmount();
  render(Markdown, { text: `${numbered(20)}\n\`\`\`\n\nThe end` });
  expect(document.querySelector<HTMLElement>('.code')!.dataset['wrap']).toBe('on');
});

test('unfolded code stays unfolded when its answer is drawn again', async () => {
  const text = `${numbered(70)}\n\`\`\``;
  const code = () => document.querySelector<HTMLElement>('.code')!;
  const toggleFold = () => answerAct({} as App, code().querySelector<HTMLElement>('[data-act="fold"]')!);
  const first = render(Markdown, { text });
  expect([code().dataset['open'], fewer()]).toEqual([undefined, null]);
  await toggleFold();
  first.unmount();
  const second = render(Markdown, { text });
  await tick();
  expect([code().dataset['open'], fewer()]).toEqual(['', code().querySelector('[data-act="fold"]')]);
  await toggleFold();
  second.unmount();
  render(Markdown, { text });
  await tick();
  expect([code().dataset['open'], fewer()]).toEqual([undefined, null]);
});

test('code stays wrapped and a picture stays shown when their answer is drawn again', async () => {
  const text = '```go\nfunc main() { println("a long line") }\n```\n\n```svg\n<svg viewBox="0 0 4 2"></svg>\n```';
  const first = render(Markdown, { text });
  const codes = (container: HTMLElement) => [...container.querySelectorAll<HTMLElement>('.code')];
  const [go, svg] = codes(first.container);
  const previews = { theme: { previews: true } } as App;
  await answerAct(previews, go!.querySelector<HTMLElement>('[data-act="wrap"]')!);
  await answerAct(previews, svg!.querySelector<HTMLElement>('[data-act="preview"]')!);
  first.unmount();
  const second = render(Markdown, { text });
  await vi.waitFor(() => expect(second.container.querySelector('.code .preview iframe')).not.toBeNull());
  const [redrawn] = codes(second.container);
  expect([redrawn!.dataset['wrap'], redrawn!.querySelector('[data-act="wrap"]')!.getAttribute('aria-pressed')]).toEqual(['on', 'true']);
});
