import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { Ollama } from '../harness/ollama.ts';
import { until } from '../harness/process.ts';
import { essay, question } from '../harness/seed.ts';
import { xdotool } from './dragging.ts';
import { composer, say } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const turns = 60;
const panel = '[role="tabpanel"]';
const search = '[aria-label="Search memory"]';
const session = '[data-session][aria-current]';

/** Sends messages through the program's service in the window: typing so many would take minutes. */
async function ask(room: Room, questions: readonly string[]): Promise<void> {
  await until('its session is listed', () => room.desktop.page.has(session));
  await room.desktop.page.run(`const questions = arguments[0];
    const { Sessions, Chat } = window.go.api;
    const sessionId = document.querySelector('${session}').dataset.session;
    return (async () => {
      for (const text of questions) {
        const branchId = (await Sessions.List(false, '')).find((row) => row.id === sessionId).activeBranch;
        const { turnId } = await Chat.Send({ sessionId, branchId, text, images: [], files: [], memories: [], model: '', incomplete: '' });
        while (['accepted', 'preparing', 'responding'].includes((await Sessions.Turn(branchId, turnId)).state)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })()`, questions);
}

async function talkLong(room: Room): Promise<void> {
  const questions = Array.from({ length: turns }, (_, at) => question(at));
  for (const [at, text] of questions.entries()) room.provider.answer(text, essay(at), { inputTokens: 180 + 118 * at });
  for (let at = 0; at < turns; at += 15) await ask(room, questions.slice(at, at + 15));
}

