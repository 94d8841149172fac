import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../../test/mount';
import FindBar from './FindBar.svelte';
import GoToDialog from './GoToDialog.svelte';

async function opened() {
  const started = await startedApp({ data: 'rich' });
  const { app, backend } = started;
  await app.navigation.openSession([...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!.row.id);
  return { ...started, user: userEvent.setup() };
}

describe('the find bar', () => {
  async function bar() {
    const started = await opened();
    started.app.find.show();
    mountIn(started.app, FindBar, {});
    const field = screen.getByRole('textbox', { name: 'Find in this session' });
    const position = () => started.app.find.position;
    /** Types a text, and waits for the results of all of it: slow typing gets results in between. */
    const search = async (words: string) => {
      await started.user.type(field, words);
      await waitFor(() => expect(started.app.conversation.intent.marks?.terms).toEqual([words]));
    };
    return { ...started, field, position, search };
  }

  it('takes the focus, counts, and moves with Enter, wrapping around', async () => {
    const { app, field, position, search, user } = await bar();
    expect(field).toHaveFocus();
    await search('question 14');
    const total = app.find.result!.total;
    expect(total).toBeGreaterThan(1);
    expect(screen.getByRole('status')).toHaveTextContent(`${position()} of ${total}`);
    const from = position();
    await user.keyboard('{Enter}');
    await waitFor(() => expect(position()).toBe((from % total) + 1));
    await user.keyboard('{Shift>}{Enter}{/Shift}');
    await waitFor(() => expect(position()).toBe(from));
  });

  it('its buttons work with Enter', async () => {
    const { app, position, search, user } = await bar();
    await search('question 14');
    const [from, total] = [position(), app.find.result!.total];
    expect(total).toBeGreaterThan(2);
    screen.getByRole('button', { name: 'Previous (Shift+Enter)' }).focus();
    await user.keyboard('{Enter}');
    await waitFor(() => expect(position()).toBe(from === 1 ? total : from - 1));
    screen.getByRole('button', { name: 'Match case' }).focus();
    await user.keyboard('{Enter}');
    expect(screen.getByRole('button', { name: 'Match case' })).toHaveAttribute('aria-pressed', 'true');
    await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('none'));
    screen.getByRole('button', { name: /^Close \(Esc returns/ }).focus();
    await user.keyboard('{Enter}');
    expect(app.find.open).toBe(false);
  });

  it('shows an error, and closes with Esc', async () => {
    const { app, backend, field, user } = await bar();
    backend.failNext('search.find', { message: 'The disk cannot be read' });
    await user.type(field, 'x');
    await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('The disk cannot be read'));
    await user.keyboard('{Escape}');
    expect(app.find.open).toBe(false);
  });

  it('Enter during a search does not go to an old result', async () => {
    const { app, backend, field, search, user } = await bar();
    await search('question 14');
    expect(app.find.result?.total).toBeGreaterThan(2);
    const from = app.conversation.intent;
    const release = backend.hold('search.find');
    await user.type(field, '2');
    await waitFor(() => expect(backend.calls.filter(({ name }) => name === 'search.find').at(-1)?.args[1]).toBe('question 142'));
    await user.keyboard('{Enter}');
    expect(app.conversation.intent).toBe(from);
    release();
    await waitFor(() => expect(app.conversation.intent.marks?.terms).toEqual(['question 142']));
  });
});

describe('going to a turn', () => {
  async function dialog() {
    const started = await opened();
    started.app.goTo.show();
    mountIn(started.app, GoToDialog, {});
    return { ...started, field: screen.getByRole('textbox', { name: 'Number, percentage or day' }), go: screen.getByRole('button', { name: 'Go' }) };
  }

  it('goes by number, and shows the target first', async () => {
    const { app, field, go, user } = await dialog();
    await waitFor(() => expect(field).toHaveFocus());
    expect(go).toBeDisabled();
    await user.type(field, '#12');
    expect(screen.getByRole('status')).toHaveTextContent('Turn 12 of');
    await user.keyboard('{Enter}');
    await waitFor(() => expect(app.goTo.open).toBe(false));
    expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(12);
  });

  it('explains an invalid target, and stays open', async () => {
    const { app, field, go, user } = await dialog();
    await user.type(field, 'the day after');
    expect(field).toHaveAttribute('aria-invalid', 'true');
    expect(go).toBeDisabled();
    await user.keyboard('{Enter}');
    expect(app.goTo.open).toBe(true);
  });

  it('does nothing if another conversation was opened meanwhile', async () => {
    const { app, backend, field, user } = await dialog();
    const release = backend.hold('sessions.turns');
    await user.type(field, '18 November{Enter}');
    await waitFor(() => expect(backend.calls.some(({ name }) => name === 'sessions.turns')).toBe(true));
    const other = app.sessions.list.find((row) => row.id !== app.conversation.sessionId && row.turns > 0)!;
    await app.navigation.openSession(other.id);
    const { intent } = app.conversation;
    release();
    await waitFor(() => expect(app.goTo.open).toBe(false));
    expect(app.conversation.intent).toBe(intent);
  });
});
