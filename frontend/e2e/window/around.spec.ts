import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { prose } from '../browser/conversation.ts';
import { belonging, built, until } from '../harness/process.ts';
import { reports } from './desk.ts';
import { Desktop, waitForWindow } from './desktop.ts';
import { xdotool } from './dragging.ts';
import { composer, pastFirstStart, said, say, test } from './fixtures.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

/** The program's windows except the first one, from the window manager's list: id and process. */
function others(first: Desktop): { id: string; pid: number }[] {
  const list = spawnSync('wmctrl', ['-lp'], { encoding: 'utf8' }).stdout.split('\n').map((line) => line.split(/\s+/));
  return list.filter((fields) => fields.slice(4).join(' ').includes('ContextInfinity') && Number(fields[2]) !== first.pid).map(([id = '', , pid]) => ({ id, pid: Number(pid) }));
}

/** The program's processes for this home, without those of its web views. */
const processesOf = (home: Home) => belonging(home.root).filter((pid) => existsSync(`/proc/${pid}/exe`) && spawnSync('readlink', [`/proc/${pid}/exe`], { encoding: 'utf8' }).stdout.trim() === built('contextinfinity'));

const sessions = (home: Home): { session_id: string; folder: string; turns: number }[] => JSON.parse(verb(home, 'sessions', '--json')).sessions;

/** The title of the open session, from the marked row of the list. */
const opened = ({ page }: Desktop) => page.run<string>(`return document.querySelector('[data-session] [aria-current], [data-session][aria-current]')?.closest('[data-session]')?.innerText.split('\\n')[0].trim() ?? ''`);

for (const LANG of ['C', 'de_DE.UTF-8']) {
  test(`shortcut and tray open one small window from anywhere, and Esc closes it, under ${LANG}`, async ({ provider, open, home, desk }) => {
    home.configure(provider, '[desktop]\nquick_ask_keys = "Ctrl+Alt+Space"');
    const panel = await desk.play('panel');
    const first = await open({ LANG });
    await pastFirstStart(first);
    await until('the icon', () => reports(panel).some((line) => line.registered));
    const state = () => first.page.run<{ phase: string; keys: string }>('return window.go.api.Settings.QuickKey()');
    await until('the X server registered the keys', async () => (await state()).phase === 'bound');
    await first.hide(); // now no window of the program can receive a key

    for (const begin of [() => xdotool('key', 'ctrl+alt+space'), () => desk.click('Quick ask')]) {
      begin();
      const quick = await until('the small window', () => others(first)[0]);
      const focused = () => spawnSync('xdotool', ['getactivewindow', 'getwindowpid'], { encoding: 'utf8' }).stdout.trim();
      await until('it has the keyboard', () => focused() === String(quick.pid));
      begin(); // it is open already, so no second one opens
      // Esc works as soon as the page has loaded.
      await until('the small window and its process have ended', () => {
        expect(others(first).length).toBeLessThan(2);
        if (others(first).length === 0 && !existsSync(`/proc/${quick.pid}`)) return true;
        if (focused() === String(quick.pid)) xdotool('key', 'Escape');
        return false;
      });
      // A press that arrived only after Esc has rightly opened the window again.
      await until('the second start has ended too', () => {
        if (others(first).some((one) => focused() === String(one.pid))) xdotool('key', 'Escape');
        return processesOf(home).length === 1;
      });
    }
    expect(first.running).toBe(true);
  });
}

test('questions in the small window have a session of their own, and Esc closes only the window', async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('How high is the Zugspitze?', 'It is 2962 metres high.');
  const first = await open();
  await pastFirstStart(first);
  const quick = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--quick']);
  try {
    await say(quick, 'How high is the Zugspitze?');
    await until('its answer', async () => (await said(quick)).includes('2962 metres'));
    await until('the first window lists it', async () => (await first.page.text('nav, aside')).includes('Quick ask'));
    xdotool('windowactivate', '--sync', await waitForWindow(quick.pid));
    xdotool('key', 'Escape');
    await quick.ended();
  } finally {
    await quick.abandon();
  }
  expect(first.running).toBe(true);
  const kept = sessions(home).filter(({ folder }) => folder === 'Quick ask');
  expect(kept).toHaveLength(1);
  expect(verb(home, 'show', kept[0]?.session_id ?? '')).toContain('2962 metres');
});

