import type { Backend } from '$lib/backend/backend';
import { BackendError } from '$lib/backend/errors';
import { findState, type Command } from '$lib/commands/commands';
import type { ConversationState } from './conversation.svelte';
import type { InspectorState } from './inspector.svelte';
import type { MemoryState } from './memory.svelte';
import type { ModelsState } from './models.svelte';
import type { ModelSwitch } from './modelSwitch.svelte';
import type { SessionSettingsState } from './sessionSettings.svelte';
import type { ToastsState } from './toasts.svelte';
import type { TurnActions } from './turnActions';

export interface CommandParts {
  backend: Backend;
  conversation: ConversationState;
  inspector: InspectorState;
  memory: MemoryState;
  models: ModelsState;
  modelSwitch: ModelSwitch;
  sessionSettings: SessionSettingsState;
  toasts: ToastsState;
  turnActions: TurnActions;
}

const refused = (message: string, hint: string): BackendError => new BackendError({ code: 'invalid', op: 'command', message, hint });

/** Carries slash commands out. One that cannot be done throws and says why; the composer keeps its text then. */
export class CommandRunner {
  readonly #parts: CommandParts;

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  async run(command: Command, argument: string): Promise<void> {
    const { backend, conversation, inspector, memory, sessionSettings, toasts, turnActions } = this.#parts;
    switch (command.name) {
      case 'model': return this.#model(argument);
      case 'fork': return this.#fork(argument);
      case 'rollback': return this.#rollback(argument);
      case 'recall': return memory.search(argument);
      case 'pin': return turnActions.pinText(argument);
      case 'context': return inspector.show('xray');
      case 'settings': return sessionSettings.show();
      case 'commit':
        await backend.inspect.commitNow(conversation.branchId);
        conversation.refreshHeader();
        toasts.show('Pending turns are being committed', { action: { label: 'Show', run: () => inspector.show('pending') } });
        return;
      case 'summarize':
        await backend.inspect.summarize(conversation.branchId);
        toasts.show('The range summaries that were due are made', { action: { label: 'Show', run: () => inspector.show('state') } });
    }
  }

  async #model(name: string): Promise<void> {
    const { models, modelSwitch } = this.#parts;
    const model = models.find(name) ?? models.list.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
    if (!model) throw refused(`There is no model “${name}”`, `Known are ${models.list.map((known) => known.name).join(', ')}.`);
    if (!model.usable) throw refused(`${model.name} cannot be used: ${model.why}`, 'Settings, Keys and models, is where that is mended.');
    await modelSwitch.ask(model.name);
  }

  async #fork(label: string): Promise<void> {
    const { conversation, turnActions } = this.#parts;
    if (!conversation.newest) throw refused('There is no turn to fork after', 'Send a first message.');
    if (conversation.running) throw refused('An answer is still arriving', 'Fork when it has ended, or stop it.');
    await turnActions.forkAfter(conversation.newest, label);
  }

  /** To the state named, or to the one before the head. */
  async #rollback(argument: string): Promise<void> {
    const { backend, conversation, toasts } = this.#parts;
    const { history, head } = await backend.inspect.state(conversation.branchId);
    const before = history[history.findIndex((state) => state.id === head.id) + 1];
    const state = argument === '' ? before : findState(history, argument);
    if (!state) throw refused(argument === '' ? 'There is no state before the head' : `There is no state “${argument}” on this branch`, 'The State tab lists every one, with its turn.');
    const from = conversation.branchId;
    const branch = await backend.sessions.rollback(conversation.sessionId, state.id);
    await conversation.open(conversation.sessionId, branch.id);
    const back = () => void conversation.switchBranch(from).catch((error: unknown) => toasts.error(error));
    toasts.show(`Back to #${state.turnSeq}, on the new branch “${branch.label}”`, { action: { label: 'Back', run: back } });
  }
}
