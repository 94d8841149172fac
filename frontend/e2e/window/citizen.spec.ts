import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { Child, built, until, within } from '../harness/process.ts';
import { prose } from '../browser/conversation.ts';
import { reports } from './desk.ts';
import { waitForWindow, windowOf } from './desktop.ts';
import { begun, field, pastFirstStart, said, say, test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const question = 'Tell me, tray';
/** The newest session's turns, read by the command line while the window is open. */
const turns = (home: Home): any[] => {
  const [session] = JSON.parse(verb(home, 'sessions', '--json')).sessions;
  return session ? JSON.parse(verb(home, 'show', '--json', session.session_id ?? session.id)).turns : [];
};

test('closing hides the window in the tray; a turn is finished, committed and indexed, and its notification opens the window', async ({ provider, open, home, desk }) => {
  home.configure(provider);
  const text = prose(30);
  provider.answer(question, text, { chunkSize: 24, holdAfter: 10 });
  const panel = await desk.play('panel');
  const notices = await desk.play('notices');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await pastFirstStart(desktop);
  const idle = desk.item();
  expect(idle).toMatchObject({ title: 'ContextInfinity', width: 64, blank: false });
  expect(idle.menu.map((line) => line.label)).toEqual(['Idle', 'Show ContextInfinity', 'New session', 'New window', 'Quick ask', 'Pause background work', 'Check for unfinished work', 'Quit']);
  await say(desktop, question);
  await until('the answer begins', async () => (await said(desktop)).includes('Sentence 1 of'));

  await desktop.hide();
  await until('the tray shows work in progress', () => desk.item().tooltip.includes('Working'));
  expect(desk.item().icon).not.toBe(idle.icon);
  provider.release(question);
  await until('the turn is committed and indexed, behind the tray', () => turns(home)[0]?.phase === 'Done');
  await until('a notification', () => reports(notices).some((line) => line.notice));
  const [notice] = reports(notices).filter((line) => line.notice);
  expect(notice).toMatchObject({ text: 'Your answer is ready.', actions: ['default', 'Open'] });
  expect(JSON.stringify(notice)).not.toContain('Sentence');
  await until('no work is left', () => desk.item().tooltip.includes('Idle'));
  expect(desk.item().icon).toBe(idle.icon);

  notices.process.stdin?.write(`click ${notice?.notice}\n`);
  await waitForWindow(desktop.pid);
  await until('the answer is shown', async () => (await said(desktop)).includes('Sentence 30 of'));
  expect(await field(desktop, 'phase')).toContain('Done');
  expect(desktop.running).toBe(true);
});

test('the menu shows the window, starts a chat, pauses, checks for unfinished work and quits; a click on the icon shows it too', async ({ provider, open, home, desk }) => {
  home.configure(provider);
  await desk.play('panel');
  const desktop = await open();
  await pastFirstStart(desktop);
  await until('the icon', () => { try { return desk.item(); } catch { return null; } });
  await desktop.hide();
  desk.click('Show ContextInfinity');
  await waitForWindow(desktop.pid);
  await desktop.hide();
  desk.tap();
  await waitForWindow(desktop.pid);

  provider.answer(question, 'Here.');
  await say(desktop, question);
  await until('a turn', async () => (await said(desktop)).includes('Here.'));
  await desktop.hide();
  desk.click('New session');
  await waitForWindow(desktop.pid);
  await until('an empty conversation is open', async () => !(await said(desktop)).includes('Here.'));

  const paused = () => desktop.page.run<boolean>('return window.go.api.Work.Background().then((work) => work.paused)');
  desk.click('Pause background work');
  await until('it is paused', paused);
  await until('the tray shows it', () => desk.item().menu.some((line) => line.label === 'Pause background work' && line.checked));
  expect(desk.item().tooltip).toContain('paused');

  const second = 'Tell me more';
  provider.answer(second, 'More.');
  await say(desktop, second);
  const phase = () => turns(home)[0]?.phase as string;
  await until('its turn is final', () => phase() === 'ResponseFinalized');
  desk.click('Check for unfinished work'); // a job requested by the user runs even while jobs are paused
  await until('it is committed and indexed', () => phase() === 'Done');
  desk.click('Pause background work');
  await until('the work is resumed', async () => !(await paused()));
  await until('the tray shows it', () => desk.item().menu.every((line) => !line.checked));

  desk.click('Quit');
  await desktop.ended();
  expect(verb(home, 'verify')).toContain('No problems found');
});

test('the window appears again when the tray disappears, and then closing quits', async ({ provider, open, home, desk }) => {
  home.configure(provider);
  const panel = await desk.play('panel');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await begun(desktop);
  await desktop.hide();
  await panel.crash();
  await waitForWindow(desktop.pid);
  expect(await desktop.close()).toBe(true);
});

test('closing quits if the user has disabled the tray', async ({ provider, open, home, desk }) => {
  home.configure(provider, '[desktop]\nclose_to_tray = false');
  const panel = await desk.play('panel');
  const desktop = await open();
  await until('the icon', () => reports(panel).some((line) => line.registered));
  await begun(desktop);
  expect(await desktop.close()).toBe(true);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} while an answer streams into a hidden window: the program ends in time, and loses nothing it received`, async ({ provider, home, desk }) => {
    home.configure(provider);
    provider.answer(question, prose(100), { chunkSize: 16, holdAfter: 40 });
    const panel = await desk.play('panel');
    const program = new Child(built('contextinfinity'), [], home.env(), home.root);
    let sender: Child | undefined;
    try {
      const id = await waitForWindow(program.pid);
      await until('the icon', () => reports(panel).some((line) => line.registered));
      // Now the window has the data open, so it sends the message itself; a message sent before would belong to the
      // process of the sender.
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
      expect(verb(home, 'verify')).toContain('No problems found');
    } finally {
      for (const child of [program, sender]) if (child?.running) await child.crash();
    }
  });
}

test('a second start shows the window with its files, and prints nothing', async ({ provider, open, home }) => {
  home.configure(provider);
  const desktop = await open();
  await pastFirstStart(desktop);
  const file = join(home.root, 'ein Gespräch.jsonl');
  writeFileSync(file, '{"role":"user","content":"Good morning"}\n{"role":"assistant","content":"And to you"}\n');
  const second = new Child(built('contextinfinity'), ['ein Gespräch.jsonl'], home.env(), home.root);
  await second.ended;
  expect([second.process.exitCode, second.output]).toEqual([0, '']);
  await until('the file is offered for import', async () => (await desktop.page.text('dialog[open]')).includes('ein Gespräch.jsonl'));
  expect(await desktop.close()).toBe(true);
});
