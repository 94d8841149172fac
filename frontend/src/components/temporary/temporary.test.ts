import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block, errorView, turnView } from '$lib/backend/fake/shapes';
import type { TurnView } from '$lib/backend/types';
import { mountIn, startedApp } from '../../test/mount';
import Inspector from '../inspector/Inspector.svelte';
import { guardPage } from '../shell/guards';
import { onWindowKey } from '../shell/keys';
import Shell from '../shell/Shell.svelte';
import Turn from '../transcript/Turn.svelte';
import TemporaryFoot from './TemporaryFoot.svelte';
import { endOf } from './labels';

async function shell(options: Parameters<typeof startedApp>[0] = {}) {
  const started = await startedApp({ data: 'rich', longest: 3, pace: { prepareMs: 20, frameMs: 5, chars: 400 }, ...options });
  mountIn(started.app, Shell, {});
  return { ...started, user: userEvent.setup() };
}

const temporaryButton = () => screen.getByRole('button', { name: /^Temporary chat/ });
const field = () => screen.getByRole('textbox', { name: 'Your message' });

describe('the temporary chat in the window', () => {
  it('opens from the session list, explains itself, and answers', async () => {
    const { app, backend, user } = await shell();
    await user.click(temporaryButton());
    expect(await screen.findByRole('heading', { name: 'Temporary chat' })).toBeVisible();
    expect(screen.getByText('Nothing here is saved to disk')).toBeVisible();
    await waitFor(() => expect(field()).toHaveFocus());
    await user.type(field(), '/pin me{Enter}');
    await waitFor(() => expect(app.temporary.newest?.state).toBe('not kept'));
    expect(app.temporary.newest!.user[0]!.text).toBe('/pin me'); // slash commands exist only in sessions
    expect(screen.getByText('not kept')).toBeVisible();
    expect(screen.queryByText(/durable|buffered/)).toBeNull();
    expect(screen.queryByRole('button', { name: /Switch branch|Pending|Head/ })).toBeNull();
    expect(backend.calls.some((call) => /saveDraft|chat\.send$/.test(call.name))).toBe(false);
  });

  it('asks before it is discarded', async () => {
    const { app, user } = await shell();
    await user.click(temporaryButton());
    await user.type(await screen.findByRole('textbox', { name: 'Your message' }), 'Hello{Enter}');
    await waitFor(() => expect(app.temporary.turns.length).toBe(1));
    await user.click(screen.getByRole('button', { name: 'End' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent('Its 1 turn was never saved and is lost.');
    await user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(app.temporary.active).toBe(true);
    await user.click(screen.getByRole('button', { name: 'New session (Ctrl+N)' }));
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Discard chat' }));
    await waitFor(() => expect(screen.queryByText('Nothing here is saved to disk')).toBeNull());
  });

  it('has its own model', async () => {
    const { app, backend, user } = await shell();
    await user.click(temporaryButton());
    await user.click(await screen.findByTitle(/Change model/));
    await user.click(screen.getByRole('menuitemradio', { name: /^recall/ }));
    expect([app.temporary.model, app.conversation.model === 'recall', backend.calls.some((call) => call.name === 'chat.setModel')]).toEqual(['recall', false, false]);
  });

  it('has nothing to inspect except background work', async () => {
    const { app } = await startedApp({ data: 'rich', longest: 3 });
    await app.navigation.newTemporary();
    mountIn(app, Inspector, {});
    for (const tab of ['Memory', 'X-ray', /^State/]) {
      await userEvent.click(screen.getByRole('tab', { name: tab }));
      expect(screen.getByText('A temporary chat has nothing to inspect')).toBeVisible();
    }
    await userEvent.click(screen.getByRole('tab', { name: /Activity/ }));
    expect(await screen.findByText('Jobs')).toBeVisible();
    await app.navigation.leaveTemporary();
    await userEvent.click(screen.getByRole('tab', { name: /^State/ }));
    expect(screen.queryByText('A temporary chat has nothing to inspect')).toBeNull();
  });

  it('opens with Ctrl+Shift+N and stops with Esc', async () => {
    const { app } = await shell({ pace: { prepareMs: 5, frameMs: 5, chars: 1 } });
    onWindowKey(app, new KeyboardEvent('keydown', { key: 'N', ctrlKey: true, shiftKey: true }));
    await waitFor(() => expect(app.temporary.active).toBe(true));
    app.temporary.draft.text = 'Hello';
    await app.temporary.send();
    await waitFor(() => expect(app.temporary.live(app.temporary.newest!.id)?.displayed).toBeGreaterThan(2));
    onWindowKey(app, new KeyboardEvent('keydown', { key: 'Escape' }));
    await waitFor(() => expect(app.temporary.newest?.outcome).toBe('stopped'));
  });

  it('prevents leaving the page while it has content', async () => {
    const { app } = await startedApp();
    const unguard = guardPage(app);
    const close = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
    await app.navigation.newTemporary();
    expect(close()).toBe(false);
    app.temporary.draft.text = 'Half a thought';
    expect(close()).toBe(true);
    window.dispatchEvent(new Event('pagehide'));
    expect([app.temporary.active, close()]).toEqual([false, false]);
    unguard();
  });
});

describe('a turn of a temporary chat', () => {
  const turn = (more: Partial<TurnView>) => turnView({ state: 'not kept', ...more });
  it.each<[Partial<TurnView>, string]>([
    [{ outcome: 'completed' }, 'Answered, not kept'], [{ outcome: 'kept' }, 'Ended early, not kept'], [{ outcome: 'stopped' }, 'Ended early, not kept'],
    [{ outcome: 'truncated' }, 'Cut at the output limit, not kept'], [{ outcome: 'refused' }, 'The model declined, not kept'],
    [{ state: 'responding', outcome: '' }, 'Waiting for the first word'], [{ state: 'responding', outcome: '', live: true, liveStep: 'p1' }, 'Answering'],
  ])('%o is “%s”', (more, label) => expect(endOf(turn(more)).label).toBe(label));

  it('offers to send again if it has no answer', async () => {
    const { app, backend } = await startedApp();
    await app.navigation.newTemporary();
    const failed = turnView({ state: 'failed', outcome: 'failed', assistant: [], user: [block('text', 'Hello')], error: errorView('The provider is overloaded (529)', 'try again later') });
    mountIn(app, TemporaryFoot, { turn: failed, live: undefined });
    expect(screen.getByText('No answer. The provider is overloaded (529)')).toBeVisible();
    expect(screen.getByText(/Your message is still here\. Try again later\./)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Send again' }));
    await waitFor(() => expect(app.temporary.newest?.user[0]?.text).toBe('Hello'));
    expect(backend.calls.filter((call) => call.name === 'chat.temporarySend').length).toBe(1);
  });

  it('copies its answer, and has no action that needs a session', async () => {
    const { app } = await startedApp();
    mountIn(app, TemporaryFoot, { turn: turn({}), live: undefined });
    expect(screen.getAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual(['Copy the answer']);
  });
});

describe('a turn of a session', () => {
  it('still has all actions of a session', async () => {
    const { app } = await startedApp();
    mountIn(app, Turn, { turn: turnView({ createdAt: Date.now() }), index: 0 });
    expect(screen.getByRole('button', { name: 'Fork from here' })).toBeInTheDocument();
  });
});
