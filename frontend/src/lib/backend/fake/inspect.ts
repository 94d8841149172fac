/** The inspector's services of the fake program. */
import type {
  ActivityPanel,
  InspectService,
  JobView,
  PendingView,
  PinSuggestion,
  PinView,
  RecoveryItem,
  RecoveryReport,
  StatePanel,
  StateView,
  StepView,
  TurnMetrics,
  TurnView,
} from '../types';
import { BackendError } from '../errors';
import { contextOf, cutOf, diffContext, nextContext, switchPreview } from './context';
import { errorView, jobView } from './shapes';
import type { Streams } from './streaming';
import type { FakeBranch, FakeStore } from './store';

export function inspectService(store: FakeStore, streams: Streams): InspectService {
  const branch = (id: string) => store.branch(id);
  const pinsChanged = (branchId: string) => store.changed('pins', branchId, branch(branchId).sessionId);
  return {
    pending: async (branchId) => store.lineage(branchId).filter((turn) => turn.state === 'pending').map((turn, i) => pendingView(store, turn, i)),
    commitNow: async (branchId) => {
      for (const turn of store.lineage(branchId)) streams.commit(turn);
    },
    state: async (branchId) => statePanel(store, branchId),
    stateByID: async (stateId) => stateById(store, stateId),
    suggestedPins: async (branchId) => branch(branchId).suggested.map((suggestion) => ({ ...suggestion })),
    acceptSuggestedPin: async (id, text) => {
      const { branch: owner, suggestion } = takeSuggestion(store, id);
      const pin: PinView = { id: store.id('f'), text: text || suggestion.text, position: owner.pins.length, tokens: Math.ceil(text.length / 4), version: 1, createdAt: store.now(), inherited: false };
      owner.pins.push(pin);
      pinsChanged(owner.view.id);
      return pin;
    },
    dismissSuggestedPin: async (id) => pinsChanged(takeSuggestion(store, id).branch.view.id),
    addPin: async (branchId, text) => {
      const pin: PinView = { id: store.id('f'), text, position: branch(branchId).pins.length, tokens: Math.ceil(text.length / 4), version: 1, createdAt: store.now(), inherited: false };
      branch(branchId).pins.push(pin);
      pinsChanged(branchId);
      return pin;
    },
    editPin: async (branchId, pinId, text) => {
      const pin = branch(branchId).pins.find((candidate) => candidate.id === pinId);
      if (!pin) throw new BackendError(errorView('There is no such pinned fact', '', 'not_found'));
      Object.assign(pin, { text, version: pin.version + 1, tokens: Math.ceil(text.length / 4) });
      pinsChanged(branchId);
      return pin;
    },
    removePin: async (branchId, pinId) => {
      branch(branchId).pins = branch(branchId).pins.filter((pin) => pin.id !== pinId);
      pinsChanged(branchId);
    },
    movePin: async (branchId, pinId, position) => {
      movePin(branch(branchId).pins, pinId, position);
      pinsChanged(branchId);
    },
    activity: async (branchId) => activity(store, branchId),
    retryJob: async (id) => moveJob(store, id, { state: 'queued', attempts: 0, lastError: '' }),
    dismissJob: async (id) => moveJob(store, id, { state: 'dead' }),
    reconcile: async () => recovery(store),
    steps: async (turnId) => steps(store.turn(turnId)),
    rawStep: async (stepId) => rawStep(stepId),
    context: async (turnId) => contextOf(store, turnId),
    nextContext: async (branchId, model, draft) => nextContext(store, branchId, model, draft),
    diffContext: async (turnId) => diffContext(store, turnId),
    summarize: async (branchId) => store.changed('jobs', '', branch(branchId).sessionId),
    switchPreview: async (branchId, model) => switchPreview(store, branchId, model),
  };
}

function pendingView(store: FakeStore, turn: TurnView, order: number): PendingView {
  return {
    turnId: turn.id, seq: turn.seq, title: turn.user[0]?.text.slice(0, 60) ?? '', tokens: turn.inputTokens % 900 + turn.outputTokens,
    reason: order === 0 ? 'Its summary is being written' : `It waits for #${turn.seq - 1}`, waitsFor: order === 0 ? '' : `#${turn.seq - 1}`,
    inContext: true, leftOut: false, job: store.jobs.find((job) => job.turnId === turn.id) ?? jobView(), createdAt: turn.createdAt,
  };
}

function statePanel(store: FakeStore, branchId: string): StatePanel {
  const branch = store.branch(branchId);
  const { states, pins, ranges } = branch;
  const root: StateView = { id: 'root', shortId: 'ROOT', seq: 0, origin: 'root', model: '', summary: '', tokens: 0, createdAt: store.epoch, head: states.length === 0, turnSeq: 0, validation: '' };
  const history = states.length > 0 ? states : [root];
  const cut = cutOf(branch, (store.lineage(branchId).at(-1)?.seq ?? 0) + 1);
  // Like the program: only the head's summary is in the panel; stateByID returns the others.
  return { head: history[0]!, history: history.map((state) => (state.head ? state : { ...state, summary: '' })), ranges, cut, pins, pinTokens: pins.reduce((sum, pin) => sum + pin.tokens, 0) };
}

