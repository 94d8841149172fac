import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { Child, built, until, within } from '../harness/process.ts';
import { variants } from '../harness/tier.ts';
import { prose } from '../browser/conversation.ts';
import { reports } from './fakeshell.ts';
import { waitForWindow, windowOf } from './desktop.ts';
import { completeFirstRun, conversationText, field, sendMessage, test, waitForFirstRun } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const question = 'Tell me, tray';
/** The newest session's turns, read by the command line while the window is open. */
const turns = (home: Home): any[] => {
  const [session] = JSON.parse(cli(home, 'sessions', '--json')).sessions;
  return session ? JSON.parse(cli(home, 'show', '--json', session.session_id ?? session.id)).turns : [];
};

test('closing hides the window in the tray; a running turn is still finished, committed and indexed, and its notification opens the window', async ({ provider, open, home, shell }) => {
  home.configure(provider);
  const text = prose(30);
  provider.answer(question, text, { chunkSize: 24, holdAfter: 10 });
  const panel = await shell.start('panel');
  const notifications = await shell.start('notifications');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await completeFirstRun(desktop);
  const idle = shell.item();
  expect(idle).toMatchObject({ title: 'ContextInfinity', width: 64, blank: false });
  expect(idle.menu.map((line) => line.label)).toEqual(['Idle', 'Show ContextInfinity', 'New session', 'New window', 'Quick ask', 'Pause background work', 'Check for unfinished work', 'Quit']);
  await sendMessage(desktop, question);
  await until('the answer begins', async () => (await conversationText(desktop)).includes('Sentence 1 of'));

  await desktop.hide();
  await until('the tray shows work in progress', () => shell.item().tooltip.includes('Working'));
  expect(shell.item().icon).not.toBe(idle.icon);
  provider.release(question);
  await until('the turn is committed and indexed while the window is hidden', () => turns(home)[0]?.phase === 'Done');
  await until('a notification', () => reports(notifications).some((line) => line.notification));
  const [notification] = reports(notifications).filter((line) => line.notification);
  expect(notification).toMatchObject({ text: 'Your answer is ready.', actions: ['default', 'Open'] });
  expect(JSON.stringify(notification)).not.toContain('Sentence');
  await until('the tray shows that no work is left', () => shell.item().tooltip.includes('Idle'));
  expect(shell.item().icon).toBe(idle.icon);

  notifications.process.stdin?.write(`click ${notification?.notification}\n`);
  await waitForWindow(desktop.pid);
  await until('the answer is shown', async () => (await conversationText(desktop)).includes('Sentence 30 of'));
  expect(await field(desktop, 'Turn')).toContain('Done');
  expect(desktop.running).toBe(true);
});

test('the menu shows the window, starts a session, pauses, checks for unfinished work and quits; a click on the icon shows the window too', async ({ provider, open, home, shell }) => {
  home.configure(provider);
  await shell.start('panel');
  const desktop = await open();
  await completeFirstRun(desktop);
  await until('the icon', () => { try { return shell.item(); } catch { return null; } });
  await desktop.hide();
  shell.click('Show ContextInfinity');
  await waitForWindow(desktop.pid);
  await desktop.hide();
  shell.activate();
  await waitForWindow(desktop.pid);

  provider.answer(question, 'Here.');
  await sendMessage(desktop, question);
  await until('a turn', async () => (await conversationText(desktop)).includes('Here.'));
  await desktop.hide();
  shell.click('New session');
  await waitForWindow(desktop.pid);
  await until('an empty conversation is open', async () => !(await conversationText(desktop)).includes('Here.'));

  const isPaused = () => desktop.page.run<boolean>('return window.go.api.Work.Background().then((work) => work.paused)');
  shell.click('Pause background work');
  await until('background work is paused', isPaused);
  await until('the tray shows that work is paused', () => shell.item().menu.some((line) => line.label === 'Pause background work' && line.checked));
  expect(shell.item().tooltip).toContain('paused');

  const secondQuestion = 'Tell me more';
  provider.answer(secondQuestion, 'More.');
  await sendMessage(desktop, secondQuestion);
  const phase = () => turns(home)[0]?.phase as string;
  await until('its turn has its final answer', () => phase() === 'ResponseFinalized');
  shell.click('Check for unfinished work'); // a job requested by the user runs even while jobs are paused
  await until('the turn is committed and indexed', () => phase() === 'Done');
  shell.click('Pause background work');
  await until('the work is resumed', async () => !(await isPaused()));
  await until('the tray shows that work has resumed', () => shell.item().menu.every((line) => !line.checked));

  shell.click('Quit');
  await desktop.waitUntilEnded();
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('the hidden window appears again when the tray disappears, and closing it then quits', async ({ provider, open, home, shell }) => {
  home.configure(provider);
  const panel = await shell.start('panel');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await waitForFirstRun(desktop);
  await desktop.hide();
  await panel.crash();
  await waitForWindow(desktop.pid);
  expect(await desktop.close()).toBe(true);
});

test('closing the window quits if the user has disabled the tray', async ({ provider, open, home, shell }) => {
  home.configure(provider, '[desktop]\nclose_to_tray = false');
  const panel = await shell.start('panel');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await waitForFirstRun(desktop);
  expect(await desktop.close()).toBe(true);
});

for (const signal of variants<NodeJS.Signals>('SIGTERM', 'SIGINT', 'SIGHUP')) {
  test(`${signal} while an answer streams into a hidden window: the program ends in time, and loses nothing that it received`, async ({ provider, home, shell }) => {
    home.configure(provider);
    provider.answer(question, prose(100), { chunkSize: 16, holdAfter: 40 });
    const panel = await shell.start('panel');
    const program = new Child(built('contextinfinity'), [], home.env(), home.root);
    let sender: Child | undefined;
    try {
      const id = await waitForWindow(program.pid);
      await until('the icon', () => reports(panel).some((line) => line.registered));
      // Now the window's process has the data open, so it sends the message itself. Before that, the process of the
      // command line would send it.
      sender = new Child(built('contextinfinity'), ['send', '--new', question], home.env(), home.root);
      await new Child('wmctrl', ['-i', '-c', id], home.env(), home.root).ended;
      await until('the window is hidden', () => windowOf(program.pid) === '');
      await until('the answer streams', () => [...home.journals().values()].some((journal) => journal.text.includes('Sentence 3 of')));
      const [before] = [...home.journals().values()];
      program.process.kill(signal);
      expect(await within(30_000, program.ended)).toBe(true);
      expect(program.process.exitCode, program.output).toBe(0);
      await sender.ended;
      const [turn] = turns(home);
      expect(turn.outcome).toBe('incomplete');
      expect(JSON.stringify(turn)).toContain(before?.text.split('\n')[0]?.slice(0, 200));
      expect(cli(home, 'verify')).toContain('No problems found');
    } finally {
      for (const child of [program, sender]) if (child?.running) await child.crash();
    }
  });
}

test('a second start shows the window with its files, and prints nothing', async ({ provider, open, home }) => {
  home.configure(provider);
  const desktop = await open();
  await completeFirstRun(desktop);
  const file = join(home.root, 'ein Gespräch.jsonl');
  writeFileSync(file, '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n');
  const second = new Child(built('contextinfinity'), ['ein Gespräch.jsonl'], home.env(), home.root);
  await second.ended;
  expect([second.process.exitCode, second.output]).toEqual([0, '']);
  await until('the file is offered for import', async () => (await desktop.page.text('dialog[open]')).includes('ein Gespräch.jsonl'));
  expect(await desktop.close()).toBe(true);
});
