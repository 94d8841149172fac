/** The messages that wait to be sent on a branch. */
import { BackendError } from '../errors';
import type { ChatService, Draft, QueueView } from '../types';
import { errorView } from './shapes';
import type { Streams } from './streaming';
import type { FakeBranch, FakeStore } from './store';

/** As many as the program allows. */
const maxQueued = 20;

export function enqueue(store: FakeStore, branch: FakeBranch, message: Draft, at = maxQueued): void {
  if (branch.queue.length >= maxQueued) throw new BackendError(errorView(`${maxQueued} messages are already queued on this branch. Nothing was queued.`, 'Wait until one is sent, or delete one.', 'conflict'));
  if (branch.queue.length === 0) branch.held = '';
  branch.queue.splice(at, 0, { id: store.id('q'), message });
  store.changed('queue', branch.view.id, branch.sessionId);
}

export function queueView(branch: FakeBranch): QueueView {
  const messages = branch.queue.map(({ id, message }) => ({
    id, text: message.text.slice(0, 600), cut: message.text.length > 600, images: message.images.length, files: message.files, memories: message.memories.length,
  }));
  return { messages, held: messages.length > 0 ? branch.held : '', error: branch.held === 'error' ? branch.refused : null };
}

export function queues(store: FakeStore, streams: Streams): Pick<ChatService, 'queue' | 'sendQueue' | 'editQueued' | 'moveQueued' | 'removeQueued' | 'restoreQueued'> {
  const find = (id: string) => {
    const branch = [...store.branches.values()].find(({ queue }) => queue.some((entry) => entry.id === id));
    if (!branch) throw new BackendError(errorView('This message is no longer queued: it was sent, edited or deleted.', '', 'not_found'));
    return { branch, at: branch.queue.findIndex((entry) => entry.id === id) };
  };
  const changed = (branch: FakeBranch) => store.changed('queue', branch.view.id, branch.sessionId);
  const take = (id: string) => {
    const { branch, at } = find(id);
    const [taken] = branch.queue.splice(at, 1);
    changed(branch);
    return { branch, message: taken!.message };
  };
  return {
    queue: async (branchId) => queueView(store.branch(branchId)),
    sendQueue: async (branchId) => {
      const branch = store.branch(branchId);
      branch.held = '';
      changed(branch);
      if (!store.lineage(branchId).at(-1)?.live) streams.sendNext(branchId);
    },
    editQueued: async (id) => {
      const { branch, message } = take(id);
      branch.draft = { ...message, text: [message.text, branch.draft.text].filter(Boolean).join('\n\n') };
      store.changed('draft', branch.view.id, branch.sessionId);
      return message;
    },
    moveQueued: async (id, to) => {
      const { branch, at } = find(id);
      branch.queue.splice(to, 0, ...branch.queue.splice(at, 1));
      changed(branch);
    },
    removeQueued: async (id) => take(id).message,
    restoreQueued: async (branchId, message, at) => enqueue(store, store.branch(branchId), message, at),
  };
}
