import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { prose } from '../browser/conversation.ts';
import { built, processesWithHome, until } from '../harness/process.ts';
import { exhaustive, variants } from '../harness/tier.ts';
import { reports } from './fakeshell.ts';
import { Desktop, waitForWindow } from './desktop.ts';
import { xdotool } from './dragging.ts';
import { completeFirstRun, composer, conversationText, sendMessage, test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

/** The program's windows in the window manager's list, except those of the first process: id and process. */
function otherWindows(first: Desktop): { id: string; pid: number }[] {
  const list = spawnSync('wmctrl', ['-lp'], { encoding: 'utf8' }).stdout.split('\n').map((line) => line.split(/\s+/));
  return list.filter((fields) => fields.slice(4).join(' ').includes('ContextInfinity') && Number(fields[2]) !== first.pid).map(([id = '', , pid]) => ({ id, pid: Number(pid) }));
}

/** The program's processes with this home, without those of its web views. */
const processesOf = (home: Home) => processesWithHome(home.root).filter((pid) => existsSync(`/proc/${pid}/exe`) && spawnSync('readlink', [`/proc/${pid}/exe`], { encoding: 'utf8' }).stdout.trim() === built('contextinfinity'));

const sessions = (home: Home): { session_id: string; folder: string; turns: number }[] => JSON.parse(cli(home, 'sessions', '--json')).sessions;

/** The title of the open session, from the marked row of the list. */
const openTitle = ({ page }: Desktop) => page.run<string>(`return document.querySelector('[data-session] [aria-current], [data-session][aria-current]')?.closest('[data-session]')?.innerText.split('\\n')[0].trim() ?? ''`);

for (const LANG of variants('C', 'de_DE.UTF-8')) {
  test(`the shortcut and the tray open one quick-ask window from anywhere, and Esc closes it, under ${LANG}`, async ({ provider, open, home, shell }) => {
    home.configure(provider, '[desktop]\nquick_ask_keys = "Ctrl+Alt+Space"');
    const panel = await shell.start('panel');
    const first = await open({ LANG });
    await completeFirstRun(first);
    await until('the icon', () => reports(panel).some((line) => line.registered));
    const shortcut = () => first.page.run<{ phase: string; keys: string }>('return window.go.api.Settings.QuickKey()');
    await until('the X server has registered the shortcut', async () => (await shortcut()).phase === 'bound');
    await first.hide(); // now no window of the program can receive a key

    for (const openQuickAsk of [() => xdotool('key', 'ctrl+alt+space'), () => shell.click('Quick ask')]) {
      openQuickAsk();
      const quick = await until('the quick-ask window', () => otherWindows(first)[0]);
      const focusedPid = () => spawnSync('xdotool', ['getactivewindow', 'getwindowpid'], { encoding: 'utf8' }).stdout.trim();
      await until('the quick-ask window has the keyboard focus', () => focusedPid() === String(quick.pid));
      openQuickAsk(); // the window is open already, so no second one opens
      // Esc works as soon as the page has loaded.
      await until('the quick-ask window is closed and its process has ended', () => {
        expect(otherWindows(first).length).toBeLessThan(2);
        if (otherWindows(first).length === 0 && !existsSync(`/proc/${quick.pid}`)) return true;
        if (focusedPid() === String(quick.pid)) xdotool('key', 'Escape');
        return false;
      });
      // If the second press arrived after Esc, it has correctly opened the window again.
      await until('all other processes have ended', () => {
        if (otherWindows(first).some(({ pid }) => focusedPid() === String(pid))) xdotool('key', 'Escape');
        return processesOf(home).length === 1;
      });
    }
    expect(first.running).toBe(true);
  });
}

test('questions in the quick-ask window have their own session, and Esc closes only that window', async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('How high is the Zugspitze?', 'It is 2962 metres high.');
  const first = await open();
  await completeFirstRun(first);
  const quick = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--quick']);
  try {
    await sendMessage(quick, 'How high is the Zugspitze?');
    await until('the answer', async () => (await conversationText(quick)).includes('2962 metres'));
    await until('the first window lists the session', async () => (await first.page.text('nav, aside')).includes('Quick ask'));
    xdotool('windowactivate', '--sync', await waitForWindow(quick.pid));
    xdotool('key', 'Escape');
    await quick.waitUntilEnded();
  } finally {
    await quick.cleanUp();
  }
  expect(first.running).toBe(true);
  const saved = sessions(home).filter(({ folder }) => folder === 'Quick ask');
  expect(saved).toHaveLength(1);
  expect(cli(home, 'show', saved[0]?.session_id ?? '')).toContain('2962 metres');
});

