import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Home } from './home.ts';
import { built, repository, until } from './process.ts';
import type { Provider } from './provider.ts';

type Services = Record<string, Record<string, (...args: unknown[]) => Promise<any>>>;

/** Calls a service of the program as the page does, so that a test can be set up without clicking. */
export function call(page: Page, service: string, method: string, ...args: unknown[]): Promise<any> {
  const invoke = ([serviceName, methodName, values]: [string, string, unknown[]]) => (window as unknown as { go: { api: Services } }).go.api[serviceName]?.[methodName]?.(...values);
  return page.evaluate(invoke, [service, method, args] as [string, string, unknown[]]);
}

/** A branch to which turns are added, one after another. */
export class Seed {
  private constructor(
    private readonly page: Page,
    readonly session: string,
    readonly branch: string,
  ) {}

  static async session(page: Page, title: string): Promise<Seed> {
    const row = await call(page, 'Sessions', 'Create', title);
    return new Seed(page, row.id, row.activeBranch);
  }

  /** Sends a message and waits for its outcome; returns the turn's id. */
  async send(text: string): Promise<string> {
    const request = { sessionId: this.session, branchId: this.branch, text, images: [], files: [], memories: [], model: '', incomplete: '' };
    const { turnId } = await call(this.page, 'Chat', 'Send', request);
    const running = ['accepted', 'preparing', 'responding'];
    await until(`an answer to “${text}”`, async () => !running.includes((await call(this.page, 'Sessions', 'Turn', this.branch, turnId)).state));
    return turnId;
  }

  /** Creates a branch that continues after the turn. */
  async fork(turn: string, label: string): Promise<Seed> {
    const branch = await call(this.page, 'Sessions', 'Fork', turn, false, label);
    return new Seed(this.page, this.session, branch.id);
  }

  /** Makes this the open branch of its session. */
  open(): Promise<void> {
    return call(this.page, 'Sessions', 'Switch', this.session, this.branch);
  }

  pin(text: string): Promise<void> {
    return call(this.page, 'Inspect', 'AddPin', this.branch, text);
  }
}

const topics = ['the backfill', 'replication lag', 'the cut-over', 'the way back', 'the dual writes', 'the alert rules', 'the read path', 'the batch size'];

/** A realistic answer: a list, sometimes with code or a table. */
export function essay(index: number): string {
  const topic = topics[index % topics.length];
  const intro = `About **${topic}**, step ${index + 1}: measure first, change one thing, and write down what you saw. The figures of the night before are the ones to beat; anything slower goes back.`;
  const list = `\n\n1. Note the lag at the start of the hour.\n2. Run ${topic} for ten minutes.\n3. Compare, and stop if it grew by more than a tenth.`;
  const code = '\n\n```sql\nSELECT now() - pg_last_xact_replay_timestamp() AS lag;\n```';
  const table = '\n\n| Hour | Rows | Lag p95 |\n|---|--:|--:|\n| 01:00 | 412 000 | 1.9 s |\n| 02:00 | 398 000 | 3.8 s |';
  return intro + (index % 2 === 0 ? list : '') + (index % 4 === 1 ? code : '') + (index % 4 === 3 ? table : '') + `\n\nThat is all there is to say about step ${index + 1}.`;
}

export function question(index: number): string {
  return `What do we have to watch at step ${index + 1}, ${topics[index % topics.length]}?`;
}

const sideQuestions = [
  ['Then by hand?', 'By hand it takes a night, and nobody sleeps.'],
  ['And with two people?', 'Two people take turns, and check each other.'],
  ['Or with logical replication?', 'Logical replication keeps the order, and needs a primary key on each table.'],
  ['What of the sequences?', 'Sequences are not replicated: set them at the cut-over.'],
  ['With triggers instead?', 'Triggers write to both sides, and cost a tenth of the write rate.'],
] as const;

/** Creates alternatives to the main branch, one of them forked from another. */
async function forkBranches(main: Seed, ids: string[]): Promise<void> {
  const hand = await main.fork(ids[1] ?? '', 'by hand');
  await hand.send(sideQuestions[0][0]);
  await hand.send(sideQuestions[1][0]);
  const logical = await main.fork(ids[Math.floor(ids.length / 2)] ?? '', 'logical replication');
  const first = await logical.send(sideQuestions[2][0]);
  await logical.send(sideQuestions[3][0]);
  const triggers = await logical.fork(first, 'triggers');
  await triggers.send(sideQuestions[4][0]);
}

