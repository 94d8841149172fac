import type { Page } from '@playwright/test';
import { heavy, hostile } from '../../src/lib/markdown/testing/hostile.ts';
import { expect, test } from '../harness/fixtures.ts';
import { exhaustive, runsAll } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

test('nothing in an answer runs, and there are no requests except to the program', async ({ provider, launch, page }) => {
  const corpus = hostile.map(([name, text]) => `Case: ${name}\n\n${text}`).join('\n\n');
  provider.answer('Try everything', `${corpus}\n\nThe end of it.`, { chunkSize: 400 });
  const activity = recordActivity(page);
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Try everything', 'The end of it.');

  // Every case is readable as text.
  const answer = chat.answer(1);
  for (const [name] of hostile) await expect(answer).toContainText(`Case: ${name}`);
  await expect(answer).toContainText('alert(1)');
  // A diagram is drawn in a frame that may do nothing.
  expect(await answer.locator('script, style, iframe:not(.preview > iframe[sandbox=""][title="Preview of the diagram"]), object, embed, svg:not(.icon, .icon *), form, input, video, audio, link, meta, base, template').count()).toBe(0);
  expect(await answer.evaluate(activeContent)).toEqual([]);
  // Clicking its links does not leave the page.
  for (const link of await answer.locator('a:not([href])').all()) await link.click();
  // After a reload, the answer is drawn from the store.
  await page.reload();
  await expect(chat.answer(1)).toContainText('The end of it.');
  expect(await answer.evaluate(activeContent)).toEqual([]);

  expect(page.url()).toBe(`${program.url}/`);
  expect(activity.ran).toEqual([]);
  expect(activity.outside(program.url)).toEqual([]);
});

test('answers that slow a parser down do not block the window: each is shown, and typing still works', async ({ provider, launch, page }) => {
  // In the everyday form one case of each kind: deep, long, ambiguous. The unit tests measure all cases.
  const caseNames = ['10 000 quotes in quotes', 'a table of 20 000 rows', 'links that never close', ...(runsAll ? ['paragraphs', 'formulas that grow'] : [])];
  const activity = recordActivity(page);
  const program = await launch();
  const chat = new Conversation(page);
  for (const [name, make] of heavy.filter(([name]) => caseNames.includes(name))) {
    // One session for each, because together they would exceed the context of the model.
    await page.keyboard.press('Control+n');
    await expect(chat.turn(1)).toHaveCount(0);
    provider.answer(`Now ${name}`, make(), { chunkSize: 40_000 });
    await chat.ask(`Now ${name}`);
    await expect(chat.turn(1)).toContainText(`Now ${name}`);
    await expect(chat.turn(1)).toHaveAccessibleName(/, saved|pending/);
    await expect(chat.answer(1)).not.toBeEmpty();
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(20_000);
    await chat.composer.fill('Typing still works.');
    await expect(chat.composer).toHaveValue('Typing still works.');
    await chat.composer.fill('');
  }
  await expect(page.getByRole('navigation', { name: 'Sessions' }).getByText(/^Now /)).toHaveCount(caseNames.length);
  expect(activity.ran).toEqual([]);
  expect(activity.outside(program.url)).toEqual([]);
});

// Combining marks, brackets, joiners and scripts with joined letters: engines lay out a run of them as one unit.
const slow: [string, string][] = [
  ['half a million marks', `a${'\u0301'.repeat(500_000)}`],
  ['30 000 unclosed images', '![a]('.repeat(30_000)],
  ['100 000 joined emoji', '👩\u200d'.repeat(100_000)],
  ['180 000 letters that join, without a space', 'لله'.repeat(60_000)],
  ['100 000 changes of direction', 'a\u05d0'.repeat(50_000)],
  ['50 000 words of two directions', 'ab \u05d0\u05d1 '.repeat(25_000)],
  ['20 000 headings', '# Heading\n'.repeat(20_000)],
  ['20 000 rules', '---\n\n'.repeat(20_000)],
];

/** The limit relative to ordinary words. Text that is laid out as one unit takes at least fifty times as long. */
const maxFactor = 20;

