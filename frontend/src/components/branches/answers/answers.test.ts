import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block, turnView } from '$lib/backend/fake/shapes';
import type { Outcome, TurnState } from '$lib/backend/types';
import { mountIn, startedApp } from '../../../test/mount';
import { onWindowKey } from '../../shell/keys';
import Shell from '../../shell/Shell.svelte';
import Turn from '../../transcript/Turn.svelte';
import { isFinal, isRunning, problemOf } from './labels';

const fast = { prepareMs: 5, frameMs: 5, chars: 400, syncMs: 5, commitMs: 5 };
/** Answers that stream and never end. */
const endless = { prepareMs: 5, frameMs: 5, chars: 1, syncMs: 5, commitMs: 5 };

async function opened(pace: Partial<typeof fast> = fast) {
  const started = await startedApp({ pace });
  mountIn(started.app, Shell, {});
  return { ...started, user: userEvent.setup() };
}

/** A message sent to both configured models, with the view of their answers open. */
async function askTwoModels(pace = fast) {
  const started = await opened(pace);
  const { app, user } = started;
  await user.click(screen.getByRole('button', { name: /^Model and effort: sonnet/ }));
  const dialog = await screen.findByRole('dialog', { name: 'Model and effort' });
  await user.click(within(dialog).getByRole('radio', { name: 'Several models' }));
  expect(within(dialog).getByRole('button', { name: 'Use 1 model' })).toBeDisabled();
  await user.click(within(dialog).getByRole('button', { name: /^local/ }));
  await user.click(within(dialog).getByRole('button', { name: 'Use 2 models' }));
  expect(await screen.findByRole('button', { name: 'Model and effort: 2 models' })).toBeVisible();
  app.draft.typed = 'Which index would you add?';
  await app.composer.send();
  const view = await screen.findByRole('region', { name: 'Answers side by side' });
  const column = async (model: string) => within(await within(view).findByRole('region', { name: `Answer from ${model}` }));
  return { ...started, view, first: await column('sonnet'), second: await column('local'), column };
}