for (const locale of ['C', 'de_DE.UTF-8']) {
  test(`memory and X-ray after ${turns} turns: rows begin with their text, and are pinned and attached in place, under ${locale}`, async () => {
    const room = await Room.open({ LANG: locale });
    const { page } = room.desktop;
    const tab = (name: string) => page.press(name, '[role="tablist"]');
    const shown = () => page.text(panel);
    const rows = (css: string) => page.run<string[]>(`return [...document.querySelectorAll('${panel} ' + arguments[0])].map((row) => row.innerText.trim())`, css);
    try {
      await talkLong(room);
      await tab('Memory');
      await until('everything is indexed', async () => new RegExp(`${turns * 2} memories in all sessions, index up to date`).test(await shown()));
      for (const row of await rows('.card')) expect(row).toMatch(/^(?:What do we have to watch|About [^*]+, step \d+:|That is all)[\s\S]*\n(?:you|the model) · #\d+ · \d\d:\d\d/);

      await page.type(search, 'the lag at the start of the hour');
      xdotool('key', 'Return'); // searches for the whole text at once, so that no later result replaces these
      await until('the results', async () => /\d results/.test(await shown()) && !(await page.has(`${panel} [aria-busy="true"]`)));
      for (const row of (await rows('.card')).slice(0, 10)) expect(row.match(/\d+\s%/g), row).toHaveLength(1); // one score
      expect(await shown()).not.toMatch(/Matched:/); // the reasons are shown only on request
      xdotool('key', 'Down', 'Return');
      await until('its card is open and shows the reason', async () => /Why\s+Matched: /.test(await shown()));

      // The search and the open card stay unchanged while a turn goes through its states.
      room.provider.answer('And now?', 'Now nothing.', { inputTokens: 7_300 });
      await page.run(`window.gone = 0;
        new MutationObserver(() => { if (!document.querySelector('${panel} .card[data-open]') || document.querySelector('${panel} .skeleton')) window.gone++; }).observe(document.querySelector('${panel}'), { childList: true, subtree: true })`);
      await say(room.desktop, 'And now?');
      await until('the answer', async () => (await page.text()).includes('Now nothing.'));
      await until('the turn is searchable', async () => new RegExp(`${turns * 2 + 2} memories in all sessions, index up to date`).test(await shown()));
      expect([await page.run('return window.gone'), await page.run(`return document.querySelector('${search}').value`)]).toEqual([0, 'the lag at the start of the hour']);

      // With the keyboard on the open card, and with the mouse on another.
      await page.run(`document.querySelector('${panel} .card[data-open] button[aria-label^="Pin "]').focus()`);
      xdotool('key', 'Return');
      await until('the editor to shorten the pin', () => page.has(`${panel} .editor textarea`)); // it is longer than a pinned fact should be
      await page.press('Pin', `${panel} .editor`);
      await until('it is pinned', async () => (await page.text()).includes('Pinned: sent word for word'));
      await page.press('Attach', `${panel} li:nth-child(2)`);
      await until('it is attached', () => page.has('button[aria-label^="Remove the memory of"]'));
      expect(await page.text('main form')).toMatch(/About [^*]+, step \d+/);
      expect(await page.run(`return document.activeElement.matches('${composer.replaceAll('"', '\\"')}')`)).toBe(true);
      room.provider.answer('What was it?', 'It was the lag.', { inputTokens: 7_500 });
      await say(room.desktop, 'What was it?');
      await until('the answer', async () => (await page.text()).includes('It was the lag.'));

      await tab('X-ray');
      await page.press('Saw', panel);
      await until('the context of the turn', async () => /Against #\d+/.test(await shown()));
      await page.run(`[...document.querySelectorAll('${panel} summary')].find((one) => one.innerText.includes('Retrieved memory')).click()`);
      await until('the retrieved memory', async () => (await rows('[data-section="retrieved"] li')).some((row) => /^About [^*<]+, step \d+/.test(row)));
      expect((await rows('.changes li')).filter((row) => /\*\*|<m>|##/.test(row))).toEqual([]); // the exact text is shown only when expanded
      await page.run(`document.querySelector('${panel} [data-section="retrieved"] li:last-child').scrollIntoView({ block: 'center' })`);
      expect(await page.run('return document.querySelector("header").getBoundingClientRect().top')).toBe(0); // the panel scrolls, not the window
      expect(room.desktop.console).toEqual([]);
    } finally {
      await room.close();
    }
  });

  test(`a running Ollama is offered once as embedder, with cost and time, its progress and the way back, under ${locale}`, async () => {
    const found = await Ollama.start();
    test.skip(found === undefined, 'something else listens on port 11434 of this machine');
    const ollama = found as Ollama;
    const room = await Room.open({ LANG: locale });
    try {
      let { page } = room.desktop;
      const shown = () => page.text(panel);
      const offered = async () => (await shown()).includes('Ollama is running');
      await room.talk('Which crane lifts the masts?', 'Bertha lifts the masts.');
      await page.press('Memory', '[role="tablist"]');
      await until('it is offered', offered);
      expect(await shown()).toContain('The built-in index compares words and parts of words only.');

      await page.press('Show cost and time', panel);
      await until('cost and time', async () => /Cost\s+Free\s+Time\s+Less than a minute/.test(await page.text('dialog[open]')));
      expect(ollama.texts.join('\n')).not.toMatch(/crane|Bertha/); // only samples
      xdotool('key', 'Escape');
      await until('nothing was switched', async () => !(await page.has('dialog[open]')) && (await offered()));

      ollama.hold();
      await page.run(`[...document.querySelectorAll('${panel} button')].find((one) => one.innerText.includes('Show cost')).focus()`);
      xdotool('key', 'Return');
      await until('the question', () => page.has('dialog[open]'));
      ollama.release();
      await until('it is measured', async () => (await page.text('dialog[open]')).includes('Less than a minute'));
      ollama.hold();
      await page.press('Index', 'dialog[open]');
      await until('its progress', () => page.has(`${panel} [role="progressbar"][aria-label*="embed-words"]`));
      expect(await offered()).toBe(false);
      await page.type(search, 'masts'); // found by the previous embedder
      await until('the results', async () => /\d results?/.test(await shown()));
      ollama.release();
      await until('it is in use', async () => (await shown()).includes('index up to date') && ollama.texts.join('\n').includes('Bertha'));

      await room.reopen({ LANG: locale });
      page = room.desktop.page;
      xdotool('key', 'ctrl+comma');
      await page.press('Memory and search', 'nav[aria-label="Settings"]');
      await until('it is in use', async () => /embed-words on Ollama\s+Runs on this computer\.\s+in use/.test(await page.text()));
      for (const field of ['Reranker server', 'Reranker model']) expect(await page.text()).toContain(field);
      await page.press('Switch back');
      await until('the built-in one is in use', async () => /Built-in \(hashed word features\)\s+[^\n]+\s+in use/.test(await page.text()));
      xdotool('key', 'Escape');
      await page.press('Memory', '[role="tablist"]');
      await until('the memory', async () => (await shown()).includes('index up to date'));
      expect(await offered()).toBe(false);
      expect(room.desktop.console).toEqual([]);
    } finally {
      await room.close();
      await ollama.stop();
    }
  });

  test(`the State tab shows for each summary what \`states --json\` reports: origin, tries, reason, missing, added, under ${locale}`, async () => {
    const room = await Room.open({ LANG: locale }, undefined, '[librarian]\nmodel = "mock"\n');
    const { page } = room.desktop;
    const shown = () => page.text(panel);
    const kept = '## Facts\n- The user runs Postgres 16 on 10.0.0.7.\n## Decisions\n## Constraints\n- Never deploy on Fridays.\n## Artifacts\n- 10.0.0.7\n## Open tasks\n';
    try {
      await until('its session is listed', () => page.has(session));
      const id = await page.run<string>(`return document.querySelector('${session}').dataset.session`);
      const states = () => (JSON.parse(verb(room.home, 'states', '--json', id)) as { states: State[] }).states.toReversed().slice(1);
      for (const [at, [asked, written]] of ([
        ['We run Postgres 16 on 10.0.0.7. Never deploy on Fridays.', kept],
        ['The budget is 4200 euros, and we must be done by 9 May 2027.', `${kept}- Finish the move.\n`],
        ['The backup is kept in /srv/harbour on the host crane-7.', 'I cannot help with that.'],
      ] as const).entries()) {
        room.provider.answer('Write the updated memory.', written);
        await room.talk(asked, `Noted, number ${at + 1}.`);
        await until('it is summarised', () => states().length === at + 1);
      }
      expect(states().map(({ origin, check }) => [origin, check])).toEqual([['librarian', 'passed'], ['librarian', 'repaired'], ['fallback', 'failed']]);

      await page.press('State', '[role="tablist"]');
      for (const [at, state] of states().entries()) {
        await until('the history', () => page.has(`${panel} tbody tr:nth-child(4)`));
        await page.click(`${panel} tbody tr:nth-child(${3 - at}) button`);
        await until(`state ${at + 1}`, async () => (await shown()).includes(state.state_id.slice(-4)));
        await page.run(`for (const one of document.querySelectorAll('${panel} details:not([open]) > summary')) one.click()`);
        const said = await shown();
        expect(said).toContain({ librarian: 'librarian, mock', fallback: 'built-in rules' }[state.origin]);
        expect(said).toMatch({ passed: /Passed on try 1/, repaired: new RegExp(`Repaired after ${state.tries} tr`), failed: new RegExp(`Made without a model, after ${state.tries} tr`) }[state.check]);
        for (const entry of [...state.added, ...state.missing]) expect(said).toContain(entry);
        if (state.reason) expect(said).toContain(state.reason.replace(/^it /, ''));
      }
      expect(room.desktop.console).toEqual([]);
    } finally {
      await room.close();
    }
  });
}

interface State {
  state_id: string;
  origin: 'librarian' | 'fallback';
  check: 'passed' | 'repaired' | 'failed';
  tries: number;
  reason: string;
  missing: string[];
  added: string[];
}
