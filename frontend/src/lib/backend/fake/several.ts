/** Sending one message to several models in the fake program, like backend/answers. */
import { BackendError } from '../errors';
import type { AnswerSet, SendResult, SentToSeveral, TurnView } from '../types';
import { block, errorView } from './shapes';
import type { Streams } from './streaming';
import type { World } from './world';

const maxModels = 4;
const running = ['accepted', 'preparing', 'responding', 'waiting'];

export function sendToSeveral(world: World, streams: Streams, models: string[], send: () => SendResult): SentToSeveral {
  if (models.length < 2 || models.length > maxModels) throw new BackendError(errorView(`A message can be sent to two to four models at once, not to ${models.length}. Nothing was sent.`, '', 'invalid'));
  const first = send();
  if (first.queued) throw new BackendError(errorView('An answer is still arriving', 'Wait until it is final.', 'busy'));
  for (const model of models.slice(1)) answerAlso(world, streams, world.turn(first.turnId), model);
  return { first, problems: [] };
}

export function answerAlso(world: World, streams: Streams, turn: TurnView, model: string): SendResult {
  return begin(world, streams, turn, model, `from #${turn.seq}: ${model}`, { user: turn.user, memories: turn.memories, retryOf: turn.id });
}

export function answersOf(world: World, turnId: string): AnswerSet {
  const turn = world.turn(turnId);
  const session = world.sessionOf(turn);
  const before = (sibling: TurnView) => world.lineage(sibling.branchId).find((other) => other.seq === sibling.seq - 1)?.id ?? '';
  const words = (sibling: TurnView) => JSON.stringify(sibling.user);
  const siblings = session.branchIds.map((id) => world.branch(id)).flatMap((branch) => branch.turns)
    .filter((sibling) => sibling.seq === turn.seq && before(sibling) === before(turn) && words(sibling) === words(turn));
  return {
    rev: world.rev, seq: turn.seq, user: turn.user,
    columns: siblings.map((sibling) => {
      const branch = world.branch(sibling.branchId);
      return { branchId: sibling.branchId, label: branch.view.label, active: session.row.activeBranch === sibling.branchId, later: branch.turns.filter((other) => other.seq > sibling.seq).length, turn: structuredClone(sibling) };
    }),
  };
}

export function mergeAnswers(world: World, streams: Streams, turnId: string, model: string): SendResult {
  const { columns } = answersOf(world, turnId);
  const final = columns.filter(({ turn }) => !running.includes(turn.state) && turn.state !== 'failed');
  if (final.length < 2) throw new BackendError(errorView('There are fewer than two final answers to merge. Nothing was sent.', 'Wait until two of them are final.', 'conflict'));
  const quoted = final.map(({ turn }, at) => `=== Answer ${at + 1}, by ${turn.model} ===\n\n${turn.assistant[0]?.text ?? ''}`);
  const turn = world.turn(turnId);
  const sent = begin(world, streams, turn, model, `from #${turn.seq}: merged by ${model}`, { user: [block('text', `${final.length} models answered the question below.\n\n${quoted.join('\n\n')}`)] });
  world.sessionOf(turn).row.activeBranch = sent.branchId;
  return sent;
}

function begin(world: World, streams: Streams, turn: TurnView, model: string, label: string, more: Partial<TurnView>): SendResult {
  const session = world.sessionOf(turn);
  const branch = world.addBranch(session.row.id, label, turn.branchId, turn.seq - 1);
  const created = world.addTurn(branch.view.id, { assistant: [], displayed: 0, durable: 0, inputTokens: 0, outputTokens: 0, model, ...more });
  streams.start(created);
  world.changed('session', session.row.id, session.row.id);
  return { sessionId: session.row.id, branchId: branch.view.id, turnId: created.id, queued: false };
}