describe('one message to several models', () => {
  it('goes to all of them, each on its own branch, and can be sent to one more afterwards', async () => {
    const { app, backend, view, first, second } = await askTwoModels();
    expect(within(view).getByRole('heading', { name: '2 answers to #1' })).toBeVisible();
    expect(within(view).getByText('Which index would you add?')).toBeVisible();
    expect(app.composer.several).toEqual(['sonnet', 'local']); // for the next messages too
    expect(app.draft.isEmpty).toBe(true);
    const branches = backend.store.session(app.conversation.sessionId).branchIds.map((id) => backend.store.branch(id));
    expect(branches.map(({ view: branch, turns }) => [branch.label, turns[0]?.model])).toEqual([['main', 'sonnet'], ['from #1: local', 'local']]);
    await waitFor(() => expect(first.getByText(/1 840 in/)).toBeVisible());
    await waitFor(() => expect(second.getByText(/1 840 in/)).toBeVisible());
    expect(first.getByText('you are here')).toBeVisible();
    expect(second.queryByText('you are here')).toBeNull();
  });

  it('continues with one of them, on its branch', async () => {
    const { app, backend, user, second } = await askTwoModels();
    await user.click(second.getByRole('button', { name: 'Continue with local' }));
    await waitFor(() => expect(app.conversation.newest?.model).toBe('local'));
    expect(screen.queryByRole('region', { name: 'Answers side by side' })).toBeNull();
    expect(backend.store.session(app.conversation.sessionId).row.activeBranch).toBe(app.conversation.branchId);
    // The answers are loaded again from the turn, as after a restart.
    await app.branches.refresh();
    mountIn(app, Turn, { turn: app.conversation.newest!, index: 0 });
    await user.click(await screen.findByRole('button', { name: 'Answers side by side' }));
    expect(await screen.findByRole('region', { name: 'Answer from sonnet' })).toBeVisible();
  });

  it('shows each while it arrives, and stops only one', async () => {
    const { user, first, second, backend, app } = await askTwoModels(endless);
    for (const answer of [first, second]) await waitFor(() => expect(answer.getByText(/B saved$/)).toBeVisible());
    const order = () => second.getAllByRole('button').map((button) => button.getAttribute('aria-label'));
    expect(order().slice(0, 2)).toEqual(['Continue with local', 'Stop local']); // nothing slides under the pointer on Stop
    await user.click(second.getByRole('button', { name: 'Stop local' }));
    await waitFor(() => expect(second.getByText(/^Stopped/)).toBeVisible());
    expect(first.getByRole('button', { name: 'Stop sonnet' })).toBeVisible();
    expect(backend.store.lineage(app.conversation.branchId)[0]?.live).toBe(true);
  });

  it('merges the final answers into one, in a visible message', async () => {
    const { app, user, view, first, second } = await askTwoModels();
    for (const answer of [first, second]) await waitFor(() => expect(answer.getByText(/1 840 in/)).toBeVisible());
    await user.click(within(view).getByRole('button', { name: 'Merge' }));
    expect(await screen.findByRole('menuitem', { name: /^sonnet/ })).toHaveTextContent('Anthropic');
    expect(screen.queryByRole('menuitem', { name: /^recall/ })).toBeNull(); // it cannot combine answers
    await user.click(screen.getByRole('menuitem', { name: /^sonnet/ }));
    await waitFor(() => expect(app.conversation.newest?.user[0]?.text).toContain('2 models answered the question'));
    expect(app.conversation.header?.branchLabel).toBe('from #1: merged by sonnet');
    expect(screen.queryByRole('region', { name: 'Answers side by side' })).toBeNull();
  });

  it('cannot merge answers that are not final', async () => {
    const { view } = await askTwoModels(endless);
    expect(within(view).getByRole('button', { name: 'Merge' })).toBeDisabled();
  });

  it('moves between the answers with the arrow keys, and closes with Esc', async () => {
    const { user, first, second } = await askTwoModels();
    const [left, right] = [first.getByRole('group', { name: /^sonnet/ }), second.getByRole('group', { name: /^local/ })];
    left.focus();
    await user.keyboard('{ArrowRight}');
    expect(right).toHaveFocus();
    await user.keyboard('{ArrowRight}');
    expect(right).toHaveFocus();
    await user.keyboard('{ArrowLeft}');
    expect(left).toHaveFocus();
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Answers side by side' })).toBeNull());
  });

  it('opens with the focus in the message field, so that a space presses no button and Esc closes it', async () => {
    const { app, user, view } = await askTwoModels();
    await waitFor(() => expect(within(view).getByRole('textbox', { name: 'Your message' })).toHaveFocus());
    await user.keyboard('  ');
    expect(app.branches.fullView).toMatchObject({ kind: 'answers' });
    await user.keyboard('{Escape}');
    expect(app.branches.fullView).toBeNull();
  });

  it('stays open when something is typed, which goes into the message below', async () => {
    const { app, user } = await askTwoModels();
    const onKeyDown = (event: KeyboardEvent) => onWindowKey(app, event);
    addEventListener('keydown', onKeyDown);
    await user.keyboard('And a partial one?');
    removeEventListener('keydown', onKeyDown);
    expect(app.branches.fullView).not.toBeNull();
    expect(app.draft.text).toBe('And a partial one?');
  });

  it('waits for the arriving answer', async () => {
    const { app, backend } = await opened(endless);
    app.draft.typed = 'One';
    await app.composer.send();
    app.composer.useSeveral(['sonnet', 'local']);
    app.draft.typed = 'Two';
    expect(app.composer.disabledReason).toBe('Several models can be asked once this answer is final');
    expect(screen.getByRole('button', { name: /^Queue/ })).toBeDisabled();
    await app.composer.submit();
    expect(backend.calls.some((call) => call.name === 'chat.sendToSeveral')).toBe(false);
    app.composer.useSeveral([]);
    expect(app.composer.disabledReason).toBe('');
  });

  it('shows the same number of answers to an edited message, beside it', async () => {
    const { app, backend } = await askTwoModels();
    app.branches.closeFullView();
    await waitFor(() => expect(app.conversation.newest?.state).toBe('head'));
    app.composer.edit(app.conversation.newest!);
    app.draft.text = 'Which one, and why?';
    app.composer.useSeveral(['local', 'sonnet']);
    await app.composer.send();
    const messages = backend.store.session(app.conversation.sessionId).branchIds.map((id) => backend.store.branch(id).turns[0]).map((turn) => `${turn?.model}: ${turn?.user[0]?.text}`);
    expect(messages.sort()).toEqual(['local: Which index would you add?', 'local: Which one, and why?', 'sonnet: Which index would you add?', 'sonnet: Which one, and why?']);
    expect(app.branches.fullView).toEqual({ kind: 'answers', turnId: app.conversation.newest?.id });
  });

  it('asks the same models again in this session, and one in others', async () => {
    const { app, backend } = await askTwoModels();
    await waitFor(() => expect(app.conversation.newest?.state).toBe('head'));
    const { sessionId } = app.conversation;
    app.draft.typed = 'And the second?';
    await app.composer.send();
    expect(backend.calls.filter((call) => call.name === 'chat.sendToSeveral').map((call) => call.args[1])).toEqual([['sonnet', 'local'], ['sonnet', 'local']]);
    await app.navigation.newSession();
    expect(app.composer.several).toEqual([]);
    await app.navigation.openSession(sessionId);
    expect(app.composer.several).toEqual(['sonnet', 'local']);
  });

  it('reports why it was not sent, and keeps the text', async () => {
    const { app, backend } = await opened();
    app.composer.useSeveral(['sonnet', 'local']);
    app.draft.typed = 'Hello';
    backend.failNext('chat.sendToSeveral', { message: 'The model local has no key' });
    await app.composer.send();
    expect(app.composer.error?.message).toBe('The model local has no key');
    expect(app.draft.text).toBe('Hello');
    expect(app.composer.several).toEqual(['sonnet', 'local']);
  });
});

