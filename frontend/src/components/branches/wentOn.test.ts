import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';
import { branchView } from '$lib/backend/fake/shapes';
import { continued, wentOn } from '$lib/state/devices';
import { mountIn, startedApp } from '../../test/mount';
import { list } from './listing';
import WentOn from './WentOn.svelte';

const main = branchView({ id: 'main', label: 'main', turns: 5, machine: 'desk' });
const there = branchView({ id: 'there', label: 'main · workshop', turns: 7, forkSeq: 5, parentId: 'main', continues: 'main', machine: 'workshop', foreign: true });

describe('branches that go on on another device', () => {
  it('replace what they continue, until that goes on too', () => {
    expect([...continued([main, there])]).toEqual(['main']);
    expect(list([main, there], '', 'there').branches.map(({ id }) => id)).toEqual(['there']);
    expect(list([main, there], '', 'main').branches.map(({ id }) => id)).toEqual(['main', 'there']);
    expect(wentOn([main, there])).toBeUndefined();
    const longer = { ...main, turns: 6 };
    expect([...continued([longer, there])]).toEqual([]);
    expect(list([longer, there], '', 'there').branches).toHaveLength(2);
    expect(wentOn([longer, there])).toEqual({ seq: 5, machine: 'workshop' });
  });

  it('leave what they continue in the list if they are archived', () => {
    expect([...continued([main, { ...there, archived: true }])]).toEqual([]);
    expect(wentOn([{ ...main, turns: 6 }, { ...there, archived: true }])).toBeUndefined();
  });

  it('fork if two others continue the same place', () => {
    const third = { ...there, id: 'third', machine: 'laptop', foreign: false };
    expect(wentOn([main, there, { ...third, turns: 5 }])).toBeUndefined();
    expect(wentOn([main, there, third])).toEqual({ seq: 5, machine: 'workshop' });
  });
});

describe('a conversation that went on on two machines', () => {
  async function started(machine: string) {
    const { app, backend } = await startedApp({ data: 'rich' });
    const session = [...backend.store.sessions.values()].find(({ row }) => row.title === 'Orders to Postgres')!;
    const first = backend.store.branch(session.branchIds[0]!);
    const length = backend.store.lineage(first.view.id).length;
    const branch = backend.store.addBranch(session.row.id, 'main · workshop', first.view.id, length - 1);
    Object.assign(branch.view, { continues: first.view.id, machine, foreign: true });
    backend.store.addTurn(branch.view.id);
    await app.navigation.openSession(session.row.id);
    return { app, sessionId: session.row.id, seq: length - 1 };
  }

  it('says so once', async () => {
    const { app, seq } = await started('workshop');
    const { unmount } = mountIn(app, WentOn, {});
    await tick();
    expect(screen.getByRole('status')).toHaveTextContent(`went on on workshop as well, after #${seq}`);
    await userEvent.click(screen.getByRole('button', { name: 'Show the branches' }));
    expect(app.inspector.tab).toBe('branches');
    unmount();
    mountIn(app, WentOn, {});
    await tick();
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
  });

  it('says it without the name of a machine that is not known, until it is dismissed', async () => {
    const { app } = await started('');
    mountIn(app, WentOn, {});
    await tick();
    expect(screen.getByRole('status')).toHaveTextContent('on another machine');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.getByRole('status')).toBeEmptyDOMElement();
  });
});
