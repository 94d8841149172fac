import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Home } from './home.ts';
import { built, repository, until } from './process.ts';
import type { Provider } from './provider.ts';

type Services = Record<string, Record<string, (...args: unknown[]) => Promise<any>>>;

/** Calls a service of the program as the page does, to set up what a test needs without clicking. */
export function call(page: Page, service: string, method: string, ...args: unknown[]): Promise<any> {
  const ask = ([name, verb, given]: [string, string, unknown[]]) => (window as unknown as { go: { api: Services } }).go.api[name]?.[verb]?.(...given);
  return page.evaluate(ask, [service, method, args] as [string, string, unknown[]]);
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
  async say(text: string): Promise<string> {
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

  /** Makes it the open branch of its session. */
  look(): Promise<void> {
    return call(this.page, 'Sessions', 'Switch', this.session, this.branch);
  }

  pin(text: string): Promise<void> {
    return call(this.page, 'Inspect', 'AddPin', this.branch, text);
  }
}

const topics = ['the backfill', 'replication lag', 'the cut-over', 'the way back', 'the dual writes', 'the alert rules', 'the read path', 'the batch size'];

/** A realistic answer: a list, sometimes with code or a table. */
export function essay(at: number): string {
  const topic = topics[at % topics.length];
  const words = `About **${topic}**, step ${at + 1}: measure first, change one thing, and write down what you saw. The figures of the night before are the ones to beat; anything slower goes back.`;
  const list = `\n\n1. Note the lag at the start of the hour.\n2. Run ${topic} for ten minutes.\n3. Compare, and stop if it grew by more than a tenth.`;
  const code = '\n\n```sql\nSELECT now() - pg_last_xact_replay_timestamp() AS lag;\n```';
  const table = '\n\n| Hour | Rows | Lag p95 |\n|---|--:|--:|\n| 01:00 | 412 000 | 1.9 s |\n| 02:00 | 398 000 | 3.8 s |';
  return words + (at % 2 === 0 ? list : '') + (at % 4 === 1 ? code : '') + (at % 4 === 3 ? table : '') + `\n\nThat is all there is to say about step ${at + 1}.`;
}

export function question(at: number): string {
  return `What do we have to watch at step ${at + 1}, ${topics[at % topics.length]}?`;
}

const besides = [
  ['Then by hand?', 'By hand it takes a night, and nobody sleeps.'],
  ['And with two people?', 'Two people take turns, and check each other.'],
  ['Or with logical replication?', 'Logical replication keeps the order, and needs a primary key on each table.'],
  ['What of the sequences?', 'Sequences are not replicated: set them at the cut-over.'],
  ['With triggers instead?', 'Triggers write to both sides, and cost a tenth of the write rate.'],
] as const;

/** Alternatives to the main branch, one of them forked from another. */
async function branches(main: Seed, ids: string[]): Promise<void> {
  const hand = await main.fork(ids[1] ?? '', 'by hand');
  await hand.say(besides[0][0]);
  await hand.say(besides[1][0]);
  const logical = await main.fork(ids[Math.floor(ids.length / 2)] ?? '', 'logical replication');
  const first = await logical.say(besides[2][0]);
  await logical.say(besides[3][0]);
  const triggers = await logical.fork(first, 'triggers');
  await triggers.say(besides[4][0]);
}

/**
 * A window after some work: a long session with branches, pins and folders, one with a failed answer, one with an
 * interrupted answer, and one without turns. The long one is open afterwards.
 */
export async function workedIn(page: Page, provider: Provider, turns: number): Promise<void> {
  for (let at = 0; at < turns; at++) provider.answer(question(at), essay(at), { inputTokens: 180 + 118 * at }); // roughly the real size; otherwise the window would report that it was cut
  for (const [asked, said] of besides) provider.answer(asked, said, { inputTokens: 180 + 118 * turns });
  provider.answer('Plan the tests', 'Begin with the contract tests, then replay a day of traffic.');
  provider.refuse('Price it', 503, 'The model is overloaded');
  provider.answer('Write the runbook', essay(2).repeat(3), { chunkSize: 20, dropAfter: 18 });

  const budget = await Seed.session(page, 'What the new cluster costs');
  await budget.say('Price it');
  const runbook = await Seed.session(page, 'Runbook for the night of the switch');
  await runbook.say('Write the runbook');
  const tests = await Seed.session(page, 'Tests of the orders service');
  await tests.say('Plan the tests');
  const kitchen = await Seed.session(page, 'Tiles for the kitchen');
  await call(page, 'Sessions', 'SetFolder', [budget.session, runbook.session], 'Migration');
  await call(page, 'Sessions', 'Pin', kitchen.session, true);

  const main = await Seed.session(page, 'Orders to Postgres without a night of downtime');
  await main.pin('Never change the schema on a Friday.');
  await main.pin('The cut-over is on the ninth of May.');
  const ids: string[] = [];
  for (let at = 0; at < turns; at++) ids.push(await main.say(question(at)));
  await branches(main, ids);
  await main.look();
  await page.reload();
  await page.getByRole('navigation', { name: 'Sessions' }).locator(`[data-session="${main.session}"]`).click();
}

/** Writes the conversation directly: through the provider it would take minutes. */
export function tenThousandTurns(home: Home): void {
  const make = ['test', '-run', '^$', '-bench', 'TranscriptData', '-benchtime', '1x', './backend/store', '-args', '-into', home.dataDir];
  execFileSync('go', make, { cwd: repository, stdio: 'pipe' });
}

/** Imports a conversation of answers that are several windows high, so that a change of width moves each turn by more than a window. */
export function tallTurns(home: Home, turns: number): void {
  const paragraph = 'Flour deliveries, staffing, oven maintenance and customers need a plan that is reviewed often. '.repeat(6);
  const answer = (at: number) => Array.from({ length: 12 }, (_, i) => `Paragraph ${i + 1} on step ${at + 1}: ${paragraph}`).join('\n\n');
  const lines = Array.from({ length: turns }, (_, at) => [
    { conv: 'tall', role: 'user', text: question(at) },
    { conv: 'tall', role: 'assistant', text: `${answer(at)}\n\nThat is all of step ${at + 1}.` },
  ]);
  const file = join(home.root, 'tall.jsonl');
  writeFileSync(file, lines.flat().map((line) => JSON.stringify(line)).join('\n'));
  execFileSync(built('contextinfinity'), ['import', file], { env: home.env(), stdio: 'pipe' });
}

/**
 * A script for the page: how many of eleven heights of the conversation show a turn, and how many pixels are below the
 * shown part.
 */
export const drawnTurns = `(() => {
  const list = document.querySelector('.transcript');
  const port = list.getBoundingClientRect();
  const turns = [...list.querySelectorAll('article[data-turn]')].map((turn) => turn.getBoundingClientRect());
  const heights = Array.from({ length: 11 }, (_, i) => port.top + 10 + ((port.height - 100) * i) / 10);
  return [heights.filter((y) => turns.some((turn) => turn.top <= y && turn.bottom >= y)).length, Math.round(list.scrollHeight - list.clientHeight - list.scrollTop)];
})()`;
