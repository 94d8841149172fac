/** A year of example data: old and new sessions, a long one, and one with every state of a turn. */
import type { RangeView, StateView, TurnView } from '../types';
import { mathAnswer, messageAnswer, throttleAnswer } from './answers';
import { block, errorView, jobView, utf8Length } from './shapes';
import type { FakeSession, FakeStore } from './store';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `long` is the number of turns of the longest session. */
export function seed(store: FakeStore, long: number): void {
  seedOrders(store);
  seedStates(store);
  seedLong(store, long);
  const titles: [string, number, Partial<FakeSession['row']>][] = [
    ['Lofoten in February', 20 * day, { pinned: true, branches: 4 }],
    ['Invoice number formats', 3 * hour, { status: 'incomplete' }],
    ['Rye loaf, wetter dough', 5 * hour, { status: 'pending' }],
    ['On-call rota for December', 6 * hour, {}],
    ['Reading notes: durable queues', 2 * day, {}],
    ['Heat pump or new boiler', 3 * day, {}],
    ['Treasure hunt for eight-year-olds in the rain', 3 * day, {}],
    ['Slow query in the report job', 4 * day, { status: 'failed' }],
    ['Tax return, home office rules', 20 * day, {}],
    ['Piano: left-hand voicings', 25 * day, {}],
    ['Flat inventory before moving', 30 * day, {}],
    ['German B2, daily drills', 33 * day, {}],
    ['Old plans for the shed', 190 * day, { archived: true }],
  ];
  for (const [title, ago, more] of titles) {
    const session = store.addSession(title, more);
    store.addTurn(session.row.activeBranch, { user: [block('text', `Where did we leave “${title}”?`)], assistant: [block('text', mathAnswer)], state: 'head', createdAt: store.epoch - ago });
    session.row.updatedAt = store.epoch - ago;
  }
}

/** Enough sessions to need a virtual list. */
export function seedMany(store: FakeStore, count: number): void {
  for (let i = 0; i < count; i++) {
    const session = store.addSession(`Conversation ${i + 1}`);
    session.row.updatedAt = store.epoch - i * 5 * hour;
  }
}

function seedOrders(store: FakeStore): void {
  const session = store.addSession('Orders to Postgres', { pinned: true });
  const branch = session.row.activeBranch;
  store.branch(branch).view.label = 'dual-write';
  for (let i = 1; i <= 147; i++) {
    store.addTurn(branch, {
      id: `t${String(i).padStart(4, '0')}`,
      user: [block('text', i === 147 ? 'The backfill fell behind again last night. Can we throttle it by replication lag instead of a fixed rate?' : `Question ${i} about the orders schema.`)],
      assistant: [block('text', i === 147 ? throttleAnswer : `Answer ${i}. It selects by \`event_id\` from the write log and inserts with \`on conflict do nothing\`, so a second run changes nothing and says so.`)],
      createdAt: store.epoch - (148 - i) * 5 * hour, inputTokens: 9_806, outputTokens: 612,
    });
  }
  store.addTurn(branch, { user: [block('text', 'Run the drift check on staging before I merge it.')], assistant: [block('reasoning', 'The check needs read access only.'), block('text', 'Drift is 0 rows over 14 days. Merge when you like.')], state: 'head', stateAfter: '01KAD3T9K4T', createdAt: store.epoch - 40 * minute });
  store.addTurn(branch, { user: [block('text', 'Write the runbook entry for cutover day, short enough to read on a phone.')], assistant: [block('text', 'Cutover, Sunday 30 November, 05:00 to 05:40.\n\n1. Freeze deploys. Confirm lag under 2 s for ten minutes.\n2. Run `drift --all`. Stop if any table is not 0.\n3. Set `orders.read_from=postgres` for 5 % of traffic, then 50 %, then all. Ten minutes each.\n4. Watch error rate and p95. Over 0.2 % or 180 ms, set it back: one flag, no data moves.\n5. Leave dual writes on for 14 days.')], state: 'pending', phase: 'ResponseFinalized', createdAt: store.epoch - 30 * minute });
  const last = store.addTurn(branch, { user: [block('text', 'Draft the message to the on-call team, and remind me what we promised them in October.')], assistant: [block('text', messageAnswer)], state: 'pending', phase: 'ResponseFinalized', createdAt: store.epoch - 4 * minute });
  last.displayed = last.durable = utf8Length(messageAnswer);
  forkOrders(store, session);
  store.jobs.push(
    jobView({ id: 1, turnId: store.lineage(branch).at(-2)!.id, turnSeq: 149, sessionId: session.row.id, session: session.row.title, state: 'running', attempts: 1, updatedAt: store.epoch - minute }),
    jobView({ id: 2, turnId: last.id, turnSeq: 150, sessionId: session.row.id, session: session.row.title, updatedAt: store.epoch - minute }),
    jobView({ id: 3, type: 'index_turn', turnId: 't0144', turnSeq: 144, sessionId: session.row.id, session: session.row.title, state: 'dead', attempts: 8, lastError: 'database or disk is full', updatedAt: store.epoch - hour }),
  );
  store.branch(branch).pins = [
    { id: 'f1', text: 'No change goes out on a Friday.', position: 0, tokens: 9, version: 1, createdAt: store.epoch - 20 * day, inherited: false },
    { id: 'f2', text: 'Rollback takes one person under five minutes.', position: 1, tokens: 11, version: 2, createdAt: store.epoch - 9 * day, inherited: true },
  ];
  store.branch(branch).states = seedHistory(store);
  store.branch(branch).ranges = seedRanges(store);
}

