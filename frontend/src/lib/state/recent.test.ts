import { expect, test, vi } from 'vitest';
import { onWindowKey, onWindowKeyUp } from '../../components/shell/keys';
import CloseWindow from '../../components/shell/CloseWindow.svelte';
import GoToDialog from '../../components/transcript/find/GoToDialog.svelte';
import { mountIn, startedApp } from '../../test/mount';
import * as printing from './printing';
import { RecentSessions } from './recent.svelte';
import { groupSessions } from './sessionGroups';


const press = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent('keydown', { key, ctrlKey: true, cancelable: true, ...more });

test('sessions are switched in the order they were last open, while Ctrl is held', async () => {
  const opened: string[] = [];
  const recent = new RecentSessions(() => ['a', 'b', 'c', 'd'], async (id) => void (opened.push(id), recent.visited(id)));
  for (const id of ['c', 'gone', 'b', 'a']) recent.visited(id);
  await recent.step(1);
  recent.released();
  await recent.step(1); // back to the first one
  recent.released();
  await recent.step(1);
  await recent.step(1);
  await recent.step(1);
  await recent.step(1);
  await recent.step(-1);
  expect(opened).toEqual(['b', 'a', 'b', 'c', 'd', 'a', 'd']);
  recent.released();
  await recent.step(1);
  expect(opened.at(-1)).toBe('a');
});

test('a single session stays open', async () => {
  const open = vi.fn(async () => undefined);
  const recent = new RecentSessions(() => ['a'], open);
  recent.visited('a');
  await recent.step(1);
  expect(open).not.toHaveBeenCalled();
});

test('keys open sessions by position and by last use', async () => {
  const { app } = await startedApp({ data: 'rich' });
  const lines = groupSessions(app.sessions.list, Date.now()).flatMap((line) => (line.kind === 'session' ? [line.id] : []));
  const first = app.conversation.sessionId;
  onWindowKey(app, press('3'));
  await expect.poll(() => app.conversation.sessionId).toBe(lines[2]);
  onWindowKey(app, press('Tab'));
  await expect.poll(() => app.conversation.sessionId).toBe(first);
  onWindowKeyUp(app, new KeyboardEvent('keyup', { key: 'Control' }));
  onWindowKey(app, press('Tab'));
  await expect.poll(() => app.conversation.sessionId).toBe(lines[2]);
});

test('Ctrl+W closes the frontmost dialog or view, one per key press, and then the window', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  const leaveCalls = () => backend.calls.filter(({ name }) => name === 'leaveWindow').length;
  app.layout.openSettings();
  app.goTo.show();
  const dialog = mountIn(app, GoToDialog, {});
  onWindowKey(app, press('w'));
  await expect.poll(() => app.goTo.open).toBe(false);
  dialog.unmount();
  expect(app.layout.view).toBe('settings');
  onWindowKey(app, press('w'));
  await expect.poll(() => app.layout.view).toBe('chat');
  expect(leaveCalls()).toBe(0);
  app.draft.typed = 'Not sent yet';
  onWindowKey(app, press('w'));
  await expect.poll(leaveCalls).toBe(1);
  expect(backend.store.branch(app.conversation.branchId).draft.text).toBe('Not sent yet');
});

test('Ctrl+Q quits the program with all its windows, and asks first while an answer is arriving', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  const ends = () => backend.calls.filter(({ name }) => name === 'work.quit' || name === 'closeWindow').map(({ name, args }) => [name, ...args]);
  onWindowKey(app, press('q'));
  await expect.poll(ends).toEqual([['work.quit']]);
  [...backend.store.sessions.values()][0]!.row.status = 'streaming';
  await app.sessions.load();
  onWindowKey(app, press('q'));
  await expect.poll(() => app.closing.asked).toBe(true);
  const dialog = mountIn(app, CloseWindow, {});
  expect(ends()).toHaveLength(1);
  dialog.unmount();
  app.closing.answer(true);
  await expect.poll(ends).toEqual([['work.quit'], ['work.quit']]);

  // Closing the window is not quitting.
  app.closing.ask();
  app.closing.answer(true);
  await expect.poll(ends).toEqual([['work.quit'], ['work.quit'], ['closeWindow', true]]);

  backend.failNext('work.quit', {});
  [...backend.store.sessions.values()][0]!.row.status = '';
  await app.sessions.load();
  onWindowKey(app, press('q'));
  await expect.poll(() => ends().at(-1)).toEqual(['closeWindow', true]);
  expect(ends()).toHaveLength(4);
});

test('the open branch is printed like an HTML export', async () => {
  const printPage = vi.spyOn(printing, 'printPage').mockResolvedValue();
  const { app } = await startedApp({ data: 'rich' });
  await app.commands.run('print');
  expect(printPage).toHaveBeenCalledWith(expect.stringContaining('<title>branch</title>'));
});