/**
 * Creates a realistic history: a long session with branches and pins, one with a failed answer, one with an interrupted
 * answer, a short one, and one without turns. Two of them are in a folder. Opens the long session.
 */
export async function seedHistory(page: Page, provider: Provider, turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) provider.answer(question(i), essay(i), { inputTokens: 180 + 118 * i }); // roughly the real size; otherwise the window would report that the prompt was cut
  for (const [message, answer] of sideQuestions) provider.answer(message, answer, { inputTokens: 180 + 118 * turns });
  provider.answer('Plan the tests', 'Begin with the contract tests, then replay a day of traffic.');
  provider.refuse('Price it', 503, 'The model is overloaded');
  provider.answer('Write the runbook', essay(2).repeat(3), { chunkSize: 20, dropAfter: 18 });

  const budget = await Seed.session(page, 'What the new cluster costs');
  await budget.send('Price it');
  const runbook = await Seed.session(page, 'Runbook for the night of the switch');
  await runbook.send('Write the runbook');
  const tests = await Seed.session(page, 'Tests of the orders service');
  await tests.send('Plan the tests');
  const kitchen = await Seed.session(page, 'Tiles for the kitchen');
  await call(page, 'Sessions', 'SetFolder', [budget.session, runbook.session], 'Migration');
  await call(page, 'Sessions', 'Pin', kitchen.session, true);

  const main = await Seed.session(page, 'Orders to Postgres without a night of downtime');
  await main.pin('Never change the schema on a Friday.');
  await main.pin('The cut-over is on the ninth of May.');
  const ids: string[] = [];
  for (let i = 0; i < turns; i++) ids.push(await main.send(question(i)));
  await forkBranches(main, ids);
  await main.open();
  await page.reload();
  await page.getByRole('navigation', { name: 'Sessions' }).locator(`[data-session="${main.session}"]`).click();
}

/** Writes a conversation of ten thousand turns directly to the store: through the provider it would take minutes. */
export function writeTenThousandTurns(home: Home): void {
  const bench = ['-vet=off', '-run', '^$', '-bench', 'TranscriptData', '-benchtime', '1x'];
  const args = ['test', ...bench, './backend/store', '-args', '-into', home.dataDir];
  execFileSync('go', args, { cwd: repository, stdio: 'pipe' });
}

/**
 * Imports a conversation whose answers are several windows high, so that a change of width moves each turn by more than
 * a window.
 */
export function importTallTurns(home: Home, turns: number): void {
  const paragraph = 'Flour deliveries, staffing, oven maintenance and customers need a plan that is reviewed often. '.repeat(6);
  const answer = (turn: number) => Array.from({ length: 12 }, (_, i) => `Paragraph ${i + 1} on step ${turn + 1}: ${paragraph}`).join('\n\n');
  const lines = Array.from({ length: turns }, (_, turn) => [
    { conv: 'tall', role: 'user', text: question(turn) },
    { conv: 'tall', role: 'assistant', text: `${answer(turn)}\n\nThat is all of step ${turn + 1}.` },
  ]);
  const file = join(home.root, 'tall.jsonl');
  writeFileSync(file, lines.flat().map((line) => JSON.stringify(line)).join('\n'));
  execFileSync(built('contextinfinity'), ['import', file], { env: home.env(), stdio: 'pipe' });
}

/**
 * A script for the page: returns at how many of eleven heights the conversation shows a turn, and how many pixels are
 * below the visible part.
 */
export const drawnTurns = `(() => {
  const list = document.querySelector('.transcript');
  const view = list.getBoundingClientRect();
  const turns = [...list.querySelectorAll('article[data-turn]')].map((turn) => turn.getBoundingClientRect());
  const heights = Array.from({ length: 11 }, (_, i) => view.top + 10 + ((view.height - 100) * i) / 10);
  return [heights.filter((y) => turns.some((turn) => turn.top <= y && turn.bottom >= y)).length, Math.round(list.scrollHeight - list.clientHeight - list.scrollTop)];
})()`;
