/** Sending one message to several models in the fake program, like backend/answers. */
import { BackendError } from '../errors';
import type { AnswerSet, SendResult, SentToSeveral, TurnView } from '../types';
import { block, errorView } from './shapes';
import type { Streams } from './streaming';
import type { FakeStore } from './store';

const maxModels = 4;
const running = ['accepted', 'preparing', 'responding', 'waiting'];

export function sendToSeveral(store: FakeStore, streams: Streams, models: string[], send: () => SendResult): SentToSeveral {
  if (models.length < 2 || models.length > maxModels) throw new BackendError(errorView(`A message can be sent to two to four models at once, not to ${models.length}. Nothing was sent.`, '', 'invalid'));
  const first = send();
  if (first.queued) throw new BackendError(errorView('An answer is still arriving', 'Wait until it is final.', 'busy'));
  for (const model of models.slice(1)) answerAlso(store, streams, store.turn(first.turnId), model);
  return { first, problems: [] };
}

export function answerAlso(store: FakeStore, streams: Streams, turn: TurnView, model: string): SendResult {
  return begin(store, streams, turn, model, `from #${turn.seq}: ${model}`, { user: turn.user, memories: turn.memories, retryOf: turn.id });
}

export function answersOf(store: FakeStore, turnId: string): AnswerSet {
  const turn = store.turn(turnId);
  const session = store.sessionOf(turn);
  const before = (sibling: TurnView) => store.lineage(sibling.branchId).find((other) => other.seq === sibling.seq - 1)?.id ?? '';
  const message = (sibling: TurnView) => JSON.stringify(sibling.user);
  const siblings = session.branchIds.map((id) => store.branch(id)).flatMap((branch) => branch.turns)
    .filter((sibling) => sibling.seq === turn.seq && before(sibling) === before(turn) && message(sibling) === message(turn));
  return {
    rev: store.rev, seq: turn.seq, user: turn.user,
    columns: siblings.map((sibling) => {
      const branch = store.branch(sibling.branchId);
      return { branchId: sibling.branchId, label: branch.view.label, active: session.row.activeBranch === sibling.branchId, later: branch.turns.filter((other) => other.seq > sibling.seq).length, turn: structuredClone(sibling) };
    }),
  };
}

export function mergeAnswers(store: FakeStore, streams: Streams, turnId: string, model: string): SendResult {
  const { columns } = answersOf(store, turnId);
  const final = columns.filter(({ turn }) => !running.includes(turn.state) && turn.state !== 'failed');
  if (final.length < 2) throw new BackendError(errorView('There are fewer than two final answers to merge. Nothing was sent.', 'Wait until two of them are final.', 'conflict'));
  const quoted = final.map(({ turn }, at) => `=== Answer ${at + 1}, by ${turn.model} ===\n\n${turn.assistant[0]?.text ?? ''}`);
  const turn = store.turn(turnId);
  const sent = begin(store, streams, turn, model, `from #${turn.seq}: merged by ${model}`, { user: [block('text', `${final.length} models answered the question below.\n\n${quoted.join('\n\n')}`)] });
  store.sessionOf(turn).row.activeBranch = sent.branchId;
  return sent;
}

function begin(store: FakeStore, streams: Streams, turn: TurnView, model: string, label: string, more: Partial<TurnView>): SendResult {
  const session = store.sessionOf(turn);
  const branch = store.addBranch(session.row.id, label, turn.branchId, turn.seq - 1);
  const created = store.addTurn(branch.view.id, { assistant: [], displayed: 0, durable: 0, inputTokens: 0, outputTokens: 0, model, ...more });
  streams.start(created);
  store.changed('session', session.row.id, session.row.id);
  return { sessionId: session.row.id, branchId: branch.view.id, turnId: created.id, queued: false };
}