function forkOrders(store: FakeStore, session: FakeSession): void {
  const parent = session.row.activeBranch;
  for (const [label, at] of [['logical-replication', 82], ['throttled-backfill', 142], ['big-bang-window', 35]] as const) {
    const fork = store.addBranch(session.row.id, label, parent, at);
    store.addTurn(fork.view.id, { user: [block('text', `What would ${label} cost us?`)], assistant: [block('text', 'Slots survive failover only from version 17 on, so the standby must be upgraded before the first sync.')], state: 'head' });
  }
}

const facts = ['Orders writes to MySQL and Postgres since #36.', 'Drift is 0 over 14 days.', 'The backfill copies 2 000 rows a second.'];
const decisions = ['Cutover on Sunday 30 November, 05:00 (#139).', 'Dual writes stay on for 14 days after it (#35).'];

function summaryOf(factLines: string[], decisionLines: string[], open: string): string {
  const list = (lines: string[]) => lines.map((line) => `- ${line}`).join('\n');
  return `## Facts\n\n${list(factLines)}\n\n## Decisions\n\n${list(decisionLines)}\n\n## Constraints\n\n- Never on a Friday.\n\n## Artifacts\n\n- \`throttle.go\`\n\n## Open tasks\n\n- ${open}`;
}

const checked = { method: 'librarian', turns: 1, target_tokens: 1200, tokens: 1180, tries: 1, found: { decisions: 8, constraints: 3, numbers: 22, paths: 15 }, kept: { decisions: 8, constraints: 3, numbers: 22, paths: 15 }, missing: [] };
const retried = { ...checked, tries: 2, reason: 'it dropped required facts', required: 6, required_kept: 5, missing: ['Never run drift --all.'], added: ['Never run drift --all.'] };
const fellBack = { method: 'fallback', turns: 1, target_tokens: 1200, tokens: 1156, tries: 2, reason: 'it is not about the conversation', found: { decisions: 8, constraints: 3 }, kept: { decisions: 8, constraints: 3 }, missing: ['20 000 rows', 'drift --all'], dropped_count: 0, dropped: [] };

function seedHistory(store: FakeStore): StateView[] {
  const texts = [
    summaryOf([facts[0]!, facts[1]!, 'The backfill batch follows lag: grow under 2 s, halve over 5 s, 200 to 20 000 rows (`throttle.go`).'], decisions, 'Message to the on-call team.'),
    summaryOf(facts, decisions, 'Message to the on-call team.'),
    summaryOf(facts, decisions.slice(0, 1), 'Throttle the backfill.'),
    summaryOf(facts.slice(0, 2), decisions.slice(0, 1), 'Throttle the backfill.'),
  ];
  return [148, 147, 146, 145].map((seq, i) => ({
    id: `01KAD3T9K4T${seq}`, shortId: `9K${seq}`.slice(-4), seq, origin: i === 2 ? 'fallback' : 'librarian', model: i === 2 ? '' : 'haiku',
    summary: texts[i]!, tokens: 1_180 - i * 12, createdAt: store.epoch - (i + 1) * 5 * hour, head: i === 0, turnSeq: seq,
    validation: JSON.stringify([checked, retried, fellBack, checked][i]),
  }));
}

