import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { Ollama, onOllamasPort } from '../harness/ollama.ts';
import { until } from '../harness/process.ts';
import { essay, question } from '../harness/seed.ts';
import { exhaustive, variants } from '../harness/tier.ts';
import { xdotool } from './dragging.ts';
import { composer, sendMessage } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const turns = 60;
const panel = '[role="tabpanel"]';
const search = '[aria-label="Search memory"]';
const openSession = '[data-session][aria-current]';

/** Sends messages with the program's service in the page, because typing so many would take minutes. */
async function sendAll(env: WindowEnv, questions: readonly string[]): Promise<void> {
  await until('the session is listed', () => env.desktop.page.has(openSession));
  await env.desktop.page.run(`const questions = arguments[0];
    const { Sessions, Chat } = window.go.api;
    const sessionId = document.querySelector('${openSession}').dataset.session;
    return (async () => {
      for (const text of questions) {
        const branchId = (await Sessions.List(false, '')).find((row) => row.id === sessionId).activeBranch;
        const { turnId } = await Chat.Send({ sessionId, branchId, text, images: [], files: [], memories: [], model: '', incomplete: '' });
        while (['accepted', 'preparing', 'responding'].includes((await Sessions.Turn(branchId, turnId)).state)) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })()`, questions);
}

async function sendManyTurns(env: WindowEnv): Promise<void> {
  const questions = Array.from({ length: turns }, (_, i) => question(i));
  for (const [i, text] of questions.entries()) env.provider.answer(text, essay(i), { inputTokens: 180 + 118 * i });
  for (let start = 0; start < turns; start += 15) await sendAll(env, questions.slice(start, start + 15));
}

