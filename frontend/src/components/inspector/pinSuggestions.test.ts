import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { mountWith } from '$shared/testing/harness';
import ComposerNotices from '../composer/ComposerNotices.svelte';
import PinSuggestions from './PinSuggestions.svelte';

const user = userEvent.setup();
const called = (backend: { calls: { name: string; args: unknown[] }[] }, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);

type Prepare = NonNullable<Parameters<typeof mountWith>[3]>;
const withSuggestions = (...seqs: number[]): Prepare => (backend) => {
  for (const branch of backend.store.branches.values()) {
    branch.suggested = seqs.map((seq) => ({ id: `${branch.view.id}/${seq}`, turnId: `t${seq}`, turnSeq: seq, text: `Always answer in German (${seq})` }));
  }
};

describe('beside the composer', () => {
  test('the newest standing instruction is offered, and pinned with one click', async () => {
    const { app, backend } = await mountWith(ComposerNotices, {});
    const branch = backend.store.branch(app.conversation.branchId);
    branch.suggested = [{ id: 's1', turnId: 't', turnSeq: app.conversation.lastSeq, text: 'Always answer in German' }];
    backend.store.changed('pins', branch.view.id, app.conversation.sessionId);
    const offer = await screen.findByText('Pin for every request: “Always answer in German”');
    await user.click(within(offer.parentElement!).getByText('Pin'));
    await waitFor(() => expect(called(backend, 'inspect.acceptSuggestedPin')).toEqual([['s1', 'Always answer in German']]));
    await waitFor(() => expect(screen.queryByText(/Pin for every request/)).not.toBeInTheDocument());
    const [pin] = branch.pins.slice(-1);
    await app.undo.undo();
    expect(branch.pins.map(({ id }) => id)).not.toContain(pin!.id);
  });

  test('one from an old turn is not offered', async () => {
    const { app } = await mountWith(ComposerNotices, {}, {}, withSuggestions(2));
    await waitFor(() => expect(app.suggestions.list).toHaveLength(1));
    expect(screen.queryByText(/Pin for every request/)).not.toBeInTheDocument();
  });
});

describe('in the State tab', () => {
  async function list(...seqs: number[]) {
    let jumped = '';
    const mounted = await mountWith(PinSuggestions, (app) => ({ branchId: app.conversation.branchId, onjump: (turnId: string) => (jumped = turnId) }), {}, withSuggestions(...seqs));
    await screen.findByLabelText('Suggested pins');
    return { ...mounted, jumped: () => jumped };
  }

  test('all are listed, only some at first, each with its turn', async () => {
    const { jumped } = await list(9, 8, 7, 6, 5, 4);
    expect(screen.getAllByRole('listitem')).toHaveLength(5);
    await user.click(screen.getByText('Show all 6'));
    expect(screen.getAllByRole('listitem')).toHaveLength(6);
    await user.click(screen.getByLabelText('Go to turn 7'));
    expect(jumped()).toBe('t7');
  });

  test('one is pinned or dismissed, and the group disappears with the last', async () => {
    const { app, backend } = await list(9, 8);
    await user.click(screen.getByLabelText('Pin: Always answer in German (9)'));
    await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(1));
    expect(backend.store.branch(app.conversation.branchId).pins.at(-1)?.text).toBe('Always answer in German (9)');
    await user.click(screen.getByLabelText('Dismiss: Always answer in German (8)'));
    await waitFor(() => expect(screen.queryByLabelText('Suggested pins')).not.toBeInTheDocument());
    expect(called(backend, 'inspect.dismissSuggestedPin')).toHaveLength(1);
  });

  test('an error keeps the suggestion', async () => {
    const { app, backend } = await list(9);
    backend.failNext('inspect.acceptSuggestedPin', { message: 'The disk is full', hint: '' });
    await app.suggestions.accept(app.suggestions.list[0]!);
    expect(app.toasts.list.map((toast) => toast.text).join()).toContain('The disk is full');
    expect(screen.getAllByRole('listitem')).toHaveLength(1);
  });

  test('another branch does not show them', async () => {
    const { app } = await list(9);
    await app.suggestions.follow('');
    expect(app.suggestions.list).toEqual([]);
  });
});
