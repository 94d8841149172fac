import { expect, test as rooms } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { xdotool } from './dragging.ts';
import { begun, composer, say, test } from './fixtures.ts';
import { Room } from './room.ts';

rooms.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');
rooms.describe.configure({ mode: 'default' }); // the tests of a locale do not affect each other, so they share a window

const small = '[models.small]\nprovider = "openai"\nmodel_id = "small-1"\nbase_url = "http://127.0.0.1:1/v1"\ncontext_limit = 2000\nmax_output = 200\n';
const long = (about: string) => `${Array.from({ length: 60 }, (_, i) => `Sentence ${i + 1} about the ${about} is here.`).join(' ')} That is all of the ${about}.`;
const panel = '[role="tabpanel"]';
const search = '[aria-label="Search memory"]';

for (const locale of ['C', 'de_DE.UTF-8']) {
  rooms.describe(`under ${locale}`, () => {
    let room: Room;
    const run = <T>(body: string, ...args: unknown[]) => room.desktop.page.run<T>(body, ...args);
    const tab = (name: string) => room.desktop.page.press(name, '[role="tablist"]');
    const shown = () => room.desktop.page.text(panel);
    const session = () => run<string>(`return document.querySelector('[data-session][aria-current]')?.dataset.session ?? ''`);
    const branches = async () => (JSON.parse(verb(room.home, 'branches', '--json', await session())) as { branches: unknown[] }).branches.length;

    rooms.beforeAll(async () => {
      room = await Room.open({ LANG: locale }, undefined, small);
      for (const about of ['compass', 'harbour', 'ledger']) await room.talk(`Tell me of the ${about}`, long(about), `That is all of the ${about}.`);
    });
    rooms.afterAll(() => room?.close());

    rooms('no panel is empty for a moment while a turn goes through its states', async () => {
      for (const [name, words] of [['Pending', /pending|not summarised/i], ['State', /Head #/], ['Memory', /memories/], ['Activity', /running/]] as const) {
        await tab(name);
        await until(`the panel ${name}`, async () => words.test(await shown()));
        // Counts only states that a frame could show: mutation callbacks run after all changes of a task.
        await run(`window.emptied = 0;
          window.watching?.disconnect();
          window.watching = new MutationObserver(() => { if (!document.querySelector('[role="tabpanel"] [role="group"]')?.textContent.trim()) window.emptied++; });
          window.watching.observe(document.querySelector('[role="tabpanel"]'), { childList: true, subtree: true, characterData: true })`);
        await room.talk(`Once more, with ${name}`, `Gladly, with ${name}.`);
        expect([name, await run<number>('window.watching.disconnect(); return window.emptied')]).toEqual([name, 0]);
      }
    });

    rooms('Memory keeps the search and the expanded card of each session for that session', async () => {
      const { page } = room.desktop;
      const first = await session();
      const state = () => run<[string, boolean]>(`return [document.querySelector(arguments[0])?.value, document.querySelector('${panel} .card[data-open]') !== null]`, search);
      await tab('Memory');
      await page.type(search, 'compass');
      await until('the results', async () => /result/.test(await shown()));
      await run(`document.querySelector('${panel} [data-line]').click()`);
      await until('its card is open', async () => (await state())[1]);

      xdotool('key', 'ctrl+n');
      await until('another session is open', async () => (await session()) !== first);
      await until('its own Memory', async () => (await state()).join() === ',false');
      await page.type(search, 'of another');
      await page.click(`[data-session="${first}"]`);
      await until('the first session is open again', async () => (await session()) === first);
      await until('its search and its card', async () => (await state()).join() === 'compass,true');
    });

    rooms('rolling back to the head is not offered, and creates no branch when requested by a command', async () => {
      const { page } = room.desktop;
      const before = await branches();
      await tab('Branches');
      await until('the last run', () => page.has(`${panel} .acts button`));
      expect(await run(`return [...document.querySelectorAll('${panel} .acts button')].find((button) => button.innerText.trim() === 'Roll back')?.disabled`)).toBe(true);
      await tab('State');
      await until('the head', async () => /Head #/.test(await shown()));
      await page.click(`${panel} tbody button`);
      expect(await run(`return [...document.querySelectorAll('${panel} button')].filter((button) => button.innerText.trim() === 'Roll back' && !button.disabled).length`)).toBe(0);

      const last = await run<string>(`return [...document.querySelectorAll('article[data-turn]')].at(-1).getAttribute('aria-label').match(/\\d+/)[0]`);
      await say(room.desktop, `/rollback #${last}`);
      await until('the reason is shown', async () => (await page.text()).includes('no branch was created'));
      expect(await branches()).toBe(before);
      await run(`const field = document.querySelector(arguments[0]); field.focus(); field.select(); document.execCommand('delete')`, composer);
    });

    rooms('Pending names the turn that waits for a decision, in its text and on its tab', async () => {
      const { page } = room.desktop;
      const badge = () => page.text('#inspector-tab-pending .badge');
      await tab('Pending');
      await until('nothing is waiting yet', async () => (await shown()).includes('Nothing pending'));
      room.provider.answer('Break off', 'word '.repeat(200), { chunkSize: 10, dropAfter: 20 });
      await say(room.desktop, 'Break off');
      await until('the turn waits for a decision', async () => (await shown()).includes('1 turn needs your decision'));
      expect(await shown()).not.toMatch(/Nothing pending|All turns are summarised/);
      expect(await badge()).toBe('1');
      await page.press('Discard', panel);
      await until('it is decided', async () => (await shown()).includes('Nothing pending') && (await badge()) === '');
    });

    rooms('switching to a smaller model first says that it needs summarisation', async () => {
      const { page } = room.desktop;
      const model = () => page.text('[data-field="model"]');
      const choose = async () => {
        await page.click('[data-field="model"]');
        await until('the models', () => page.has('[role="menu"]'));
        await run(`[...document.querySelectorAll('[role="menu"] [role^="menuitem"]')].find((item) => item.innerText.trim().startsWith('small')).click()`);
        await until('the question', async () => (await page.text('dialog[open]')).includes('small'));
      };
      await choose();
      expect(await page.text('dialog[open]')).toMatch(/This needs summarisation: \d+ (pending )?turns? /);
      xdotool('key', 'Escape');
      await until('nothing is switched', async () => !(await page.has('dialog[open]')));
      expect(await model()).toContain('mock');
      await choose();
      await page.press('Switch', 'dialog[open]');
      await until('it is switched', async () => (await model()).includes('small'));
    });
  });
}

for (const locale of ['C', 'de_DE.UTF-8']) {
  test(`a key of unknown form is not sent before the user chooses its provider, under ${locale}`, async ({ open, provider, vendors }) => {
    const desktop = await open({ LANG: locale });
    const { page } = desktop;
    await begun(desktop);
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
    await until('it is tested with the chosen provider', () => vendors.keys.size > 0);
    expect([...new Set(vendors.requests.map((request) => request.split(' ')[0]))]).toEqual(['api.anthropic.com']);
    expect([...vendors.keys]).toEqual(['f81d4fae7dec11d0a76500a0c91e6bf6']);
  });
}
