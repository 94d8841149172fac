import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { block } from '$lib/backend/fake/shapes';
import { mountIn, startedApp } from '../../test/mount';
import Turn from '../transcript/Turn.svelte';

async function openWithMessages(messages: string[]) {
  const { app, backend } = await startedApp();
  for (const [i, text] of messages.entries()) backend.store.addTurn(app.conversation.branchId, { id: `m${i + 1}`, user: [block('text', text)], state: 'head' });
  await app.navigation.openSession(app.conversation.sessionId);
  return { app, backend, user: userEvent.setup() };
}

test.each([1, 2, 3])('editing turn %i makes it one of two versions that can be switched', async (seq) => {
  const { app, backend, user } = await openWithMessages(['One', 'Two', 'Three']);
  const { conversation } = app;
  const main = conversation.branchId;
  const old = conversation.turns.find((turn) => turn.seq === seq)!;
  app.turnActions.edit(old);
  app.draft.text = 'Said otherwise';
  await app.composer.send();
  expect(conversation.branchId).not.toBe(main);
  await waitFor(() => expect(conversation.turns.at(-1)?.user[0]?.text).toBe('Said otherwise'));
  expect(conversation.turns.map((turn) => turn.seq)).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
  expect(backend.store.lineage(main).map((turn) => turn.id)).toEqual(['m1', 'm2', 'm3']);

  app.branches.follow(conversation.sessionId);
  await app.branches.refresh();
  const { unmount } = mountIn(app, Turn, { turn: conversation.turns.at(-1)!, index: 0 });
  const walker = await screen.findByRole('group', { name: `Versions of turn ${seq}` });
  expect(walker).toHaveTextContent('Version 2/2');
  expect(within(walker).getByRole('button', { name: 'Next version' })).toBeDisabled();
  await user.click(within(walker).getByRole('button', { name: 'Previous version' }));
  await waitFor(() => expect(conversation.branchId).toBe(main));
  expect(conversation.intent).toEqual({ to: 'turn', turnId: `m${seq}` });
  unmount();

  mountIn(app, Turn, { turn: conversation.turns.find((turn) => turn.seq === seq)!, index: 0 });
  const back = await screen.findByRole('group', { name: `Versions of turn ${seq}` });
  expect(back).toHaveTextContent('Version 1/2');
  await user.click(within(back).getByRole('button', { name: 'Next version' }));
  await waitFor(() => expect(conversation.branchId).not.toBe(main));
});

test('a message that was not edited has no versions', async () => {
  const { app } = await openWithMessages(['One', 'Two']);
  app.branches.follow(app.conversation.sessionId);
  await app.branches.refresh();
  mountIn(app, Turn, { turn: app.conversation.newest!, index: 0 });
  expect(screen.getByRole('article')).toBeInTheDocument();
  expect(screen.queryByRole('group', { name: /^Versions/ })).not.toBeInTheDocument();
});

test('the number of a turn can be dragged to the tree', async () => {
  const { app } = await openWithMessages(['One']);
  mountIn(app, Turn, { turn: app.conversation.newest!, index: 0 });
  const number = within(screen.getByRole('article')).getByText('1', { selector: '.seq' });
  expect(number).toHaveAttribute('draggable', 'true');
  const transferred = new Map<string, string>();
  const event = new Event('dragstart', { bubbles: true }) as DragEvent;
  Object.defineProperty(event, 'dataTransfer', { value: { setData: (type: string, data: string) => transferred.set(type, data) } });
  number.dispatchEvent(event);
  expect(JSON.parse(transferred.get('application/x-contextinfinity-turn')!)).toEqual({ turnId: 'm1', seq: 1 });
});
