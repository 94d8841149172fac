import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { block } from '$lib/backend/fake/shapes';
import type { FakeBackend } from '$lib/backend/fake';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountWith } from '$shared/testing/harness';
import { startedApp } from '../../test/mount';
import Shell from '../shell/Shell.svelte';
import { list } from './listing';

type Prepare = Parameters<typeof mountWith>[3];

/** The window with the tree of “Orders to Postgres”: dual-write, with forks after #35, #82 and #142. */
async function open(prepare?: Prepare) {
  const mounted = await mountWith(Shell, (app) => {
    app.inspector.select('branches');
    return {};
  }, {}, prepare);
  await screen.findByRole('tree', { name: 'Branches' });
  return { ...mounted, user: userEvent.setup() };
}

const node = (name: RegExp) => screen.getByRole('treeitem', { name });
const focused = () => document.activeElement?.getAttribute('aria-label') ?? '';
const card = () => screen.getByRole('region', { name: /^Selected: / });
const calls = (backend: FakeBackend, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
const branchNamed = (backend: FakeBackend, label: string) => [...backend.store.branches.values()].find((branch) => branch.view.label === label)!;

describe('the tree', () => {
  test('names every run with all its signs, and marks the current position', async () => {
    await open();
    expect(screen.getAllByRole('treeitem')).toHaveLength(7);
    expect(node(/^dual-write, #143 to #150, 8 turns, .*you are here, .*2 pending, head #149/)).toHaveAttribute('aria-selected', 'true');
    expect(node(/^#1 to #35, 35 turns, Question 1 about.*2 branches from here, on the open branch/)).toHaveAttribute('aria-level', '1');
    expect(node(/^big-bang-window/)).toHaveAttribute('aria-level', '2');
    expect(screen.getAllByRole('treeitem').filter((item) => item.tabIndex === 0)).toHaveLength(1);
  });

  test.each([['en', 'Permanently deleted'], ['de', 'Endgültig gelöscht'], ['zh-CN', '已永久删除']])('says in %s that the last turn was permanently deleted', async (language, text) => {
    await open((backend) => {
      const turn = backend.store.lineage(branchNamed(backend, 'dual-write').view.id).at(-1)!;
      Object.assign(turn, { user: [block('text', '[erased]')], assistant: [block('text', '[erased]')], deletedAt: 1 });
    });
    await chooseLanguage(language, []);
    const row = await screen.findByRole('treeitem', { name: /^dual-write/ });
    await waitFor(() => expect(row).toHaveTextContent(text));
    const details = document.querySelector<HTMLElement>('section.card')!;
    await waitFor(() => expect(details).toHaveTextContent(text));
    for (const shown of [row, details]) expect(shown).not.toHaveTextContent('[erased]');
    await chooseLanguage('en', []);
  });

  test('shows the text “[erased]” of turns that were not deleted, which search finds', async () => {
    const { user } = await open((backend) => {
      backend.store.lineage(branchNamed(backend, 'dual-write').view.id).at(-1)!.user = [block('text', '[erased]')];
    });
    expect(node(/^dual-write/)).toHaveTextContent('[erased]');
    expect(card()).toHaveTextContent('“[erased]”');
    await user.type(screen.getByRole('searchbox', { name: 'Find a turn or branch' }), '[[erased');
    expect(await screen.findByText('1 of 1')).toBeInTheDocument();
  });

  test('moves with arrows, Home and End, and opens with Enter', async () => {
    const { app, user } = await open();
    node(/^dual-write/).focus();
    await user.keyboard('{Home}');
    await waitFor(() => expect(focused()).toMatch(/^#1 to #35/));
    await user.keyboard('{ArrowDown}');
    await waitFor(() => expect(focused()).toMatch(/^big-bang-window/));
    expect(card()).toHaveTextContent('forked after #35');
    await user.keyboard('{Enter}');
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('big-bang-window'));
    await waitFor(() => expect(node(/^big-bang-window.*you are here/)).toBeInTheDocument());
    await user.keyboard('{ArrowLeft}');
    await waitFor(() => expect(focused()).toMatch(/^#1 to #35/));
    await user.keyboard('{End}');
    await waitFor(() => expect(focused()).toMatch(/^big-bang-window/));
  });

  test('a run in the middle opens at its first turn, on the same branch', async () => {
    const { app, user } = await open();
    const before = app.conversation.branchId;
    await user.dblClick(node(/^#36 to #82/));
    await waitFor(() => expect(app.conversation.intent).toEqual({ to: 'turn', turnId: 't0036' }));
    expect(app.conversation.branchId).toBe(before);
  });

  test('searches labels, words and turns, forwards and backwards', async () => {
    const { user } = await open();
    const field = screen.getByRole('searchbox', { name: 'Find a turn or branch' });
    await user.type(field, 'cost us');
    expect(await screen.findByText('1 of 3')).toBeInTheDocument();
    const selected = () => screen.getAllByRole('treeitem').find((item) => item.getAttribute('aria-selected') === 'true')?.getAttribute('aria-label') ?? '';
    const first = selected();
    await user.keyboard('{Enter}');
    expect(await screen.findByText('2 of 3')).toBeInTheDocument();
    expect(selected()).not.toBe(first);
    await user.keyboard('{Shift>}{Enter}{/Shift}');
    expect(selected()).toBe(first);
    await user.clear(field);
    await user.type(field, '#100');
    expect(selected()).toMatch(/^#83 to #142/);
    await user.keyboard('{ArrowDown}');
    await waitFor(() => expect(focused()).toMatch(/^#83 to #142/));
    await user.clear(field);
    await user.type(field, 'no such words');
    expect(await screen.findByText('none')).toBeInTheDocument();
  });

  test('the menu key opens the actions; unavailable ones explain why', async () => {
    const { user } = await open();
    node(/^dual-write/).focus();
    await user.keyboard('{Shift>}{F10}{/Shift}');
    const menu = await screen.findByRole('menu', { name: 'Actions for dual-write' });
    expect(within(menu).getAllByRole('menuitem').map((item) => item.textContent)).toHaveLength(8);
    expect(within(menu).getByRole('menuitem', { name: /Archive branch/ })).toHaveAttribute('aria-disabled', 'true');
    expect(within(menu).getByRole('menuitem', { name: /Archive branch/ })).toHaveTextContent('This branch is open');
    await user.keyboard('{Escape}');
    await waitFor(() => expect(focused()).toMatch(/^dual-write/));
  });

  test('zooms with keys, and moves nothing else in the window', async () => {
    const { user } = await open();
    const width = () => Number(/width:\s*([\d.]+)px/.exec(node(/^dual-write/).getAttribute('style') ?? '')?.[1]);
    const before = width();
    node(/^dual-write/).focus();
    await user.keyboard('+');
    await waitFor(() => expect(width()).toBeGreaterThan(before));
    await user.keyboard('--');
    await waitFor(() => expect(width()).toBeLessThan(before));
  });

  test('only the visible part of three hundred forks is in the page', async () => {
    const mounted = await mountWith(Shell, (app) => {
      app.inspector.select('branches');
      return {};
    }, { forks: 300, data: 'empty' });
    await screen.findByRole('tree', { name: 'Branches' });
    const { branches } = mounted.app;
    expect(branches.tree?.branches).toHaveLength(301);
    await waitFor(() => expect(screen.getAllByRole('treeitem').length).toBeGreaterThan(10));
    expect(screen.getAllByRole('treeitem').length).toBeLessThan(60);
    expect(screen.getByRole('button', { name: 'Show 17 archived' })).toBeInTheDocument();
  });

  test('an empty conversation explains the tree; a failure is shown with a retry', async () => {
    const { backend } = await mountWith(Shell, (app) => {
      app.inspector.select('branches');
      return {};
    }, { data: 'empty' }, (fake) => fake.failNext('branches.tree', { message: 'The database is busy', hint: 'Try again.' }));
    expect(await screen.findByText('The database is busy', { exact: false })).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(calls(backend, 'branches.tree')).toHaveLength(2));
  });
});

describe('actions on a run', () => {
  async function selected(name: RegExp) {
    const mounted = await open();
    await mounted.user.click(node(name));
    await within(card()).findByText(/^Its answer/);
    return mounted;
  }
  const press = (user: ReturnType<typeof userEvent.setup>, name: string | RegExp) => user.click(within(card()).getByRole('button', { name }));

  test('forks under a name, after its last turn or another', async () => {
    const { app, backend, user } = await selected(/^#36 to #82/);
    await user.type(within(card()).getByRole('spinbutton', { name: /^Fork or roll back after/ }), '40');
    await waitFor(() => expect(calls(backend, 'sessions.turns').at(-1)?.slice(1)).toEqual([40, 40]));
    await press(user, 'Fork');
    expect(await screen.findByRole('dialog', { name: 'Fork after #40' })).toBeInTheDocument();
    await user.keyboard('another way{Enter}');
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('another way'));
    expect(calls(backend, 'sessions.fork')).toEqual([['t0040', false, 'another way']]);
    expect(app.conversation.lastSeq).toBe(40);
    expect(app.toasts.list.at(-1)?.text).toBe('New branch “another way” after #40');
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('dual-write'));
  });

  test('rolls back to it, and undoes that', async () => {
    const { app, backend, user } = await selected(/^#36 to #82/);
    const before = app.conversation.branchId;
    await press(user, 'Roll back');
    await waitFor(() => expect(app.conversation.lastSeq).toBe(82));
    expect(calls(backend, 'branches.rollbackTo')).toEqual([[before, 't0082']]);
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(app.conversation.branchId).toBe(before));
  });

  test('a long run offers a choice of its turns, and a rollback says what it leaves', async () => {
    const { backend, user } = await selected(/^#36 to #82/);
    const marks = within(await screen.findByRole('list', { name: 'Turns in between' })).getAllByRole('button');
    expect(marks).toHaveLength(5);
    expect(marks[1]).toHaveTextContent(/^#51 ./);
    await user.click(marks[1]!);
    expect(marks[1]).toHaveAttribute('aria-pressed', 'true');
    expect(screen.getByRole('button', { name: 'Roll back' })).toHaveAttribute('title', expect.stringMatching(/ends there\. \d+ later turns stay on “.+”; nothing is deleted/));
    await press(user, 'Roll back');
    await waitFor(() => expect(calls(backend, 'branches.rollbackTo').at(-1)?.[1]).toBe('t0051'));
  });

  test('renames it, and undoes that', async () => {
    const { app, backend, user } = await selected(/^throttled-backfill/);
    await press(user, 'More');
    await user.click(await screen.findByRole('menuitem', { name: /Rename branch/ }));
    const field = await screen.findByRole('textbox', { name: 'Name' });
    await user.clear(field);
    await user.type(field, 'slower{Enter}');
    await waitFor(() => expect(node(/^slower/)).toBeInTheDocument());
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(node(/^throttled-backfill/)).toBeInTheDocument());
    expect(branchNamed(backend, 'throttled-backfill')).toBeDefined();
  });

  test('archives it: hidden until requested, and restored by Undo', async () => {
    const { app, user } = await selected(/^big-bang-window/);
    await press(user, 'More');
    await user.click(await screen.findByRole('menuitem', { name: /Archive branch/ }));
    await waitFor(() => expect(screen.queryByRole('treeitem', { name: /^big-bang-window/ })).not.toBeInTheDocument());
    // The run that the archived branch had split is one run again.
    expect(node(/^#1 to #82/)).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Show 1 archived' }));
    expect(node(/^big-bang-window.*archived/)).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Hide 1 archived' }));
    app.toasts.act(app.toasts.list.at(-1)!.id);
    await waitFor(() => expect(node(/^big-bang-window/)).toBeInTheDocument());
  });

  test('a failure is reported, and changes nothing', async () => {
    const { app, backend, user } = await selected(/^#36 to #82/);
    const before = app.conversation.branchId;
    backend.failNext('branches.rollbackTo', { message: 'The state could not be written', hint: 'Free some space.' });
    await press(user, 'Roll back');
    await waitFor(() => expect(app.toasts.list.at(-1)?.text).toBe('The state could not be written'));
    expect(app.conversation.branchId).toBe(before);
  });

  test('a branch cannot be rolled back to its own end, which would be a copy', async () => {
    await selected(/^big-bang-window/);
    expect(screen.getByRole('button', { name: 'Roll back' })).toBeDisabled();
    expect(screen.getByRole('button', { name: 'Roll back' })).toHaveAttribute('title', 'The branch ends here');
  });

  test('previews the next request after it', async () => {
    const { backend, user } = await selected(/^#36 to #82/);
    await press(user, 'More');
    await user.click(await screen.findByRole('menuitem', { name: /What would be sent/ }));
    const dialog = await screen.findByRole('dialog', { name: 'What would be sent after #82' });
    expect(await within(dialog).findByText(/working set/)).toBeInTheDocument();
    expect(calls(backend, 'branches.contextAt')[0]?.slice(1)).toEqual(['t0082', '']);
  });

  test('a turn dropped on the empty canvas asks for a branch name; dropped on a run it does not', async () => {
    const { app } = await open();
    const data = { types: ['application/x-contextinfinity-turn'], getData: () => JSON.stringify({ turnId: 't0012', seq: 12 }) };
    await fireEvent.drop(node(/^big-bang-window/), { dataTransfer: data });
    expect(app.branches.asking).toBeNull();
    await fireEvent.drop(screen.getByRole('tree'), { dataTransfer: { types: [], getData: () => 'a text' } });
    expect(app.branches.asking).toBeNull();
    await fireEvent.drop(screen.getByRole('tree'), { dataTransfer: data });
    expect(await screen.findByRole('dialog', { name: 'Fork after #12' })).toBeInTheDocument();
  });
});

describe('over the whole conversation', () => {
  test('the tree stays open in a session whose branches were not loaded before', async () => {
    const { app } = await startedApp({ data: 'rich' });
    app.branches.showFullTree();
    app.branches.follow(app.conversation.sessionId); // as the tree does once it is drawn
    expect(app.branches.fullView).toEqual({ kind: 'tree' });
  });

  test('the tree is drawn at full size; Esc closes it and returns the focus', async () => {
    const { app, user } = await open();
    await user.click(screen.getByRole('button', { name: 'Full size' }));
    const view = await screen.findByRole('region', { name: 'Branches, full size' });
    expect(screen.getAllByRole('tree')).toHaveLength(1);
    await waitFor(() => expect(focused()).toMatch(/^dual-write/));
    await user.keyboard('{ArrowUp}{ArrowRight}');
    await user.click(within(view).getByRole('radio', { name: 'Rows' }));
    expect(within(view).getAllByRole('treeitem')).toHaveLength(7);
    await user.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Branches, full size' })).not.toBeInTheDocument());
    expect(app.branches.fullView).toBeNull();
    expect(screen.getByRole('button', { name: 'Full size' })).toHaveFocus();
  });

  test('two branches are compared side by side: the common turns, the differences, and the turns of each', async () => {
    const { app, backend, user } = await open((fake) => {
      const other = branchNamed(fake, 'logical-replication');
      other.pins = [{ id: 'p9', text: 'Slots need version 17.', position: 0, tokens: 5, version: 1, createdAt: 0, inherited: false }];
      for (let i = 0; i < 130; i++) fake.store.addTurn(other.view.id, { user: [block('text', `Slot question ${i}`)], assistant: [block('text', `Slot **answer** ${i}`)] });
    });
    await user.click(node(/^logical-replication/));
    await user.click(within(card()).getByRole('button', { name: 'Compare' }));
    const choice = await screen.findByRole('dialog', { name: 'Compare “logical-replication” with' });
    await user.click(within(choice).getByRole('button', { name: /^dual-write/ }));
    const view = await screen.findByRole('region', { name: 'Two branches compared' });
    expect(await within(view).findByText('82 turns shared, different after #82')).toBeInTheDocument();
    const left = within(view).getByRole('region', { name: 'Branch logical-replication' });
    const right = within(view).getByRole('region', { name: 'Branch dual-write' });
    expect(within(left).getByText('131 turns of its own, head #84', { exact: false })).toBeInTheDocument();
    expect(within(left).getByText('What would logical-replication cost us?')).toBeInTheDocument();
    expect(within(right).getByText('Question 83 about the orders schema.')).toBeInTheDocument();
    for (let shown = 20; shown < 131; shown += 20) await user.click(await within(left).findByText(`Show more, ${131 - shown} turns left`));
    await waitFor(() => expect(left.querySelectorAll('article')).toHaveLength(131));
    expect(calls(backend, 'sessions.turns').at(-1)?.slice(1)).toEqual([183, 213]);
    expect(new Set([...left.querySelectorAll('article')].map((article) => article.getAttribute('aria-label'))).size).toBe(131);
    await user.click(within(view).getByText('Pinned facts'));
    expect(await within(view).findByText('Slots need version 17.')).toBeInTheDocument();
    expect(within(view).getByText('No change goes out on a Friday.')).toBeInTheDocument();
    await user.click(within(view).getByText('State summaries'));
    expect(await within(view).findByRole('group', { name: 'logical-replication beside dual-write' })).toBeInTheDocument();
    await user.click(within(left).getByRole('button', { name: 'Open' }));
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('logical-replication'));
    expect(app.branches.fullView).toBeNull();
  }, 120_000);
});

describe('the switcher', () => {
  async function opened(prepare?: Prepare) {
    const mounted = await open(prepare);
    await mounted.user.click(screen.getByRole('button', { name: /Orders to Postgres dual-write/ }));
    return { ...mounted, panel: await screen.findByRole('dialog', { name: 'Switch branch' }) };
  }
  const names = (panel: HTMLElement, list: string) => within(within(panel).getByRole('list', { name: list })).getAllByRole('listitem').map((item) => item.querySelector('.label')?.textContent);

  test('lists the open branch first, then by last use, archived ones separately', async () => {
    const { panel } = await opened((fake) => {
      branchNamed(fake, 'throttled-backfill').view.updatedAt = 1;
      branchNamed(fake, 'big-bang-window').view.archived = true;
    });
    expect(names(panel, 'Branches')).toEqual(['dual-write', 'logical-replication', 'throttled-backfill']);
    expect(names(panel, 'Archived')).toEqual(['big-bang-window']);
  });

  test('shows the number of turns of this moment', async () => {
    const mounted = await open();
    const branch = branchNamed(mounted.backend, 'dual-write');
    branch.turns.pop();
    const turns = mounted.backend.store.lineage(branch.view.id).length;
    await mounted.user.click(screen.getByRole('button', { name: /Orders to Postgres dual-write/ }));
    const panel = await screen.findByRole('dialog', { name: 'Switch branch' });
    await waitFor(() => expect(panel.querySelector('[aria-current="true"]')).toHaveTextContent(`dual-write${turns} turns`));
  });

  test('searches and works without a mouse', async () => {
    const { app, panel, user } = await opened();
    expect(within(panel).getByRole('searchbox', { name: 'Find a branch' })).toHaveFocus();
    await user.keyboard('window');
    expect(names(panel, 'Branches')).toEqual(['big-bang-window']);
    await user.keyboard('{ArrowDown}{Enter}');
    await waitFor(() => expect(app.conversation.header?.branchLabel).toBe('big-bang-window'));
    expect(screen.queryByRole('dialog', { name: 'Switch branch' })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: /Orders to Postgres/, expanded: false })).toHaveFocus();
  });

  test('archives a branch in place, renames one, and opens the tree', async () => {
    const { app, panel, user } = await opened();
    expect(within(panel).queryByRole('button', { name: 'Archive dual-write' })).not.toBeInTheDocument();
    await user.click(within(panel).getByRole('button', { name: 'Archive big-bang-window' }));
    await waitFor(() => expect(names(panel, 'Archived')).toEqual(['big-bang-window']));
    await user.click(within(panel).getByRole('button', { name: 'Unarchive big-bang-window' }));
    await waitFor(() => expect(within(panel).queryByRole('list', { name: 'Archived' })).not.toBeInTheDocument());
    app.inspector.select('state');
    await user.click(within(panel).getByRole('button', { name: 'Show tree' }));
    expect(app.inspector.tab).toBe('branches');
    await user.click(screen.getByRole('button', { name: /Orders to Postgres dual-write/ }));
    await user.click(await screen.findByRole('button', { name: 'Rename big-bang-window' }));
    expect(await screen.findByRole('textbox', { name: 'Name' })).toHaveValue('big-bang-window');
  });

  test('lists the newest of many branches and the number of the others', () => {
    const all = Array.from({ length: 300 }, (_, i) => ({ id: `b${i}`, label: `fork ${i}`, updatedAt: i, archived: i % 10 === 0, turns: 0, forkSeq: 0, continues: '' }));
    const found = list(all, '', 'b5', 50);
    expect(found.branches.slice(0, 3).map((branch) => branch.id)).toEqual(['b5', 'b299', 'b298']);
    expect([found.branches.length, found.archived.length, found.more]).toEqual([50, 0, 250]);
    expect(list(all, '29 FORK', '').branches.map((branch) => branch.id)).toEqual(['b299', 'b298', 'b297', 'b296', 'b295', 'b294', 'b293', 'b292', 'b291', 'b229', 'b129', 'b29']);
    expect(list(all, '290', '').archived.map((branch) => branch.id)).toEqual(['b290']);
  });
});
