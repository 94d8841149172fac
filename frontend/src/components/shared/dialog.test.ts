import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet } from 'svelte';
import { describe, expect, it, vi } from 'vitest';
import './testing/harness';
import Dialog from './Dialog.svelte';

const children = createRawSnippet(() => ({ render: () => '<form><input aria-label="Address" list="known" /><input aria-label="Name" /></form>' }));

function open(unsaved: boolean | 'typed') {
  const onclose = vi.fn();
  render(Dialog, { title: 'A server', unsaved, onclose, children });
  return { onclose, user: userEvent.setup(), dialog: screen.getByRole('dialog'), outside: () => fireEvent.pointerDown(screen.getByRole('dialog')) };
}

describe('a dialog that holds input', () => {
  it('closes with Esc and with a click outside while nothing was typed', async () => {
    const { onclose, user, outside } = open('typed');
    await outside();
    screen.getByLabelText('Name').focus();
    await user.keyboard('{Escape}');
    expect(onclose).toHaveBeenCalledTimes(2);
  });

  it('asks before typed text is lost, and ignores a click outside', async () => {
    const { onclose, user, outside } = open('typed');
    const name = screen.getByLabelText('Name');
    await user.type(name, 'x');
    await outside();
    expect(screen.queryByRole('alertdialog')).toBeNull();
    await user.keyboard('{Escape}');
    expect(await screen.findByRole('button', { name: 'Keep editing' })).toHaveFocus();
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(name).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Close' }));
    expect(onclose).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Discard' }));
    expect(onclose).toHaveBeenCalledOnce();
  });

  it('ignores a click outside once its form was typed in, also if it does not ask', async () => {
    const { onclose, user, outside } = open(false);
    await user.type(screen.getByLabelText('Name'), 'x');
    await outside();
    expect(onclose).not.toHaveBeenCalled();
    await user.keyboard('{Escape}');
    expect(onclose).toHaveBeenCalledOnce();
  });

  it('first closes an open list of suggestions', async () => {
    const { onclose, user } = open(false);
    await user.type(screen.getByLabelText('Address'), 'h');
    await user.keyboard('{Escape}');
    expect(onclose).not.toHaveBeenCalled();
    await user.keyboard('{Escape}');
    expect(onclose).toHaveBeenCalledOnce();
  });
});