test('when the first window is killed while the second one streams, nothing is lost, and the second one continues',
  exhaustive, async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('Tell me all', prose(60), { chunkSize: 24, holdAfter: 20 });
  const first = await open();
  await completeFirstRun(first);
  const second = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--new-window']);
  try {
    await sendMessage(second, 'Tell me all');
    await until('the answer begins', async () => (await conversationText(second)).includes('Sentence 3 of'));
    const session = sessions(home).find(({ turns }) => turns > 0)?.session_id ?? '';
    await first.crash();
    await until('the second window has the data open', () => readFileSync(join(home.dataDir, 'writer.lock'), 'utf8').includes(String(second.pid)));
    await waitForWindow(second.pid);
    const [turn] = await until('the interrupted turn is recovered', () => {
      const { turns } = JSON.parse(cli(home, 'show', '--json', session));
      return turns[0]?.outcome === 'incomplete' && turns;
    });
    expect(JSON.stringify(turn)).toContain('Sentence 3 of');
    expect(cli(home, 'verify')).toContain('No problems found');
    // It is an ordinary window, which quits like the first one.
    xdotool('windowactivate', '--sync', await waitForWindow(second.pid));
    await until('the second window quits', () => {
      if (!second.running) return true;
      xdotool('key', 'ctrl+q');
      return false;
    });
  } finally {
    await second.cleanUp().catch(() => undefined); // its driver lost the connection when it restarted
  }
});

test('Ctrl+Tab, Ctrl+1 to 9 and Ctrl+W reach the page: they switch sessions, then close the settings, then the window', async ({ provider, open, home }) => {
  home.configure(provider);
  const desktop = await open();
  await completeFirstRun(desktop);
  for (const name of ['One', 'Two', 'Three']) {
    provider.answer(`Talk of ${name}`, `Here is ${name}.`);
    await desktop.page.run(`window.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', ctrlKey: true, bubbles: true }))`);
    await until('an empty conversation', async () => (await conversationText(desktop)) === '');
    await sendMessage(desktop, `Talk of ${name}`);
    await until('the answer', async () => (await conversationText(desktop)).includes(`Here is ${name}.`));
    await until('the title of the session', async () => (await openTitle(desktop)) === `Talk of ${name}`);
  }
  xdotool('windowactivate', '--sync', await waitForWindow(desktop.pid));
  const key = async (keys: string, expected: string) => {
    xdotool(...(keys.startsWith('hold ') ? ['keydown', 'ctrl', 'key', ...keys.slice(5).split(' '), 'keyup', 'ctrl'] : ['key', keys]));
    await until(`${keys} opens ${expected}`, async () => (await openTitle(desktop)) === `Talk of ${expected}` && (await conversationText(desktop)).includes(`Here is ${expected}.`));
  };
  await key('ctrl+3', 'One');
  await key('ctrl+1', 'Three');
  await key('ctrl+Tab', 'One'); // the session that was open before
  await key('ctrl+Tab', 'Three');
  await key('hold Tab Tab', 'Two');

  xdotool('key', 'ctrl+comma');
  const isConversationVisible = () => desktop.page.run<boolean>(`return document.querySelector('${composer}')?.checkVisibility() ?? false`);
  await until('the settings', async () => !(await isConversationVisible()));
  xdotool('key', 'ctrl+w');
  await until('the conversation again', isConversationVisible);
  xdotool('key', 'ctrl+w');
  await desktop.waitUntilEnded(); // there is no tray to hide in
});