function seedRanges(store: FakeStore): RangeView[] {
  const range = (fromSeq: number, toSeq: number, by: string, more: Partial<RangeView>): RangeView => ({
    id: `r${fromSeq}-${toSeq}`, fromSeq, toSeq, tokens: 920, originalTokens: (toSeq - fromSeq + 1) * 310, by, orphan: false, inUse: true, createdAt: store.epoch - 6 * hour,
    validation: by === 'extract' ? '' : JSON.stringify({ method: 'librarian', tries: 1, required: 6, required_kept: 5, missing: ['Roll back in under 5 minutes.'], added: ['Roll back in under 5 minutes.'] }),
    content: `Turns ${fromSeq} to ${toSeq}: the orders tables were mapped one by one, dual writes went live in #36, and the on-call team was promised that no change goes out on a Friday and that one person can roll back in under five minutes.\n\nDecisions: keep dual writes on throughout (#35). Open: who announces the cutover.`, ...more,
  });
  return [range(1, 90, 'haiku', {}), range(91, 136, 'extract', { tokens: 610 }), range(1, 44, 'haiku', { orphan: true, inUse: false, createdAt: store.epoch - 9 * day }), range(45, 90, 'extract', { orphan: true, inUse: false, createdAt: store.epoch - 7 * day })];
}

/** Every state of a turn, one after another. */
function seedStates(store: FakeStore): void {
  const session = store.addSession('Every state of a turn', {}, 'local');
  const ago = (minutes: number) => store.epoch - minutes * minute;
  session.row.updatedAt = ago(90);
  const add = (user: string, assistant: string, more: Partial<TurnView>) =>
    store.addTurn(session.row.activeBranch, {
      user: [block('text', user)], assistant: assistant === '' ? [] : [block('text', assistant)],
      displayed: utf8Length(assistant), durable: utf8Length(assistant), createdAt: ago(95), ...more,
    });
  add('List every query that still joins across the two databases.', 'There are three. The report job joins `orders` to `customers` in the nightly export; the refund screen', { outcome: 'stopped', canContinue: true });
  add('How long may an answer be?', 'As long as the model allows. This one was cut at', { outcome: 'truncated', canContinue: true });
  add('Give me the admin password.', '', { assistant: [block('refusal', 'I can’t help with finding or guessing credentials.')], outcome: 'refused' });
  add('Which model wrote this?', 'Kept when the connection broke', { outcome: 'kept' });
  add('Repair the twelve rows.', '', { assistant: [block('reasoning', 'The rows are listed in the write log. One job, one transaction.'), block('text', 'I would run this:'), block('tool_use', '{ "job": "repair_order_events", "from": "13:58:04", "to": "13:58:06" }', { name: 'staging-db.run_job', id: 'call_1' }), block('unknown', '{"type":"server_side_note","note":"kept byte for byte"}', { name: 'openai' })] });
  add('And the same for payments.', 'Payments need no repair: drift is 0 since 14 November.', { state: 'degraded', indexStatus: 'degraded' });
  add('Which rows are left?', 'Twelve, all of them from one deploy.', { state: 'head', stateAfter: '01KAD3T9K9Q7', inputTokens: 2048, cutFrom: 9800 });
  add('Summarize for the board.', 'One table moves, two stay.', { state: 'pending', phase: 'ResponseFinalized' });
  add('What did the old plan say?', 'The old plan moved all tables in one night and', { state: 'failed', phase: 'Failed', outcome: 'discarded' });
  add('Explain the failover order for the standby.', '', { state: 'failed', phase: 'Failed', outcome: 'failed', attempts: 4, durationMs: 38_000, error: errorView('The provider is overloaded (529)', 'Try again, or send it to another model.', 'unavailable') });
  add('Check the replica’s certificate.', '', { state: 'unsent', phase: 'Accepted', outcome: '' });
  add('Compare that with doing the cutover through logical replication.', 'Logical replication moves the risk from your code to the slot. You would stop dual writes, let the subscriber catch up, and switch once. What you gain is a single source of truth all the way through; what you give up is the way back, because after the switch the old primary no longer receives', { state: 'incomplete', phase: 'Responding', outcome: 'incomplete', canContinue: true, error: errorView('The program ended at 14:21:07 while this was arriving', '', 'incomplete') });
}

/** A history that is longer than one page. */
function seedLong(store: FakeStore, long: number): void {
  const session = store.addSession('Ten thousand turns');
  session.row.updatedAt = store.epoch - 8 * day;
  for (let i = 1; i <= long; i++) {
    store.addTurn(session.row.activeBranch, {
      user: [block('text', `Message ${i}`)], assistant: [block('text', i % 7 === 0 ? throttleAnswer : `Answer to message ${i}. ${'It goes on for a while. '.repeat(i % 13)}`)],
      state: i === long ? 'head' : 'committed', createdAt: store.epoch - (long - i) * 10 * minute - 8 * day,
    });
  }
}
