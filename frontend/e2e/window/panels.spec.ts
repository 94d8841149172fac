import { expect, test as baseTest } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { variants } from '../harness/tier.ts';
import { xdotool } from './dragging.ts';
import { composer, sendMessage, test, waitForFirstRun } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

baseTest.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
baseTest.describe.configure({ mode: 'default' }); // the tests of a locale do not affect each other, so they share a window

const smallModel = '[models.small]\nprovider = "openai"\nmodel_id = "small-1"\nbase_url = "http://127.0.0.1:1/v1"\ncontext_limit = 2000\nmax_output = 200\n';
const longAnswer = (topic: string) => `${Array.from({ length: 60 }, (_, i) => `Sentence ${i + 1} about the ${topic} is here.`).join(' ')} That is all of the ${topic}.`;
const panel = '[role="tabpanel"]';
const search = '[aria-label="Search memory"]';

for (const locale of variants('C', 'de_DE.UTF-8')) {
  baseTest.describe(`under ${locale}`, () => {
    let env: WindowEnv;
    const run = <T>(body: string, ...args: unknown[]) => env.desktop.page.run<T>(body, ...args);
    const openTab = (name: string) => env.desktop.page.press(name, '[role="tablist"]');
    const panelText = () => env.desktop.page.text(panel);
    const openSession = () => run<string>(`return document.querySelector('[data-session][aria-current]')?.dataset.session ?? ''`);
    const branchCount = async () => (JSON.parse(cli(env.home, 'branches', '--json', await openSession())) as { branches: unknown[] }).branches.length;

    baseTest.beforeAll(async () => {
      env = await WindowEnv.open({ LANG: locale }, undefined, smallModel);
      for (const topic of ['compass', 'harbour', 'ledger']) await env.talk(`Tell me about the ${topic}`, longAnswer(topic), `That is all of the ${topic}.`);
    });
    baseTest.afterAll(() => env?.close());

    baseTest('no panel is empty, even briefly, while a turn goes through its states', async () => {
      for (const [name, pattern] of [['State', /Head #/], ['Memory', /memories/], ['Activity', /running/]] as const) {
        await openTab(name);
        await until(`the panel ${name}`, async () => pattern.test(await panelText()));
        // Counts only states that could be drawn in a frame: mutation callbacks run after all changes of a task.
        await run(`window.emptied = 0;
          window.watching?.disconnect();
          window.watching = new MutationObserver(() => { if (!document.querySelector('[role="tabpanel"] [role="group"]')?.textContent.trim()) window.emptied++; });
          window.watching.observe(document.querySelector('[role="tabpanel"]'), { childList: true, subtree: true, characterData: true })`);
        await env.talk(`Once more, with ${name}`, `Gladly, with ${name}.`);
        expect([name, await run<number>('window.watching.disconnect(); return window.emptied')]).toEqual([name, 0]);
      }
    });

    baseTest('Memory keeps the search and the expanded card of each session for that session', async () => {
      const { page } = env.desktop;
      const first = await openSession();
      const searchState = () => run<[string, boolean]>(`return [document.querySelector(arguments[0])?.value, document.querySelector('${panel} .card[data-open]') !== null]`, search);
      await openTab('Memory');
      await page.type(search, 'compass');
      await until('the results', async () => /result/.test(await panelText()));
      await run(`document.querySelector('${panel} [data-line]').click()`);
      await until('the card is open', async () => (await searchState())[1]);

      xdotool('key', 'ctrl+n');
      await until('another session is open', async () => (await openSession()) !== first);
      await until('its Memory is empty', async () => (await searchState()).join() === ',false');
      await page.type(search, 'another search');
      await page.click(`[data-session="${first}"]`);
      await until('the first session is open again', async () => (await openSession()) === first);
      await until('the search and the card of the first session', async () => (await searchState()).join() === 'compass,true');
    });

    baseTest('rolling back to the head is not offered, and creates no branch when requested by a command', async () => {
      const { page } = env.desktop;
      const before = await branchCount();
      await openTab('Branches');
      await until('the last run of turns', () => page.has(`${panel} .acts button`));
      expect(await run(`return [...document.querySelectorAll('${panel} .acts button')].find((button) => button.innerText.trim() === 'Roll back')?.disabled`)).toBe(true);
      await openTab('State');
      await until('the head', async () => /Head #/.test(await panelText()));
      await page.click(`${panel} tbody button`);
      expect(await run(`return [...document.querySelectorAll('${panel} button')].filter((button) => button.innerText.trim() === 'Roll back' && !button.disabled).length`)).toBe(0);

      const last = await run<string>(`return [...document.querySelectorAll('article[data-turn]')].at(-1).getAttribute('aria-label').match(/\\d+/)[0]`);
      await sendMessage(env.desktop, `/rollback #${last}`);
      await until('the reason is shown', async () => (await page.text()).includes('no branch was created'));
      expect(await branchCount()).toBe(before);
      await run(`const field = document.querySelector(arguments[0]); field.focus(); field.select(); document.execCommand('delete')`, composer);
    });

    baseTest('State names the turn that waits for a decision, in its text and on its tab', async () => {
      const { page } = env.desktop;
      const badge = () => page.text('#inspector-tab-state .badge');
      await openTab('State');
      await until('nothing is waiting yet', async () => (await panelText()).includes('Nothing pending'));
      env.provider.answer('Break off', 'word '.repeat(200), { chunkSize: 10, dropAfter: 20 });
      await sendMessage(env.desktop, 'Break off');
      await until('the turn waits for a decision', async () => (await panelText()).includes('1 turn needs your decision'));
      expect(await panelText()).not.toMatch(/Nothing pending/);
      expect(await badge()).toBe('1');
      await page.press('Discard', panel);
      await until('the decision is applied', async () => (await panelText()).includes('Nothing pending') && (await badge()) === '');
    });

    baseTest('before switching to a smaller model, the dialog says that this needs summarization', async () => {
      const { page } = env.desktop;
      const currentModel = () => page.text('[data-field="model"]');
      const chooseSmall = async () => {
        await page.click('[data-field="model"]');
        await until('the models', () => page.has('dialog[open] .choice'));
        await run(`[...document.querySelectorAll('dialog[open] .choice')].find((item) => item.querySelector('.name').innerText.trim() === 'small').click()`);
        await until('the question', async () => !(await page.has('dialog[open] .choice')) && (await page.text('dialog[open]')).includes('small'));
      };
      await chooseSmall();
      expect(await page.text('dialog[open]')).toMatch(/This needs summarization: \d+ (pending )?turns? /);
      xdotool('key', 'Escape');
      await until('nothing is switched', async () => !(await page.has('dialog[open]')));
      expect(await currentModel()).toContain('mock');
      await chooseSmall();
      await page.press('Switch', 'dialog[open]');
      await until('the model is switched', async () => (await currentModel()).includes('small'));
    });
  });
}

for (const locale of variants('C', 'de_DE.UTF-8')) {
  test(`a key of unknown format is not sent before the user chooses its provider, under ${locale}`, async ({ open, provider, vendors }) => {
    const desktop = await open({ LANG: locale });
    const { page } = desktop;
    await waitForFirstRun(desktop);
    for (const key of ['f81d4fae7dec11d0a76500a0c91e6bf6', 'gsk_5f1d7c0e9b3a48268d2f0011']) {
      await page.run(`const field = document.querySelector('input[type="password"]'); field.focus(); field.select()`);
      await page.paste(key);
      await page.click('form button[type="submit"]');
      await until('the question about its provider', () => page.has('.whose'));
      expect([vendors.requests, [...vendors.keys], [...provider.keys]]).toEqual([[], [], []]);
    }
    await page.run(`const field = document.querySelector('input[type="password"]'); field.focus(); field.select()`);
    await page.paste('f81d4fae7dec11d0a76500a0c91e6bf6');
    await page.click('form button[type="submit"]');
    await page.press('Anthropic', '.whose');
    await until('the key is tested with the chosen provider', () => vendors.keys.size > 0);
    expect([...new Set(vendors.requests.map((request) => request.split(' ')[0]))]).toEqual(['api.anthropic.com']);
    expect([...vendors.keys]).toEqual(['f81d4fae7dec11d0a76500a0c91e6bf6']);
  });
}
