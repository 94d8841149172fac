import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import { onWindowKey } from '../shell/keys';
import Composer from '../composer/Composer.svelte';
import { quoted } from '../composer/quoted';
import QuoteButton from './QuoteButton.svelte';

it.each([
  ['one\ntwo', '> one\n> two'], ['\n\n  one\r\n\r\ntwo  \n\n', '>   one\n>\n> two'], ['', '>'],
])('quotes %j as %j', (text, quotation) => expect(quoted(text)).toBe(quotation));

async function selecting() {
  const started = await startedApp({ data: 'rich' });
  mountIn(started.app, Composer, {});
  mountIn(started.app, QuoteButton, {});
  const turn = document.createElement('p');
  turn.dataset['turn'] = 't1';
  turn.textContent = 'Words of the answer';
  const outside = document.createElement('p');
  outside.textContent = 'Words elsewhere';
  document.body.append(turn, outside);
  Range.prototype.getClientRects = () => [new DOMRect(10, 10, 80, 20)] as unknown as DOMRectList;
  const field = screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement;
  return { ...started, turn, outside, field };
}

it('quotes the selection with the button, on lines of its own, and with the key', async () => {
  const { app, turn, field } = await selecting();
  await userEvent.type(field, 'About this:');
  getSelection()!.selectAllChildren(turn);
  document.dispatchEvent(new MouseEvent('pointerup'));
  await userEvent.click(await screen.findByRole('button', { name: 'Quote' }));
  expect(field).toHaveValue('About this:\n\n> Words of the answer\n\n');
  expect(field).toHaveFocus();
  expect(screen.queryByRole('button', { name: 'Quote' })).toBeNull();
  getSelection()!.selectAllChildren(turn);
  onWindowKey(app, new KeyboardEvent('keydown', { key: 'q', code: 'KeyQ', altKey: true }));
  await waitFor(() => expect(field).toHaveValue('About this:\n\n> Words of the answer\n\n> Words of the answer\n\n'));
});

it('offers nothing for text outside the conversation, or a selection that leaves it', async () => {
  const { app, turn, outside } = await selecting();
  for (const [from, to] of [[outside, outside], [turn, outside]] as const) {
    getSelection()!.setBaseAndExtent(from.firstChild!, 0, to.firstChild!, 5);
    document.dispatchEvent(new MouseEvent('pointerup'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(screen.queryByRole('button', { name: 'Quote' })).toBeNull();
    expect(app.commands.disabledReason('quote')).not.toBe('');
  }
});
