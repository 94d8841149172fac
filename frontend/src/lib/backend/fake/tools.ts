/** Tools of the fake program: calls that wait, run and end, and the permissions. */
import type {
  BlockView,
  ToolCallView,
  ToolDefinitionView,
  ToolPermissionView,
  ToolProblemView,
  ToolsPanel,
  ToolsService,
  TurnView,
  WaitingCallView,
} from '../types';
import { BackendError } from '../errors';
import type { Program } from './program';
import { block, errorView } from './shapes';
import type { FakeStore } from './store';

export function toolCall(more: Partial<ToolCallView> = {}): ToolCallView {
  return {
    id: 'c1', toolUseId: 'u1', turnId: 't1', step: 'p1', name: 'staging-db__read_query', source: 'staging-db', tool: 'read_query', title: '', state: 'proposed', decision: '', reason: '', explanation: '',
    effects: true, arguments: '{}', preview: '', redactions: 0, result: '', resultMore: false, isError: false, outcomeUnknown: false, images: 0, definition: '', runs: 0, running: false,
    progressDone: 0, progressTotal: 0, progressMessage: '', createdAt: 0, decidedAt: 0, startedAt: 0, endedAt: 0, ...more,
  };
}

export function toolDefinition(more: Partial<ToolDefinitionView> = {}): ToolDefinitionView {
  const source = more.source ?? 'staging-db';
  const tool = more.tool ?? 'read_query';
  return {
    source, tool, name: `${source}__${tool}`, title: '', description: 'Runs a query that only reads.', schema: '{\n  "type": "object",\n  "properties": {\n    "sql": { "type": "string" }\n  },\n  "required": ["sql"]\n}',
    annotations: '', hash: `hash-${source}-${tool}`, effects: true, builtIn: source === 'builtin', pinned: 'accepted', before: null, decision: '', decisionFrom: '', asksEachCall: false, ...more,
  };
}

export class FakeTools {
  definitions: ToolDefinitionView[] = [];
  permissions: ToolPermissionView[] = [];
  problems: ToolProblemView[] = [];
  readonly sessionModes = new Map<string, string>();
  /** How long a call runs, in ms; Infinity: until a test ends it. */
  runMs = 5;
  readonly #store: FakeStore;
  readonly #results = new Map<string, { blocks: BlockView[]; isError: boolean }>();

  constructor(store: FakeStore) {
    this.#store = store;
  }

