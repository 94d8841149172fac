/**
 * Measures the transcript in Chromium and prints a table: `npm run bench`, or as a part of `make bench`. It uses the
 * real page on Vite's server with the fake program (?fake) and 10 000 turns, so the real program's time is not
 * included. Times depend on the machine.
 */
import { execSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';

const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const minutes = Number(process.env.BENCH_MINUTES ?? 10);
const browserPath = execSync('command -v chromium || command -v chromium-browser || command -v google-chrome || true', { encoding: 'utf8', shell: '/bin/bash' }).trim();
if (browserPath === '') {
  console.log('The transcript was not measured: there is no Chromium.');
  process.exit(0);
}

const rows = [];
const row = (what, value, wanted) => rows.push([what, value, wanted]);
const ms = (value) => `${value.toFixed(1)} ms`;

const server = await createServer({ root: fileURLToPath(new URL('..', import.meta.url)), logLevel: 'error', server: { host: '127.0.0.1', port: 0, hmr: false, watch: null } });
await server.listen();
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--expose-gc'] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const outside = [];
  await page.route(/^https?:/, (route) => (route.request().url().startsWith(server.resolvedUrls.local[0]) ? route.continue() : (outside.push(route.request().url()), route.abort())));
  page.on('pageerror', (error) => row('error of the page', error.message.slice(0, 60), 'none'));
  await page.goto(`${server.resolvedUrls.local[0]}?fake`);
  await page.getByText('Ten thousand turns').waitFor();
  await page.evaluate(tools);
  await page.evaluate(() => open('Orders to Postgres')); // the first turn drawn loads the chunks that all turns need
  await opening(page);
  await scrolling(page);
  await streaming(page);
  await memory(page);
  await hostility(page, outside);
} finally {
  await browser.close();
  await server.close();
}
print();

async function opening(page) {
  const times = [];
  for (let i = 0; i < 5; i++) {
    await page.evaluate(() => open('Orders to Postgres'));
    times.push(await page.evaluate(() => open('Ten thousand turns')));
  }
  row('first paint after the click, 10 000 turns, median of 5', ms(times.sort((a, b) => a - b)[2]), '< 300 ms');
  row('DOM nodes', await page.evaluate(() => document.querySelectorAll('*').length), '< 3 000');
}

async function scrolling(page) {
  frames('scrolling', await page.evaluate((seconds) => {
    const list = document.querySelector('.transcript');
    list.dispatchEvent(new WheelEvent('wheel', { deltaY: -100 }));
    return frameTimes(seconds, () => (list.scrollTop -= 60));
  }, seconds));
  row('DOM nodes after scrolling', await page.evaluate(() => document.querySelectorAll('*').length), '< 3 000');
}

/** 500 tokens a second are about 2 000 characters: 32 every 16 ms, added to an answer that already has 100 KB. */
async function streaming(page) {
  await page.evaluate(async () => {
    await open('Ten thousand turns');
    Object.assign(fake.streams.pace, { frameMs: 16, chars: 32, prepareMs: 50, syncMs: 400 });
    const session = [...fake.store.sessions.values()].find(({ row }) => row.title === 'Ten thousand turns').row;
    const { turnId } = await fake.chat.send({ sessionId: session.id, branchId: '', text: 'Tell me a lot', images: [], files: [], memories: [], model: '', incomplete: '' });
    const turn = fake.store.turn(turnId);
    while (!turn.live) await new Promise((resolve) => setTimeout(resolve, 20));
    const run = fake.streams.find(turn.liveStep);
    const answer = Array.from({ length: 4_000 }, (_, i) => (i % 9 === 0 ? `## Part ${i}\n\n` : i % 9 === 4 ? '```go\nfunc f(n int) int {\n\treturn n * 2\n}\n```\n\n' : `Paragraph ${i} with *some* **words** and \`code\`, ${'and so on '.repeat(12)}.\n\n`)).join('');
    run.rest = answer;
    fake.streams.pace.chars = 10_000;
    while (run.rest.length > answer.length - 100_000) await new Promise((resolve) => setTimeout(resolve, 20));
    fake.streams.pace.chars = 32;
    window.streamed = turn;
    await new Promise((resolve) => setTimeout(resolve, 500));
  });
  const before = await page.evaluate(() => streamed.displayed);
  frames('while 500 tokens a second arrive at 100 KB', await page.evaluate((seconds) => frameTimes(seconds), seconds));
  row('characters a second that arrived', Math.round((await page.evaluate(() => streamed.displayed) - before) / seconds), 'some 2 000');
  await page.evaluate(() => fake.streams.stop(streamed.id));
}

/**
 * Minutes of heavy use: switching sessions, scrolling back, a jump, a streaming answer. The streamed text is removed
 * from the fake program again, because it is in the same heap but does not belong to the page.
 */
