import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { mountWith } from '$shared/testing/harness';
import { App } from '$lib/state/app.svelte';
import { startedApp } from '../../test/mount';
import Inspector from './Inspector.svelte';

const called = (backend: { calls: { name: string; args: unknown[] }[] }, name: string) =>
  backend.calls.filter((call) => call.name === name).map((call) => call.args);

async function open(tab: 'pending' | 'memory' | 'xray' | 'state' | 'activity', prepare?: Parameters<typeof mountWith>[3]) {
  const mounted = await mountWith(Inspector, (app) => {
    if (tab === 'pending') app.inspector.showPending();
    else app.inspector.select(tab);
    return {};
  }, {}, prepare);
  return { ...mounted, user: userEvent.setup() };
}

describe('tabs', () => {
  test('arrows move and select, and wrap around', async () => {
    const { app, user } = await open('pending');
    screen.getByRole('tab', { name: /State/ }).focus();
    await user.keyboard('{ArrowLeft}');
    expect(app.inspector.tab).toBe('xray');
    await user.keyboard('{Home}');
    await user.keyboard('{ArrowLeft}');
    expect(app.inspector.tab).toBe('activity');
    expect(screen.getByRole('tab', { name: /Activity/ })).toHaveFocus();
    await user.keyboard('{Home}');
    expect(app.inspector.tab).toBe('branches');
  });
});

