import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { App } from '$lib/state/app.svelte';
import { mountIn, startedApp } from '../../test/mount';
import SessionLine from '../sessions/SessionLine.svelte';
import SessionsFoot from '../sessions/SessionsFoot.svelte';
import TurnActions from '../transcript/TurnActions.svelte';
import BranchSwitcher from './BranchSwitcher.svelte';

const user = userEvent.setup();

async function rich() {
  const { app, backend } = await startedApp({ data: 'rich' });
  await app.navigation.openSession(app.sessions.list.find((row) => row.title === 'Orders to Postgres')!.id);
  return { app, backend };
}

const exportTarget = (app: App) => [app.exporting.scope, app.exporting.target?.title, app.exporting.target?.branchLabel, app.exporting.target?.seq];

describe('an export can be started', () => {
  it('for a branch and for the session, in the branch switcher', async () => {
    const { app } = await rich();
    mountIn(app, BranchSwitcher, {});
    const open = () => user.click(screen.getByRole('button', { name: /Orders to Postgres/ }));
    await open();
    await user.click(screen.getByRole('button', { name: 'Export throttled-backfill' }));
    expect(exportTarget(app)).toEqual(['branch', 'Orders to Postgres', 'throttled-backfill', 0]);
    await open();
    await user.click(screen.getByRole('button', { name: 'Export…' }));
    expect(exportTarget(app)).toEqual(['session', 'Orders to Postgres', 'dual-write', 0]);
  });

  it('for a turn, below it; not for one without a final answer', async () => {
    const { app } = await rich();
    const turn = app.conversation.newest!;
    const mounted = mountIn(app, TurnActions, { turn, selected: '' });
    await user.click(screen.getByRole('button', { name: 'Export this turn…' }));
    expect(exportTarget(app)).toEqual(['turn', 'Orders to Postgres', 'dual-write', turn.seq]);
    mounted.unmount();
    mountIn(app, TurnActions, { turn: { ...turn, state: 'incomplete' }, selected: '' });
    expect(screen.queryByRole('button', { name: 'Export this turn…' })).toBeNull();
  });

  it('for any session, from its row; for all, below the list', async () => {
    const { app } = await rich();
    const row = app.sessions.list.find((session) => session.title === 'Rye loaf, wetter dough')!;
    mountIn(app, SessionLine, { row, open: false, reachable: true, renaming: false, onrename: () => undefined, onrenamed: () => undefined, onfocus: () => undefined, onchoose: () => undefined });
    await user.click(screen.getByRole('button', { name: `Actions for ${row.title}` }));
    await user.click(screen.getByRole('menuitem', { name: 'Export…' }));
    expect([app.exporting.target?.sessionId, app.exporting.scopes]).toEqual([row.id, ['session', 'all']]);
    mountIn(app, SessionsFoot, {});
    await user.click(screen.getByRole('button', { name: 'More: import, export, theme' }));
    await user.click(screen.getByRole('menuitem', { name: /Export all sessions/ }));
    expect([app.exporting.scope, app.exporting.scopes]).toEqual(['all', ['all']]);
  });
});

describe('a branch’s line', () => {
  it('is dragged out of the window as a file of the branch', async () => {
    const { app, backend } = await rich();
    mountIn(app, BranchSwitcher, {});
    await user.click(screen.getByRole('button', { name: /Orders to Postgres/ }));
    const line = screen.getByText('throttled-backfill').closest('button')!;
    const data = new Map<string, string>();
    const dataTransfer = { types: [], setData: (type: string, text: string) => void data.set(type, text), getData: () => '' };
    line.closest('li')!.dispatchEvent(Object.assign(new Event('dragstart', { bubbles: true }), { dataTransfer }));
    expect(backend.calls.find((call) => call.name === 'dragFile')?.args[0]).toMatchObject({ scope: 'branch', format: 'md', sessionId: app.conversation.sessionId });
    expect([data.get('text/uri-list')?.endsWith('.md'), data.get('text/plain')]).toEqual([true, 'throttled-backfill']);
  });
});