async function memory(page) {
  const heap = () => page.evaluate(async () => {
    for (let i = 0; i < 3; i++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return performance.memory.usedJSHeapSize / 1e6;
  });
  const round = () => page.evaluate(async () => {
    const rest = (time) => new Promise((resolve) => setTimeout(resolve, time));
    await open('Orders to Postgres');
    await open('Ten thousand turns');
    const list = document.querySelector('.transcript');
    for (let i = 0; i < 20; i++) {
      list.dispatchEvent(new WheelEvent('wheel', { deltaY: -100 }));
      list.scrollTop -= 1_500;
      await new Promise(requestAnimationFrame);
    }
    list.scrollTop = list.scrollHeight;
    const session = [...fake.store.sessions.values()].find(({ row }) => row.title === 'Ten thousand turns').row;
    Object.assign(fake.streams.pace, { frameMs: 16, chars: 200, prepareMs: 50, syncMs: 400 });
    const { turnId } = await fake.chat.send({ sessionId: session.id, branchId: '', text: 'Tell me more', images: [], files: [], memories: [], model: '', incomplete: '' });
    await rest(1_500);
    window.answered = (window.answered ?? 0) + fake.store.turn(turnId).displayed;
    await fake.streams.stop(turnId);
    await open('Orders to Postgres');
    const branch = fake.store.branch(session.activeBranch);
    branch.turns = branch.turns.filter((turn) => turn.id !== turnId);
    fake.store.changed('sessions', session.id, session.id);
    fake.calls.length = 0;
  });
  for (let i = 0; i < 5; i++) await round();
  const sizes = [await heap()];
  const nodes = [await page.evaluate(() => document.querySelectorAll('*').length)];
  let rounds = 0;
  for (let minute = 1; minute <= minutes; minute++) {
    for (const until = performance.now() + 60_000; performance.now() < until; rounds++) await round();
    sizes.push(await heap());
    nodes.push(await page.evaluate(() => document.querySelectorAll('*').length));
    console.error(`heap after minute ${minute}: ${sizes.at(-1).toFixed(1)} MB, ${nodes.at(-1)} nodes`);
  }
  const middle = sizes[Math.floor(sizes.length / 2)];
  row(`heap at first, after ${Math.floor(minutes / 2)} and ${minutes} minutes (${rounds} rounds of opening, reading back, an answer)`, [sizes[0], middle, sizes.at(-1)].map((size) => size.toFixed(1)).join(', ') + ' MB', 'flat');
  row('DOM nodes before and after it', `${nodes[0]} and ${nodes.at(-1)}`, 'the same');
  row('characters that streamed meanwhile', await page.evaluate(() => window.answered), '');
}

async function hostility(page, outside) {
  const found = await page.evaluate(async () => {
    const { heavy, hostile } = await import('/src/lib/markdown/testing/hostile.ts');
    const session = fake.store.addSession('Hostile texts');
    const texts = [['an ordinary text, to compare', () => 'One *short* paragraph.'], ['all that acts', () => hostile.map(([, text]) => text).join('\n\n')], ...heavy];
    window.alert = () => (window.ran = true);
    const worst = [];
    for (const [name, make] of texts) {
      const branch = fake.store.branch(session.row.activeBranch);
      branch.turns = [];
      fake.store.addTurn(session.row.activeBranch, { user: [{ kind: 'text', text: name, name: '', id: '', data: '', isError: false, tokens: 0, whole: false }], assistant: [{ kind: 'text', text: make(), name: '', id: '', data: '', isError: false, tokens: 0, whole: false }], state: 'head' });
      fake.store.changed('sessions', session.row.id, session.row.id);
      await open('Orders to Postgres');
      longest();
      await open('Hostile texts');
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      worst.push([longest(), name, document.querySelectorAll('*').length]);
    }
    return { plain: worst[0][0], worst: worst.slice(1).sort((a, b) => b[0] - a[0]).slice(0, 3), texts: texts.length, ran: window.ran === true };
  });
  row('longest task of an ordinary text, to compare', `${found.plain.toFixed(0)} ms`, '');
  for (const [time, name, nodes] of found.worst) row(`longest task of hostile Markdown: ${name}`, `${time.toFixed(0)} ms, ${nodes} nodes`, '< 200 ms');
  row('hostile Markdown that ran, or fetched', `${found.ran ? 'some' : 'none'}, ${outside.length}`, 'none, 0');
}

function frames(what, deltas) {
  const sorted = [...deltas].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  row(`frames a second ${what}`, (1_000 / (deltas.reduce((sum, delta) => sum + delta, 0) / deltas.length)).toFixed(1), '60');
  row(`frame time ${what}: median, 95 %, worst`, `${ms(at(0.5))}, ${ms(at(0.95))}, ${ms(at(1))}`, '16.7 ms');
}

/** Runs in the page. */
function tools() {
  /** Opens a session as a click does; returns the time until its newest turn is painted. */
  window.open = async (title) => {
    while (![...document.querySelectorAll('.sessions *')].some((element) => element.textContent.trim() === title)) await new Promise(requestAnimationFrame);
    const line = [...document.querySelectorAll('.sessions *')].findLast((element) => element.textContent.trim() === title);
    const wanted = () => document.title.startsWith(title) && document.querySelector('.transcript [data-turn]');
    const began = performance.now();
    line.click();
    while (!wanted()) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    return performance.now() - began;
  };
  window.frameTimes = (seconds, each = () => undefined) => new Promise((resolve) => {
    const deltas = [];
    let last = 0;
    const began = performance.now();
    const frame = (now) => {
      if (last > 0) deltas.push(now - last);
      last = now;
      each();
      if (performance.now() - began < seconds * 1_000) requestAnimationFrame(frame);
      else resolve(deltas);
    };
    requestAnimationFrame(frame);
  });
  let worst = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) worst = Math.max(worst, entry.duration); }).observe({ type: 'longtask', buffered: false });
  window.longest = () => {
    const found = worst;
    worst = 0;
    return found;
  };
}

function print() {
  const widths = [0, 1].map((column) => Math.max(...rows.map((cells) => String(cells[column]).length)));
  for (const [what, value, wanted] of rows) console.log(`${what.padEnd(widths[0])}  ${String(value).padStart(widths[1])}  ${wanted}`);
}