  /** The model requests tools: the answer so far is kept, and the turn waits. */
  propose(turn: TurnView, calls: readonly Partial<ToolCallView>[]): ToolCallView[] {
    const created = calls.map((more) => toolCall({ id: this.#store.id('call'), toolUseId: this.#store.id('use'), turnId: turn.id, createdAt: this.#store.now(), ...more }));
    turn.calls = [...turn.calls, ...created];
    turn.assistant = [...turn.assistant, ...created.map((call) => block('tool_use', call.arguments, { name: call.name, id: call.toolUseId }))];
    this.#updateTurn(turn);
    for (const call of created) this.#notify(call);
    return created;
  }

  /** Keeps the full result of a call that is longer than its preview. */
  keep(callId: string, blocks: BlockView[], isError = false): void {
    this.#results.set(callId, { blocks, isError });
  }

  result(callId: string): { blocks: BlockView[]; isError: boolean } {
    const call = this.call(callId);
    return this.#results.get(callId) ?? { blocks: [block('text', call.result)], isError: call.isError };
  }

  call(id: string): ToolCallView {
    for (const branch of this.#store.branches.values()) for (const turn of branch.turns) for (const call of turn.calls) if (call.id === id) return call;
    throw new BackendError(errorView('There is no such call', 'It may have been deleted.', 'not_found'));
  }

  waiting(): WaitingCallView[] {
    const out: WaitingCallView[] = [];
    for (const branch of this.#store.branches.values()) {
      for (const turn of branch.turns) {
        for (const call of turn.calls) {
          if (call.state !== 'proposed' && call.state !== 'unknown') continue;
          const definition = this.definitions.find((known) => known.source === call.source && known.tool === call.tool && known.pinned !== 'gone') ?? null;
          out.push({ call, sessionId: branch.sessionId, branchId: branch.view.id, session: this.#store.session(branch.sessionId).row.title, turnSeq: turn.seq, definition });
        }
      }
    }
    return out.sort((a, b) => a.call.createdAt - b.call.createdAt);
  }

  run(call: ToolCallView): void {
    this.update(call, { state: 'started', running: true, startedAt: this.#store.now(), runs: call.runs + 1, reason: '', explanation: '' });
    if (this.runMs !== Infinity) setTimeout(() => call.running && this.end(call, { result: `Result of ${call.tool}` }), this.runMs);
  }

  end(call: ToolCallView, more: Partial<ToolCallView>): void {
    this.update(call, { state: 'done', running: false, endedAt: this.#store.now(), ...more });
  }

  update(call: ToolCallView, more: Partial<ToolCallView>): void {
    Object.assign(call, more);
    this.#updateTurn(this.#store.turn(call.turnId));
    this.#notify(call);
  }

  changed(): void {
    this.#store.changed('tools', '', '');
  }

  #notify(call: ToolCallView): void {
    this.#store.changed('call', call.id, this.#store.sessionOf(this.#store.turn(call.turnId)).row.id);
  }

  /** The turn waits while any of its calls waits. When all have results, it continues and ends. */
  #updateTurn(turn: TurnView): void {
    const open = turn.calls.filter((call) => call.state !== 'done');
    const waits = open.some((call) => call.state === 'proposed' || call.state === 'unknown');
    if (open.length > 0) Object.assign(turn, { state: waits ? 'waiting' : 'responding', phase: 'Responding', outcome: '', live: !waits });
    else if (turn.state === 'waiting' || turn.state === 'responding') {
      turn.assistant = [...turn.assistant, block('text', 'That is what the tools say.')];
      Object.assign(turn, { state: 'pending', phase: 'ResponseFinalized', outcome: 'completed', live: false });
    }
    this.#store.touch(turn);
  }
}

const allows = ['once', 'session', 'always'];

export function toolsService(store: FakeStore, tools: FakeTools, program: Program): ToolsService {
  const panel = (): ToolsPanel => ({ rev: store.rev, mode: program.valueOf('tools.mode'), definitions: tools.definitions, permissions: tools.permissions, problems: tools.problems });
  const definition = (source: string, tool: string) => {
    const found = tools.definitions.find((known) => known.source === source && known.tool === tool);
    if (!found) throw new BackendError(errorView(`There is no tool ${tool} of ${source}`, '', 'not_found'));
    return found;
  };
  const permit = (permission: Omit<ToolPermissionView, 'createdAt' | 'fromConfig'>) => {
    tools.permissions = [...tools.permissions.filter((known) => !same(known, permission)), { ...permission, createdAt: store.now(), fromConfig: false }];
    const applies = (known: ToolDefinitionView) => known.source === permission.source && (permission.tool === '' || known.tool === permission.tool);
    if (permission.sessionId === '') for (const known of tools.definitions.filter(applies)) Object.assign(known, { decision: permission.decision, decisionFrom: permission.tool === '' ? 'server' : 'tool' });
  };
  return {
    waitingCalls: async () => ({ rev: store.rev, calls: tools.waiting() }),
    calls: async (turnIds) => turnIds.flatMap((id) => store.turn(id).calls),
    decide: async ({ callId, choice, server, hash }) => {
      const call = tools.call(callId);
      if (call.state !== 'proposed') throw new BackendError(errorView('This call was decided already', 'Nothing was changed.', 'conflict'));
      const shown = tools.waiting().find((entry) => entry.call === call)?.definition;
      if (hash !== (shown?.hash ?? '')) throw new BackendError(errorView('The description of this tool has changed since it was shown', 'Look at it once more. The call still waits.', 'conflict'));
      call.decidedAt = store.now();
      call.decision = choice;
      if (choice === 'session' || choice === 'always' || choice === 'never') {
        const { row } = store.sessionOf(store.turn(call.turnId));
        const own = choice === 'session';
        permit({ source: call.source, tool: server ? '' : call.tool, sessionId: own ? row.id : '', session: own ? row.title : '', decision: choice });
        tools.changed();
      }
      if (allows.includes(choice)) tools.run(call);
      else tools.end(call, { isError: true, result: 'The user did not allow this call.' });
    },
    resolve: async ({ callId, choice, text, isError }) => {
      const call = tools.call(callId);
      if (call.state !== 'unknown') throw new BackendError(errorView('The outcome of this call is known', 'Nothing was changed.', 'conflict'));
      if (choice === 'rerun') tools.run(call);
      else if (choice === 'enter') tools.end(call, { result: text, isError });
      else tools.end(call, { result: 'Nobody knows how this call ended.', isError: true, outcomeUnknown: true });
    },
    cancel: async (callId) => {
      const call = tools.call(callId);
      if (!call.running) throw new BackendError(errorView('This call does not run', 'Nothing was changed.', 'conflict'));
      if (call.effects) tools.update(call, { state: 'unknown', running: false, reason: 'cancelled' });
      else tools.end(call, { isError: true, result: 'Cancelled.' });
    },
    result: async (callId) => tools.result(callId),
    panel: async () => panel(),
    accept: async (source, tool, hash) => {
      const found = definition(source, tool);
      if (found.hash !== hash) throw new BackendError(errorView('This tool has changed since it was shown', 'Look at it once more.', 'conflict'));
      Object.assign(found, { pinned: 'accepted', before: null });
      tools.changed();
    },
    setPermission: async (source, tool, sessionId, decision) => {
      permit({ source, tool, sessionId, session: sessionId === '' ? '' : store.session(sessionId).row.title, decision });
      tools.changed();
    },
    forget: async (source, tool, sessionId) => {
      tools.permissions = tools.permissions.filter((known) => !same(known, { source, tool, sessionId }));
      for (const known of tools.definitions) if (known.source === source && (tool === '' || known.tool === tool)) Object.assign(known, { decision: '', decisionFrom: '' });
      tools.changed();
    },
    markReadOnly: async (source, tool, hash) => {
      definition(source, tool).effects = hash === '';
      tools.changed();
    },
    sessionMode: async (sessionId) => tools.sessionModes.get(sessionId) ?? '',
    setSessionMode: async (sessionId, mode) => {
      tools.sessionModes.set(sessionId, mode);
      store.changed('session', sessionId, sessionId);
    },
  };
}

function same(a: Pick<ToolPermissionView, 'source' | 'tool' | 'sessionId'>, b: Pick<ToolPermissionView, 'source' | 'tool' | 'sessionId'>): boolean {
  return a.source === b.source && a.tool === b.tool && a.sessionId === b.sessionId;
}