test('when the first window is killed while the second one streams, nothing is lost, and the second one continues', async ({ provider, open, home, vendors }) => {
  home.configure(provider);
  provider.answer('Tell me all', prose(60), { chunkSize: 24, holdAfter: 20 });
  const first = await open();
  await pastFirstStart(first);
  const second = await Desktop.start(home, built('contextinfinity'), vendors.env, ['--new-window']);
  try {
    await say(second, 'Tell me all');
    await until('the answer begins', async () => (await said(second)).includes('Sentence 3 of'));
    const session = sessions(home).find(({ turns }) => turns > 0)?.session_id ?? '';
    await first.crash();
    await until('the second window has the data', () => readFileSync(join(home.dataDir, 'writer.lock'), 'utf8').includes(String(second.pid)));
    await waitForWindow(second.pid);
    const [turn] = await until('the turn is settled', () => {
      const { turns } = JSON.parse(verb(home, 'show', '--json', session));
      return turns[0]?.outcome === 'incomplete' && turns;
    });
    expect(JSON.stringify(turn)).toContain('Sentence 3 of');
    expect(verb(home, 'verify')).toContain('No problems found');
    // It is an ordinary window, which closes like the first one.
    xdotool('windowactivate', '--sync', await waitForWindow(second.pid));
    await until('the second window quits', () => {
      if (!second.running) return true;
      xdotool('key', 'ctrl+q');
      return false;
    });
  } finally {
    await second.abandon().catch(() => undefined); // its driver lost the connection when it restarted
  }
});

test('Ctrl+Tab, Ctrl+1 to 9 and Ctrl+W reach the page: they switch sessions, then close the settings, then the window', async ({ provider, open, home }) => {
  home.configure(provider);
  const desktop = await open();
  await pastFirstStart(desktop);
  for (const name of ['One', 'Two', 'Three']) {
    provider.answer(`Talk of ${name}`, `Here is ${name}.`);
    await desktop.page.run(`window.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', ctrlKey: true, bubbles: true }))`);
    await until('an empty conversation', async () => (await said(desktop)) === '');
    await say(desktop, `Talk of ${name}`);
    await until('its answer', async () => (await said(desktop)).includes(`Here is ${name}.`));
    await until('its title', async () => (await opened(desktop)) === `Talk of ${name}`);
  }
  xdotool('windowactivate', '--sync', await waitForWindow(desktop.pid));
  const key = async (keys: string, expected: string) => {
    xdotool(...(keys.startsWith('held ') ? ['keydown', 'ctrl', 'key', ...keys.slice(5).split(' '), 'keyup', 'ctrl'] : ['key', keys]));
    await until(`${keys} opens ${expected}`, async () => (await opened(desktop)) === `Talk of ${expected}` && (await said(desktop)).includes(`Here is ${expected}.`));
  };
  await key('ctrl+3', 'One');
  await key('ctrl+1', 'Three');
  await key('ctrl+Tab', 'One'); // which was open before
  await key('ctrl+Tab', 'Three');
  await key('held Tab Tab', 'Two');

  xdotool('key', 'ctrl+comma');
  const conversation = () => desktop.page.run<boolean>(`return document.querySelector('${composer}')?.checkVisibility() ?? false`);
  await until('the settings', async () => !(await conversation()));
  xdotool('key', 'ctrl+w');
  await until('the conversation again', conversation);
  xdotool('key', 'ctrl+w');
  await desktop.ended(); // there is no tray to hide in
});