function stateById(store: FakeStore, id: string): StateView {
  for (const branch of store.branches.values()) {
    const state = branch.states.find((candidate) => candidate.id === id);
    if (state) return state;
  }
  throw new BackendError(errorView('There is no such state', '', 'not_found'));
}

/** Removes a suggestion from its branch, as both accepting and dismissing do. */
function takeSuggestion(store: FakeStore, id: string): { branch: FakeBranch; suggestion: PinSuggestion } {
  for (const branch of store.branches.values()) {
    const suggestion = branch.suggested.find((candidate) => candidate.id === id);
    if (!suggestion) continue;
    branch.suggested = branch.suggested.filter((candidate) => candidate.id !== id);
    return { branch, suggestion };
  }
  throw new BackendError(errorView('This suggestion was pinned or dismissed already', '', 'not_found'));
}

function movePin(pins: PinView[], id: string, position: number): void {
  const from = pins.findIndex((pin) => pin.id === id);
  if (from < 0) return;
  pins.splice(position, 0, ...pins.splice(from, 1));
  pins.forEach((pin, i) => (pin.position = i));
}

function moveJob(store: FakeStore, id: number, more: Partial<JobView>): void {
  const job = store.jobs.find((candidate) => candidate.id === id);
  if (!job) throw new BackendError(errorView('There is no such job', 'It may have finished meanwhile.', 'not_found'));
  Object.assign(job, more, { updatedAt: store.now() });
  store.changed('jobs', String(id), job.sessionId);
}

function activity(store: FakeStore, branchId: string): ActivityPanel {
  const count = (state: string) => store.jobs.filter((job) => job.state === state).length;
  const turns = branchId === '' ? [] : store.lineage(branchId).slice(-12).reverse().map(turnMetrics);
  return { jobs: store.jobs, queued: count('queued'), running: count('running'), failed: count('dead'), moreJobs: store.jobs.length >= 100, chunks: null, recovery: recovery(store), earlier: [], turns };
}

/** The metrics of a turn. */
export function turnMetrics(turn: TurnView): TurnMetrics {
  return {
    turnId: turn.id, turnSeq: turn.seq, estimateTokens: turn.inputTokens + 41, inputTokens: turn.inputTokens, outputTokens: turn.outputTokens,
    cachedTokens: turn.cachedTokens, searchMs: 0, assembleMs: 6 + (turn.seq % 5), firstByteMs: 480 + (turn.seq % 7) * 40, streamMs: 2_100 + (turn.seq % 9) * 160,
    summarizeMs: 12, indexMs: 4, attempts: turn.attempts,
    candidates: 296, selected: turn.memories, packedTokens: turn.memories * 210, similarityMin: turn.memories > 0 ? 0.91 : 0, similarityMax: turn.memories > 0 ? 0.98 : 0,
    embedMs: 2, retrievalFailed: false, retrievalError: '', validationResult: '', validationTries: 0,
  };
}

function recovery(store: FakeStore): RecoveryReport {
  const broken = [...store.branches.keys()].flatMap((id) => store.branch(id).turns).filter((turn) => turn.state === 'incomplete' || turn.state === 'unsent');
  const items = broken.map((turn): RecoveryItem => {
    const session = store.sessionOf(turn).row;
    const message = turn.state === 'unsent' ? 'A message had not been sent' : 'An answer was cut off; its text is kept';
    return { kind: turn.state === 'unsent' ? 'unsent' : 'incomplete', sessionId: session.id, session: session.title, turnId: turn.id, turnSeq: turn.seq, bytes: turn.displayed, count: 1, message };
  });
  const summary = items.length === 1 ? items[0]!.message : `${items.length} problems were found and handled.`;
  return { at: store.epoch, clean: items.length === 0, summary, items };
}

function steps(turn: TurnView): StepView[] {
  return Array.from({ length: turn.attempts }, (_, i) => {
    const last = i === turn.attempts - 1;
    const failed = !last || turn.state === 'failed';
    return {
      id: `${turn.id}-p${i + 1}`, index: 0, attempt: i + 1, provider: turn.provider, modelId: turn.model,
      status: failed ? 'failed' : turn.live ? 'running' : turn.state === 'incomplete' ? 'incomplete' : 'completed', reason: failed ? 'overloaded' : 'end_turn',
      code: failed ? 'overloaded' : '', message: failed ? 'The provider is overloaded (529)' : '', displayedBytes: failed ? 0 : turn.displayed,
      durableBytes: failed ? 0 : turn.durable, inputTokens: failed ? 0 : turn.inputTokens, outputTokens: failed ? 0 : turn.outputTokens,
      cachedTokens: 0, startedAt: turn.createdAt + i * 9_000, endedAt: turn.live ? 0 : turn.createdAt + i * 9_000 + 2_400,
    };
  });
}

function rawStep(stepId: string) {
  const delta = (text: string) => JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  return {
    request: JSON.stringify({ model: 'claude-sonnet', max_tokens: 8_000, stream: true, messages: [{ role: 'user', content: `What is in ${stepId}?` }] }),
    response: '',
    events: ['The ', 'whole ', 'answer.'].map((text) => ({ type: 'content_block_delta', data: delta(text) })),
    leftOut: 0, leftOutAfter: 3, leftOutBytes: 0,
  };
}

