import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import Markdown from './Markdown.svelte';
import UserMessage from './UserMessage.svelte';
import * as clipboard from '$lib/clipboard';
import type { BlockView } from '$lib/backend/types';
import { chooseLanguage } from '$lib/words/words.svelte';
import { tick } from 'svelte';

let copyText: ReturnType<typeof vi.spyOn>;
beforeEach(() => void (copyText = vi.spyOn(clipboard, 'copyText').mockResolvedValue()));

const heavy = `a${'\u0301'.repeat(500_000)}`;
const offered = { name: 'Copy the original text' };

test('an answer that would block the page is drawn partially, and offered in full', async () => {
  const { container } = render(Markdown, { text: heavy });
  expect(container.querySelector('.prose')!.textContent.length).toBeLessThan(200);
  await userEvent.click(screen.getByRole('button', offered));
  expect(copyText).toHaveBeenLastCalledWith(heavy);
});

test('a user message likewise', async () => {
  const { container } = render(UserMessage, { blocks: [{ kind: 'text', text: heavy } as BlockView] });
  expect(container.querySelector('p.text')!.textContent.length).toBeLessThan(200);
  await userEvent.click(screen.getByRole('button', offered));
  expect(copyText).toHaveBeenLastCalledWith(heavy);
});

test('an ordinary text is drawn completely', () => {
  render(Markdown, { text: 'Grüße, שָׁלוֹם, 👨‍👩‍👧‍👦' });
  expect(screen.queryByRole('button', offered)).not.toBeInTheDocument();
});

test('labels around code and tables are translated again in streamed and loaded answers', async () => {
  const code = '```go\nfunc main() {}\n```';
  const grown = render(Markdown, { text: `First.\n\n${code}\n\nLast`, growing: true });
  await grown.rerender({ text: `First.\n\n${code}\n\nLast.`, growing: false });
  const read = render(Markdown, { text: `${code}\n\nAs it was.` });
  const copies = () => [grown, read].map(({ container }) => container.querySelector('[data-act="copy"]')?.textContent);
  expect(copies()).toEqual(['Copy', 'Copy']);
  await chooseLanguage('de', []);
  await tick();
  expect(copies()).toEqual(['Kopieren', 'Kopieren']);
  await chooseLanguage('en', []);
});