for (const locale of variants('C', 'de_DE.UTF-8')) {
  test(`memory and X-ray after ${turns} turns: rows begin with their text, are pinned and attached there, under ${locale}`,
    exhaustive, async () => {
    const env = await WindowEnv.open({ LANG: locale });
    const { page } = env.desktop;
    const openTab = (name: string) => page.press(name, '[role="tablist"]');
    const panelText = () => page.text(panel);
    const rows = (css: string) => page.run<string[]>(`return [...document.querySelectorAll('${panel} ' + arguments[0])].map((row) => row.innerText.trim())`, css);
    try {
      await sendManyTurns(env);
      await openTab('Memory');
      await until('everything is indexed', async () => new RegExp(`${turns * 2} memories in all sessions, index up to date`).test(await panelText()));
      for (const row of await rows('.card')) expect(row).toMatch(/^(?:What do we have to watch|About [^*]+, step \d+:|That is all)[\s\S]*\n(?:you|the model) · #\d+ · \d\d:\d\d/);

      await page.type(search, 'the lag at the start of the hour');
      xdotool('key', 'Return'); // searches for the whole text now, so that no later search replaces the results
      await until('the results', async () => /\d results/.test(await panelText()) && !(await page.has(`${panel} [aria-busy="true"]`)));
      for (const row of (await rows('.card')).slice(0, 10)) expect(row.match(/\d+\s%/g), row).toHaveLength(1); // one score
      expect(await panelText()).not.toMatch(/Matched:/); // the reasons are shown only on request
      xdotool('key', 'Down', 'Return');
      await until('the card is open and shows the reason', async () => /Why\s+Matched: /.test(await panelText()));

      // The search and the open card stay unchanged while a turn goes through its states.
      env.provider.answer('And now?', 'Now nothing.', { inputTokens: 7_300 });
      await page.run(`window.interruptions = 0;
        new MutationObserver(() => { if (!document.querySelector('${panel} .card[data-open]') || document.querySelector('${panel} .skeleton')) window.interruptions++; }).observe(document.querySelector('${panel}'), { childList: true, subtree: true })`);
      await sendMessage(env.desktop, 'And now?');
      await until('the answer', async () => (await page.text()).includes('Now nothing.'));
      await until('the turn is searchable', async () => new RegExp(`${turns * 2 + 2} memories in all sessions, index up to date`).test(await panelText()));
      expect([await page.run('return window.interruptions'), await page.run(`return document.querySelector('${search}').value`)]).toEqual([0, 'the lag at the start of the hour']);

      // A pin with the keyboard on the open card, an attachment with the mouse on another.
      await page.run(`document.querySelector('${panel} .card[data-open] button[aria-label^="Pin "]').focus()`);
      xdotool('key', 'Return');
      await until('the editor to shorten the pin', () => page.has(`${panel} .editor textarea`)); // the text is longer than a pinned fact should be
      await page.press('Pin', `${panel} .editor`);
      await until('the fact is pinned', async () => (await page.text()).includes('Pinned: sent word for word'));
      await page.press('Attach', `${panel} li:nth-child(2)`);
      await until('the memory is attached', () => page.has('button[aria-label^="Remove the memory of"]'));
      expect(await page.text('main form')).toMatch(/About [^*]+, step \d+/);
      expect(await page.run(`return document.activeElement.matches('${composer.replaceAll('"', '\\"')}')`)).toBe(true);
      env.provider.answer('What was it?', 'It was the lag.', { inputTokens: 7_500 });
      await sendMessage(env.desktop, 'What was it?');
      await until('the answer', async () => (await page.text()).includes('It was the lag.'));

      await openTab('X-ray');
      await page.press('Sent', panel);
      await until('the context of the turn', async () => /Against #\d+/.test(await panelText()));
      await page.run(`[...document.querySelectorAll('${panel} summary')].find((summary) => summary.innerText.includes('Retrieved memory')).click()`);
      await until('the retrieved memory', async () => (await rows('[data-section="retrieved"] li')).some((row) => /^About [^*<]+, step \d+/.test(row)));
      expect((await rows('.changes li')).filter((row) => /\*\*|<m>|##/.test(row))).toEqual([]); // the exact text is shown only when expanded
      await page.run(`document.querySelector('${panel} [data-section="retrieved"] li:last-child').scrollIntoView({ block: 'center' })`);
      expect(await page.run('return document.querySelector("header").getBoundingClientRect().top')).toBe(0); // the panel scrolls, not the window
      expect(env.desktop.console).toEqual([]);
    } finally {
      await env.close();
    }
  });

  test(`a running Ollama is offered as embedder, with cost and time, shows its progress, and can be switched off again, under ${locale}`, async () => {
    const started = await onOllamasPort(Ollama.start);
    test.skip(started === undefined, 'something else listens on port 11434 of this machine');
    const ollama = started as Ollama;
    const env = await WindowEnv.open({ LANG: locale });
    try {
      let { page } = env.desktop;
      const panelText = () => page.text(panel);
      const isOffered = async () => (await panelText()).includes('Ollama is running');
      await env.talk('Which crane lifts the masts?', 'Bertha lifts the masts.');
      await page.press('Memory', '[role="tablist"]');
      await until('Ollama is offered', isOffered);
      expect(await panelText()).toContain('The built-in index finds other words for the same thing in English.');

      await page.press('Show cost and time', panel);
      await until('cost and time', async () => /Cost\s+Free\s+Time\s+Less than a minute/.test(await page.text('dialog[open]')));
      expect(ollama.texts.join('\n')).not.toMatch(/crane|Bertha/); // only samples were sent
      xdotool('key', 'Escape');
      await until('nothing was switched', async () => !(await page.has('dialog[open]')) && (await isOffered()));

      ollama.hold();
      await page.run(`[...document.querySelectorAll('${panel} button')].find((button) => button.innerText.includes('Show cost')).focus()`);
      xdotool('key', 'Return');
      await until('the question', () => page.has('dialog[open]'));
      ollama.release();
      await until('the time is measured', async () => (await page.text('dialog[open]')).includes('Less than a minute'));
      ollama.hold();
      await page.press('Index', 'dialog[open]');
      await until('the progress', () => page.has(`${panel} [role="progressbar"][aria-label*="embed-words"]`));
      expect(await isOffered()).toBe(false);
      await page.type(search, 'masts'); // the previous embedder still finds it
      await until('the results', async () => /\d results?/.test(await panelText()));
      ollama.release();
      await until('the new embedder is in use', async () => (await panelText()).includes('index up to date') && ollama.texts.join('\n').includes('Bertha'));

      await env.reopen({ LANG: locale });
      page = env.desktop.page;
      xdotool('key', 'ctrl+comma');
      await page.press('Memory and search', 'nav[aria-label="Settings"]');
      await until('the settings show the new embedder in use', async () => /embed-words on Ollama\s+Runs on this computer\.\s+in use/.test(await page.text()));
      for (const field of ['Reranker server', 'Reranker model']) expect(await page.text()).toContain(field);
      await page.press('Switch back');
      await until('the built-in embedder is in use', async () => /Built-in \(sentence encoder, English\)\s+[^\n]+\s+in use/.test(await page.text()));
      xdotool('key', 'Escape');
      await page.press('Memory', '[role="tablist"]');
      await until('the memories', async () => (await panelText()).includes('index up to date'));
      expect(await isOffered()).toBe(false);
      expect(env.desktop.console).toEqual([]);
    } finally {
      await env.close();
      await ollama.stop();
    }
  });

  test(`the State tab shows for each summary what \`states --json\` reports: origin, tries, reason, missing, added, under ${locale}`, async () => {
    const env = await WindowEnv.open({ LANG: locale }, undefined, '[librarian]\nmodel = "mock"\n');
    const { page } = env.desktop;
    const panelText = () => page.text(panel);
    const summary = '## Facts\n- The user runs Postgres 16 on 10.0.0.7.\n## Decisions\n## Constraints\n- Never deploy on Fridays.\n## Artifacts\n- 10.0.0.7\n## Open tasks\n';
    try {
      await until('the session is listed', () => page.has(openSession));
      const id = await page.run<string>(`return document.querySelector('${openSession}').dataset.session`);
      const states = () => (JSON.parse(cli(env.home, 'states', '--json', id)) as { states: State[] }).states.toReversed().slice(1);
      for (const [i, [message, written]] of ([
        ['We run Postgres 16 on 10.0.0.7. Never deploy on Fridays.', summary],
        ['The budget is 4200 euros, and we must be done by 9 May 2027.', `${summary}- Finish the move.\n`],
        ['The backup is kept in /srv/harbour on the host crane-7.', 'I cannot help with that.'],
      ] as const).entries()) {
        env.provider.answer('Write the updated memory.', written);
        await env.talk(message, `Noted, number ${i + 1}.`);
        await until('the turn is summarized', () => states().length === i + 1);
      }
      expect(states().map(({ origin, check }) => [origin, check])).toEqual([['librarian', 'passed'], ['librarian', 'repaired'], ['fallback', 'failed']]);

      await page.press('State', '[role="tablist"]');
      for (const [i, state] of states().entries()) {
        await until('the history', () => page.has(`${panel} tbody tr:nth-child(4)`));
        await page.click(`${panel} tbody tr:nth-child(${3 - i}) button`);
        await until(`state ${i + 1}`, async () => (await panelText()).includes(state.state_id.slice(-4)));
        await page.run(`for (const summary of document.querySelectorAll('${panel} details:not([open]) > summary')) summary.click()`);
        const text = await panelText();
        expect(text).toContain({ librarian: 'librarian, mock', fallback: 'built-in rules' }[state.origin]);
        expect(text).toMatch({ passed: /Passed on attempt 1/, repaired: new RegExp(`Repaired after ${state.tries} attempt`), failed: new RegExp(`Generated without a model, after ${state.tries} failed attempt`) }[state.check]);
        for (const entry of [...state.added, ...state.missing]) expect(text).toContain(entry);
        if (state.reason) expect(text).toContain(state.reason.replace(/^it /, ''));
      }
      expect(env.desktop.console).toEqual([]);
    } finally {
      await env.close();
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