const slowTitle = 'text that engines lay out slowly does not block the page much longer than ordinary words';
test(slowTitle, exhaustive, async ({ provider, launch, page, browser }) => {
  await launch();
  const chat = new Conversation(page);
  const durations: Record<string, number> = {};
  const measure = async (message: string, text: string) => {
    await page.keyboard.press('Control+n');
    await expect(chat.turn(1)).toHaveCount(0);
    provider.answer(message, `${text}\n\nThe end.`, { chunkSize: 40_000 });
    await browser.startTracing(page, { categories: ['toplevel'] });
    await chat.ask(message);
    await waitUntilDrawn(page);
    const longest = longestTask(await browser.stopTracing());
    await expect(chat.turn(1)).toHaveAccessibleName(/, saved|pending/);
    await expect(chat.answer(1)).not.toBeEmpty();
    return longest;
  };
  const baseline = Math.max(30, (durations['ordinary words'] = await measure('Now ordinary words', 'word '.repeat(20_000)))); // smaller values are mostly noise
  for (const [name, text] of slow) {
    durations[name] = Infinity;
    // A busy processor takes longer for the same work, so the smallest of three measurements counts.
    for (let attempt = 1; attempt <= 3 && durations[name]! >= maxFactor * baseline; attempt++) durations[name] = Math.min(durations[name]!, await measure(`Now ${name}, ${attempt}`, text));
  }
  for (const [name] of slow) expect(durations[name], `${name}: ${JSON.stringify(durations)}`).toBeLessThan(maxFactor * baseline);
});

/**
 * Waits until the answer is complete and completely drawn. Playwright's assertions would cause layouts in tasks of the
 * page, and so distort the measurement.
 */
const waitUntilDrawn = (page: Page) =>
  page.waitForFunction(
    () => {
      const answer = document.querySelector('.turn[data-outcome="completed"] .prose:not([data-growing])');
      const blocks = answer?.childElementCount ?? 0;
      const previousBlocks = Number(answer?.getAttribute('data-counted') ?? -1);
      answer?.setAttribute('data-counted', String(blocks));
      return blocks > 0 && blocks === previousBlocks;
    },
    undefined,
    { polling: 700 },
  );

/**
 * The longest task of the page's thread in a trace, in milliseconds of processor time, which does not depend on the
 * load of the machine.
 */
function longestTask(trace: Buffer): number {
  const { traceEvents: events } = JSON.parse(trace.toString()) as { traceEvents: { name?: string; pid: number; tid: number; tdur?: number; args?: { name?: string } }[] };
  const thread = (event: { pid: number; tid: number }) => `${event.pid}/${event.tid}`;
  const pages = new Set(events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(thread));
  const tasks = events.filter((event) => event.name?.endsWith('RunTask') && pages.has(thread(event))).map(({ tdur }) => tdur ?? 0);
  expect(Math.max(...tasks)).toBeGreaterThan(0);
  return Math.max(...tasks) / 1000;
}

/** Active content in an answer: event handlers, and addresses other than web and turn links and inline images. */
function activeContent(answer: Element): string[] {
  return [...answer.querySelectorAll('*:not(.preview > iframe[sandbox=""])')].flatMap((element) =>
    [...element.attributes]
      .filter(({ name, value }) =>
        /^on|^(?:srcset|ping|srcdoc|formaction|action|background|poster)$/i.test(name) ||
        (/^(?:href|src|xlink:href|data)$/i.test(name) && !/^(?:https?:\/\/|contextinfinity:\/\/turn\/|data:image\/(?:png|jpeg|gif|webp);base64,)/i.test(value)) ||
        (name === 'src' && /^https?:/i.test(value)))
      .map(({ name, value }) => `${element.localName} ${name}=${value}`),
  );
}

/** Records everything that shows that a script ran or a resource was loaded. */
function recordActivity(page: Page) {
  const ran: string[] = [];
  const requests: string[] = [];
  page.on('dialog', (dialog) => {
    ran.push(`${dialog.type()}: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => ran.push(`window: ${popup.url()}`));
  page.on('download', (download) => ran.push(`download: ${download.url()}`));
  page.context().on('request', (request) => requests.push(request.url()));
  const isOwn = (url: string, base: string) => url.startsWith(`${base}/`) || /^(?:data|blob):/.test(url);
  return { ran, outside: (base: string) => requests.filter((url) => !isOwn(url, base)) };
}