describe('jobs', () => {
  test('done jobs are folded away from the others', async () => {
    const { user } = await open('activity', ({ store }) => void store.jobs.push({ ...store.jobs[0]!, id: 90, state: 'done', turnSeq: 90 }));
    const fold = await screen.findByText('1 job finished recently');
    expect(screen.queryByRole('button', { name: /Postgres #90$/ })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: /Postgres #144$/ })).toBeInTheDocument();
    await user.click(fold);
    expect(await screen.findByRole('button', { name: /Postgres #90$/ })).toBeInTheDocument();
  });
});

test('says that only the last jobs are listed where there are more', async () => {
  await open('activity', ({ store }) => {
    for (let id = 100; id < 200; id++) store.jobs.push({ ...store.jobs[0]!, id, state: 'done' });
  });
  expect(await screen.findByText('The last 100 finished jobs')).toBeInTheDocument();
});

describe('background work', () => {
  test('is paused and resumed beside the jobs, with a text', async () => {
    const { app, backend, user } = await open('activity');
    await user.click(await screen.findByRole('button', { name: 'Pause' }));
    expect(await screen.findByText('Background work is paused')).toBeInTheDocument();
    expect(screen.getByText(/Their turns stay pending/)).toBeInTheDocument();
    expect(called(backend, 'work.pause')).toEqual([[true]]);
    backend.failNext('work.pause', { message: 'The disk is full', hint: 'Free some space.' });
    await user.click(screen.getByRole('button', { name: 'Resume' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    expect(app.work.paused).toBe(true);
    await user.click(screen.getByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(app.work.paused).toBe(false));
    expect(screen.queryByText(/Their turns stay pending/)).not.toBeInTheDocument();
  });
});

describe('Pending', () => {
  test('shows why each turn is pending, in order', async () => {
    await open('pending');
    const cards = await screen.findAllByRole('article');
    expect(cards).toHaveLength(2);
    expect(within(cards[0]!).getByText('Its summary is being written')).toBeInTheDocument();
    expect(within(cards[1]!).getByText('It waits for #149')).toBeInTheDocument();
  });

  test('says what the next context does with a turn, and names its job', async () => {
    const outcomes = [{ inContext: true, leftOut: false }, { inContext: false, leftOut: true }, { inContext: false, leftOut: false }];
    await open('pending', ({ inspect, store }) => {
      inspect.pending = async () =>
        outcomes.map((outcome, i) => ({ ...outcome, turnId: `p${i}`, seq: 149 + i, title: 'Pending', tokens: 90, reason: 'It waits', waitsFor: '', job: store.jobs[0]!, createdAt: store.epoch }));
    });
    const [full, out, unknown] = await screen.findAllByRole('article');
    expect(full).toHaveTextContent(/Job ?Summarize turn \(job 1\).*Next context In full/);
    expect(out).toHaveTextContent('it does not fit');
    expect(unknown).toHaveTextContent('Not known: the next context cannot be assembled');
    expect(unknown).not.toHaveTextContent('it does not fit');
  });

  test('"Summarize pending turns" empties it', async () => {
    const { app, backend, user } = await open('pending');
    await user.click(await screen.findByRole('button', { name: 'Summarize pending turns' }));
    expect(called(backend, 'inspect.commitNow')).toEqual([[app.conversation.branchId]]);
    expect(await screen.findByText('Nothing pending')).toBeInTheDocument();
    expect(screen.queryByRole('article')).toBeNull();
  });

  test('is one line of the State tab until it is opened, and nothing below moves when it is empty', async () => {
    const { app, user } = await open('state');
    const toggle = await screen.findByRole('button', { name: 'Pending turns' });
    expect(screen.queryByRole('article')).toBeNull();
    await user.click(toggle);
    expect(await screen.findAllByRole('article')).toHaveLength(2);
    await app.navigation.newSession();
    expect(await screen.findByText('Nothing pending')).toBeInTheDocument();
  });

  test('a failed commit is shown in the panel, with what to do', async () => {
    const { backend, user } = await open('pending');
    backend.failNext('inspect.commitNow', { message: 'The disk is full', hint: 'Free some space and commit again.' });
    await user.click(await screen.findByRole('button', { name: 'Summarize pending turns' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    expect(screen.getByRole('alert')).toHaveTextContent('Free some space and commit again.');
    expect(screen.getAllByRole('article')).toHaveLength(2);
  });

  test('a job is dismissed and retried', async () => {
    const { backend, user } = await open('pending');
    await user.click(await screen.findByRole('button', { name: 'Dismiss' }));
    expect(called(backend, 'inspect.dismissJob')).toHaveLength(1);
    await user.click(await screen.findByRole('button', { name: 'Retry now' }));
    expect(called(backend, 'inspect.retryJob')).toEqual(called(backend, 'inspect.dismissJob'));
  });

  test('an answer that needs a decision is listed with the choices', async () => {
    const { app, backend, user } = await open('pending');
    await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Every state of a turn')!.row.id);
    expect(await screen.findByText('Needs your decision')).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Keep' }));
    expect(called(backend, 'chat.keep')).toHaveLength(1);
    await waitFor(() => expect(screen.queryByText('Needs your decision')).not.toBeInTheDocument());
  });

  test('the number of a turn links to it', async () => {
    const { app, user } = await open('pending');
    await user.click(await screen.findByRole('button', { name: '#149' }));
    await waitFor(() => expect(app.conversation.intent.to).toBe('turn'));
    expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(149);
  });

  test('a change of the jobs appears without a reload', async () => {
    const { app, backend } = await open('pending');
    await screen.findAllByRole('article');
    await backend.inspect.commitNow(app.conversation.branchId);
    expect(await screen.findByText('Nothing pending')).toBeInTheDocument();
  });
});

describe('State', () => {
  test('editing a pin creates a new version', async () => {
    const { backend, user } = await open('state');
    await user.click(await screen.findByRole('button', { name: 'Edit fact 1' }));
    const field = screen.getByRole('textbox', { name: 'Edit fact 1' });
    await user.clear(field);
    await user.type(field, 'No change on a Friday, nor on a Monday.{Enter}');
    expect(await screen.findByText('No change on a Friday, nor on a Monday.')).toBeInTheDocument();
    expect(called(backend, 'inspect.editPin')[0]?.[2]).toBe('No change on a Friday, nor on a Monday.');
    expect(screen.getByRole('button', { name: 'Edit fact 1' })).toBeInTheDocument();
  });

  test('Esc leaves a pin unchanged', async () => {
    const { backend, user } = await open('state');
    await user.click(await screen.findByRole('button', { name: 'Edit fact 1' }));
    await user.type(screen.getByRole('textbox', { name: 'Edit fact 1' }), ' x{Escape}');
    expect(screen.queryByRole('textbox')).not.toBeInTheDocument();
    expect(called(backend, 'inspect.editPin')).toEqual([]);
  });

  test('a failed edit keeps the typed text', async () => {
    const { backend, user } = await open('state');
    backend.failNext('inspect.editPin', { message: 'The fact is too long', hint: 'Shorten it.' });
    await user.click(await screen.findByRole('button', { name: 'Edit fact 1' }));
    await user.type(screen.getByRole('textbox', { name: 'Edit fact 1' }), ' and more{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The fact is too long Shorten it.');
    expect(screen.getByRole('textbox', { name: 'Edit fact 1' })).toHaveValue('No change goes out on a Friday. and more');
  });

  test('arrows on the grip reorder, and keep the focus', async () => {
    const { backend, user } = await open('state');
    const grip = await screen.findByRole('button', { name: /Move fact 1 of 2/ });
    grip.focus();
    await user.keyboard('{ArrowDown}');
    await waitFor(() => expect(called(backend, 'inspect.movePin')[0]?.[2]).toBe(1));
    await waitFor(() => expect(screen.getByRole('button', { name: /Move fact 2 of 2/ })).toHaveFocus());
    expect(screen.getByText('Fact moved to position 2 of 2')).toBeInTheDocument();
  });

  test('undo restores an unpinned fact in its position', async () => {
    const { user } = await open('state');
    await user.click(await screen.findByRole('button', { name: 'Unpin fact 1' }));
    await waitFor(() => expect(screen.queryByText('No change goes out on a Friday.')).not.toBeInTheDocument());
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    const restored = await screen.findByText('No change goes out on a Friday.');
    await waitFor(() => expect(restored.closest('li')?.previousElementSibling).toBeNull());
  });

  test('a fact is pinned', async () => {
    const { backend, user } = await open('state');
    await user.click(await screen.findByRole('button', { name: 'Pin a fact' }));
    expect(screen.getByRole('button', { name: 'Pin' })).toBeDisabled();
    await user.type(screen.getByRole('textbox', { name: 'New pinned fact' }), 'The window is 05:00 to 06:00.');
    await user.click(screen.getByRole('button', { name: 'Pin' }));
    expect(await screen.findByText('The window is 05:00 to 06:00.')).toBeInTheDocument();
    expect(called(backend, 'inspect.addPin')).toHaveLength(1);
  });

  test('an older state is shown, and rolled back to only after a confirmation', async () => {
    const { app, backend, user } = await open('state');
    await user.click(await screen.findByRole('button', { name: /#146/ }));
    await user.click(screen.getByRole('button', { name: 'Roll back' }));
    expect(called(backend, 'sessions.rollback')).toEqual([]);
    const dialog = screen.getByRole('dialog');
    expect(dialog).toHaveTextContent('A new branch starts after turn #146');
    expect(dialog).toHaveTextContent('Nothing is deleted');
    expect(dialog).toHaveTextContent('Throttle the backfill.');
    expect(dialog).not.toHaveTextContent('## ');
    await user.click(within(dialog).getByRole('button', { name: 'Roll back' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(called(backend, 'sessions.rollback')).toHaveLength(1);
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('back to #146'));
  });
});

describe('State: how it was made', () => {
  test('shows how a state was checked, and why another was made without a model', async () => {
    const { user } = await open('state');
    expect(await screen.findByText('Passed on attempt 1')).toBeInTheDocument();
    expect(screen.getByText('Numbers').closest('div')).toHaveTextContent('22 of 22');
    await user.click(screen.getByRole('button', { name: /#146/ }));
    expect(screen.getByText('Generated without a model, after 2 failed attempts')).toBeInTheDocument();
    expect(screen.getByText("Reason: The model's summary is not about the conversation")).toBeInTheDocument();
    await user.click(screen.getByText(/2 items are not in the summary/));
    expect(await screen.findByText('drift --all')).toBeInTheDocument();
  });

  test('shows what the model lost and what was added by rule', async () => {
    const { user } = await open('state');
    await user.click(await screen.findByRole('button', { name: /#147/ }));
    expect(screen.getByText('Repaired after 2 attempts: 1 entry added')).toBeInTheDocument();
    expect(screen.getByText('Made by: librarian, haiku')).toBeInTheDocument();
    expect(screen.getByText("An earlier answer was not used: The model's summary dropped required facts")).toBeInTheDocument();
    await user.click(screen.getByText(/1 entry added by rule/));
    expect(await screen.findByText('Never run drift --all.')).toBeInTheDocument();
  });

  test('any two states can be compared, in one column or two', async () => {
    const { user } = await open('state');
    const changes = await screen.findByRole('group', { name: 'Changes from #147 K147 to #148 K148' });
    expect(changes).toHaveTextContent('gone: −The backfill copies 2 000 rows a second.');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Against which state' }), '#145 K145');
    expect(screen.getByRole('group', { name: 'Changes from #145 K145 to #148 K148' })).toHaveTextContent('Dual writes stay on for 14 days');
    await user.click(screen.getByRole('radio', { name: 'Side by side' }));
    expect(screen.getByRole('group', { name: '#145 K145 beside #148 K148' })).toHaveTextContent('Throttle the backfill.');
  });

  test('ranges are shown beside the turns they cover, superseded ones folded', async () => {
    const { app, backend, user } = await open('state');
    await user.click(await screen.findByRole('button', { name: 'Extract of turns 91 to 136' }));
    expect(screen.getByRole('group', { name: 'Extract of turns 91 to 136' })).toHaveTextContent('Turns 91 to 136: the orders tables');
    expect(screen.getByText('replace all turns up to #136')).toBeInTheDocument();
    expect(screen.queryByText(/^Repaired after/)).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Summary of turns 1 to 90' }));
    expect(screen.getByText('Repaired after 1 attempt: 1 entry added')).toBeInTheDocument();
    expect(screen.queryByRole('button', { name: 'Summary of turns 1 to 44' })).not.toBeInTheDocument();
    await user.click(screen.getByText('2 superseded ones, kept'));
    expect(await screen.findByRole('button', { name: 'Summary of turns 1 to 44' })).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Go to turn 91' }));
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(91));
    await user.click(screen.getByRole('button', { name: 'Summarize now' }));
    await waitFor(() => expect(screen.getByRole('button', { name: 'Summarize all' })).toBeEnabled());
    await user.click(screen.getByRole('button', { name: 'Summarize all' }));
    expect(called(backend, 'inspect.summarize')).toEqual([[app.conversation.branchId, false], [app.conversation.branchId, true]]);
  });
});

describe('Activity', () => {
  test('a failed job is retried', async () => {
    const { backend, user } = await open('activity');
    expect(await screen.findByText('Last error: database or disk is full')).toBeVisible();
    await user.click(screen.getByRole('button', { name: /Retry “Index turn” for turn 144/ }));
    expect(called(backend, 'inspect.retryJob')).toHaveLength(1);
    await waitFor(() => expect(screen.queryByText('database or disk is full')).not.toBeInTheDocument());
  });

  test('the recovery report links to the turn to decide on', async () => {
    const { app, user } = await open('activity');
    const report = await screen.findByRole('article', { name: 'Recovery report' });
    await user.click(within(report).getAllByRole('button', { name: /Decide/ })[0]!);
    await waitFor(() => expect(app.conversation.intent.to).toBe('turn'));
  });

  test('a finding that was decided or deleted meanwhile disappears', async () => {
    const { app, backend, user } = await open('activity');
    const report = await screen.findByRole('article', { name: 'Recovery report' });
    const [first] = within(report).getAllByRole('button', { name: /Decide/ });
    const name = first!.textContent!;
    const { items } = (await backend.inspect.activity('')).recovery;
    const before = app.conversation.sessionId;
    backend.store.turn(items[0]!.turnId).state = 'head'; // without a change event yet
    await user.click(first!);
    expect(app.toasts.list.map((toast) => toast.tone)).toEqual(['info']);
    expect(app.toasts.list[0]!.text).toMatch(/^Turn \d+ of .* has since been resolved or deleted\./);
    expect(within(report).queryByRole('button', { name })).toBeNull();
    expect(within(report).getAllByRole('button', { name: /Decide/ })).toHaveLength(items.length - 1);
    expect([app.conversation.sessionId, app.conversation.intent.to]).not.toContain('turn');
    expect(app.conversation.sessionId).toBe(before);
  });

  test('raw bytes are loaded only on request, and shown unchanged', async () => {
    const { backend, user } = await open('activity');
    await user.click(await screen.findByRole('button', { name: '#148' }));
    await screen.findByRole('article', { name: /Attempt 1/ });
    expect(called(backend, 'inspect.rawStep')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Raw' }));
    const dialog = screen.getByRole('dialog');
    expect(await within(dialog).findByText(/"max_tokens": 8000/)).toBeInTheDocument();
    await user.click(within(dialog).getByRole('radio', { name: 'Exact text' }));
    expect(within(dialog).getByText(/"max_tokens":8000/)).toBeInTheDocument();
    await user.click(within(dialog).getByRole('tab', { name: /Events/ }));
    expect(within(dialog).getAllByText('content_block_delta')).toHaveLength(3);
    await user.click(within(dialog).getByRole('tab', { name: 'Response' }));
    expect(within(dialog).getByText('The response was a stream')).toBeInTheDocument();
  });

  test('a very long stream shows where events are left out, and keeps the numbers of the others', async () => {
    const { backend, user } = await open('activity');
    const step = { ...(await backend.inspect.rawStep('s')), leftOut: 1_000, leftOutAfter: 2, leftOutBytes: 5_000_000 };
    backend.inspect.rawStep = async () => step;
    await user.click(await screen.findByRole('button', { name: '#148' }));
    await screen.findByRole('article', { name: /Attempt 1/ });
    await user.click(screen.getByRole('button', { name: 'Raw' }));
    const dialog = screen.getByRole('dialog');
    await user.click(await within(dialog).findByRole('tab', { name: /Events/ }));
    const rows = within(dialog).getAllByRole('listitem').map((row) => row.textContent.trim());
    expect(rows).toHaveLength(4);
    expect(rows[2]).toMatch(/^1.000 events \(.*\) are left out here\. All of them: contextinfinity show SESSION --raw /);
    expect(rows[3]).toMatch(/^1003/);
  });

  test.each([
    [{ selected: 2, packedTokens: 420, similarityMin: 0.91, similarityMax: 0.98 }, 'Memory: 2 pieces of 296 packed, 420 tokens, similarity 0.91 to 0.98'],
    [{ selected: 1, packedTokens: 90, similarityMin: 0, similarityMax: 0 }, 'Memory: 1 piece of 296 packed, 90 tokens'],
    [{ selected: 0, packedTokens: 0, similarityMin: 0, similarityMax: 0 }, 'Memory: none of 296 packed'],
    [{ retrievalFailed: true, retrievalError: 'the index is closed' }, 'Memory could not be searched: the index is closed'],
    [{ retrievalFailed: true, retrievalError: '' }, 'The first memory search failed; a later attempt succeeded.'],
    [{ validationResult: 'repaired', validationTries: 2 }, 'State summary: repaired, 2 attempts'],
    [{ embedMs: 4321 }, '4.3 s'],
  ])('shows the memory used %#', async (metrics, text) => {
    const { app, backend } = await open('pending');
    const activity = await backend.inspect.activity(app.conversation.branchId);
    const turn = { ...activity.turns[0]!, ...metrics };
    backend.inspect.activity = async () => ({ ...activity, turns: [turn] });
    app.inspector.show('activity', turn.turnId);
    expect(await screen.findByText(text)).toBeInTheDocument();
  });

  test('requested attempts are expanded', async () => {
    const { app } = await open('pending');
    const turn = app.conversation.turns.at(-1)!;
    app.inspector.show('activity', turn.id);
    expect(await screen.findByRole('article', { name: /Attempt 1/ })).toBeInTheDocument();
  });
});

describe('content that stays on the screen', () => {
  test('another turn of the same branch does not clear a panel', async () => {
    const { app, backend } = await open('pending');
    await screen.findByRole('article', { name: 'Turn 150, pending' });
    const before = called(backend, 'inspect.pending').length;
    const release = backend.hold('inspect.pending');
    const { header } = app.conversation;
    backend.store.changed('settings', '', ''); // the header is reloaded, as after each turn
    await waitFor(() => expect(app.conversation.header).not.toBe(header));
    await Promise.resolve();
    expect(called(backend, 'inspect.pending')).toHaveLength(before);
    expect(screen.getByRole('article', { name: 'Turn 150, pending' })).toBeVisible();
    release();
  });

  test('a turn that needs a decision is counted', async () => {
    const { app } = await open('pending', (backend) => {
      const session = [...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!;
      for (const turn of backend.store.lineage(session.row.activeBranch)) if (turn.state === 'pending') turn.state = 'committed';
      backend.store.lineage(session.row.activeBranch).at(-1)!.state = 'incomplete';
    });
    await waitFor(() => expect(app.conversation.newest?.state).toBe('incomplete'));
    expect(await screen.findByText('1 turn needs your decision')).toBeVisible();
    expect(screen.queryByText(/Nothing pending/)).toBeNull();
    expect(screen.getByRole('tab', { name: /State.*1/ })).toBeVisible();
  });

  test('a turn with waiting tool calls is counted, with a link to decide', async () => {
    const { app, user } = await open('pending', (backend) => {
      const session = [...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!;
      for (const turn of backend.store.lineage(session.row.activeBranch)) if (turn.state === 'pending') turn.state = 'committed';
      backend.store.lineage(session.row.activeBranch).at(-1)!.state = 'waiting';
    });
    await waitFor(() => expect(app.conversation.newest?.state).toBe('waiting'));
    expect(await screen.findByText('1 turn needs your decision')).toBeVisible();
    expect(screen.queryByText(/Nothing pending/)).toBeNull();
    expect(screen.getByRole('tab', { name: /State.*1/ })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Decide' }));
    expect(app.tools.open).toBe(true);
  });
});

test('the inspector opens on the tab of the last time', async () => {
  const { app } = await startedApp();
  app.inspector.show('memory');
  expect(new App(app.backend).inspector.tab).toBe('memory');
});