it('asks another model from an answered turn', async () => {
  const { app, backend, user } = await opened();
  backend.store.addTurn(app.conversation.branchId, { user: [block('text', 'Why?')], assistant: [block('text', 'Because.')], state: 'head', model: 'sonnet' });
  await app.navigation.openSession(app.conversation.sessionId);
  mountIn(app, Turn, { turn: app.conversation.newest!, index: 0 });
  await user.click(screen.getByRole('button', { name: 'Ask another model' }));
  await user.click(await screen.findByRole('menuitem', { name: /^local/ }));
  expect(await screen.findByRole('region', { name: 'Answer from local' })).toBeVisible();
  expect(within(screen.getByRole('region', { name: 'Answer from sonnet' })).getByText('Because.')).toBeVisible();
});

it('an answer is final, running, or has a problem', () => {
  const turnIn = (state: TurnState, outcome: Outcome = '') => turnView({ state, outcome });
  expect((['head', 'pending', 'committed', 'degraded'] as const).every((state) => isFinal(turnIn(state)) && !isRunning(turnIn(state)) && problemOf(turnIn(state)) === '')).toBe(true);
  expect((['accepted', 'preparing', 'responding', 'waiting'] as const).every((state) => isRunning(turnIn(state)) && !isFinal(turnIn(state)))).toBe(true);
  expect(problemOf(turnIn('failed', 'discarded'))).toBe('Discarded');
  expect(problemOf({ ...turnIn('incomplete'), error: { code: 'unavailable', op: '', message: 'The server went away', hint: '' } })).toBe('Incomplete answer. The server went away');
});
