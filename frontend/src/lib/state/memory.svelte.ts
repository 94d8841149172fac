import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import type { MemoryFilter } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';
import type { ComposerState } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import type { DraftState } from './draft.svelte';
import type { InspectorState } from './inspector.svelte';
import type { LayoutState } from './layout.svelte';
import type { Listing } from './memoryListing';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

/** The maximum number of memories attached to one message. */
export const mostAttached = 20;

/** The filters of the Memory tab. Times are Unix ms; 0 and "" mean no filter. */
export type MemoryNarrowing = Pick<MemoryFilter, 'scope' | 'type' | 'role' | 'since' | 'until'>;
const wide: MemoryNarrowing = { scope: 'lineage', type: '', role: '', since: 0, until: 0 };

interface Parts {
  readonly backend: Backend;
  readonly conversation: ConversationState;
  readonly inspector: InspectorState;
  readonly layout: LayoutState;
  readonly draft: DraftState;
  readonly composer: ComposerState;
  readonly toasts: ToastsState;
  readonly undo: UndoState;
}

/** The state of the Memory tab for one session. */
interface MemoryView {
  readonly query: string;
  readonly filter: MemoryNarrowing;
  readonly opened: string;
}
const unsearched: MemoryView = { query: '', filter: wide, opened: '' };

/** The number of sessions whose view and list are remembered. */
const mostSessions = 30;
/** A longer text is shown for editing before it is pinned, because its tokens are part of every request. */
const longestQuickPin = 300;

/** A text that is being edited before it is pinned. */
interface PinDraft {
  readonly chunkId: string;
  readonly branchId: string;
  readonly text: string;
}

/**
 * The Memory tab: for each session its search, filter, expanded result and last list; and attaching a chunk to the
 * message being written, or pinning it.
 */
export class MemoryState {
  #views = $state.raw<ReadonlyMap<string, MemoryView>>(new Map());
  #attaching = $state('');
  #pinning = $state('');
  #pinDraft = $state.raw<PinDraft>();
  #pinError = $state.raw<BackendError>();
  #pinned = $state.raw<ReadonlySet<string>>(new Set());
  #asked = $state(0);
  readonly #lists = new Map<string, Listing>();
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get #view(): MemoryView {
    return this.#views.get(this.#parts.conversation.sessionId) ?? unsearched;
  }

  #change(by: Partial<MemoryView>): void {
    const { sessionId } = this.#parts.conversation;
    const views = new Map(this.#views);
    views.delete(sessionId);
    views.set(sessionId, { ...this.#view, ...by });
    this.#views = newest(views);
  }

  /** The query in this session; empty: all memories are listed, newest first. */
  get query(): string {
    return this.#view.query;
  }

  set query(query: string) {
    if (query !== this.query) this.#change({ query, opened: '' });
  }

  get filter(): MemoryNarrowing {
    return this.#view.filter;
  }

  narrow(by: Partial<MemoryNarrowing>): void {
    this.#change({ opened: '', filter: { ...this.filter, ...by } });
  }

  /** How many filters are set, not counting the scope, which always has a value. */
  get narrowed(): number {
    const { type, role, since, until } = this.filter;
    return [type !== '', role !== '', since > 0, until > 0].filter(Boolean).length;
  }

  widen(): void {
    this.#change({ filter: { ...wide, scope: this.filter.scope } });
  }

  /** The expanded chunk; empty for none. */
  get opened(): string {
    return this.#view.opened;
  }

  /** Changes each time something outside the tab starts a search or opens a chunk. */
  get asked(): number {
    return this.#asked;
  }

  /** The chunk that is being attached to the message; empty for none. */
  get attaching(): string {
    return this.#attaching;
  }

  /** The list a session showed last, shown until a new one is loaded. */
  lastList(sessionId: string): Listing | undefined {
    return this.#lists.get(sessionId);
  }

  keepList(sessionId: string, listing: Listing): void {
    this.#lists.delete(sessionId);
    this.#lists.set(sessionId, listing);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > mostSessions && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Opens the tab with a search. */
  search(query: string): void {
    this.#change({ query, opened: '' });
    this.#asked++;
    this.#parts.inspector.show('memory');
  }

  /** Opens the tab at a chunk. */
  open(chunkId: string): void {
    this.#change({ opened: chunkId });
    this.#asked++;
    this.#parts.inspector.show('memory');
  }

  /** Expands a chunk of the list, or collapses it. */
  toggle(chunkId: string): void {
    this.#change({ opened: this.opened === chunkId ? '' : chunkId });
  }

  /** Something was deleted permanently: lists and expanded chunks may show it. */
  forget(): void {
    this.#lists.clear();
    this.#views = new Map([...this.#views].map(([id, view]) => [id, { ...view, opened: '' }]));
    this.#pinDraft = undefined;
    this.#asked++;
  }

  /** The chunk that is being pinned; empty for none. */
  get pinning(): string {
    return this.#pinning;
  }

  /** The text to be edited before this chunk is pinned, if it is too long to be pinned at once. */
  pinDraft(chunkId: string): string | undefined {
    const draft = this.#pinDraft;
    return draft?.chunkId === chunkId && draft.branchId === this.#parts.conversation.branchId ? draft.text : undefined;
  }

  get pinError(): BackendError | undefined {
    return this.#pinError;
  }

  isPinned(chunkId: string): boolean {
    return this.#pinned.has(pinKey(this.#parts.conversation.branchId, chunkId));
  }

  /** Pins a short chunk at once; shows a long one for editing first. */
  async pin(chunkId: string): Promise<void> {
    const { backend, conversation, toasts } = this.#parts;
    const { branchId } = conversation;
    if (this.#pinning !== '' || this.isPinned(chunkId) || branchId === '') return;
    this.#pinning = chunkId;
    this.#pinError = undefined;
    try {
      const text = (await backend.memory.chunk(chunkId)).text.trim();
      if (text.length > longestQuickPin) this.#pinDraft = { chunkId, branchId, text };
      else await this.#addPin(chunkId, branchId, text);
    } catch (error) {
      toasts.error(error);
    } finally {
      this.#pinning = '';
    }
  }

  /** Pins the edited text. The editor stays open, with the error, if that fails. */
  async savePin(text: string): Promise<void> {
    const draft = this.#pinDraft;
    if (!draft || this.#pinning !== '') return;
    this.#pinning = draft.chunkId;
    try {
      await this.#addPin(draft.chunkId, draft.branchId, text);
      this.#pinDraft = undefined;
    } catch (error) {
      this.#pinError = toBackendError(error);
    } finally {
      this.#pinning = '';
    }
  }

  cancelPin(): void {
    this.#pinDraft = undefined;
    this.#pinError = undefined;
  }

  async #addPin(chunkId: string, branchId: string, text: string): Promise<void> {
    const { backend, undo } = this.#parts;
    const made = await backend.inspect.addPin(branchId, text);
    const key = pinKey(branchId, chunkId);
    this.#pinned = new Set([...this.#pinned, key]);
    undo.did({
      text: t('state.pinnedWhole'),
      undone: t('state.unpinned'),
      undo: async () => {
        await backend.inspect.removePin(branchId, made.id);
        this.#pinned = new Set([...this.#pinned].filter((other) => other !== key));
      },
    });
  }

  isAttached(chunkId: string): boolean {
    return this.#parts.draft.memories.some((chip) => chip.id === chunkId);
  }

  /** Attaches a chunk to the message being written, once. If that fails the message is unchanged. */
  async attach(chunkId: string): Promise<void> {
    const { backend, layout, draft, composer, toasts } = this.#parts;
    if (this.isAttached(chunkId)) return composer.focus();
    const { branchId } = draft;
    this.#attaching = chunkId;
    try {
      this.#refuse();
      const chip = await backend.memory.chip(chunkId);
      if (draft.branchId !== branchId || this.isAttached(chunkId)) return;
      this.#refuse();
      draft.memories = [...draft.memories, chip];
      composer.changed();
      layout.closeDrawer(); // which would cover it
      composer.focus();
    } catch (error) {
      toasts.error(error);
    } finally {
      this.#attaching = '';
    }
  }

  #refuse(): void {
    const { draft } = this.#parts;
    if (draft.memories.length >= mostAttached) throw refused(t('state.mostAttached', { count: mostAttached }), t('state.removeOne'));
  }
}

function pinKey(branchId: string, chunkId: string): string {
  return `${branchId}/${chunkId}`;
}

/** The views of the most recently used sessions. */
function newest(views: Map<string, MemoryView>): Map<string, MemoryView> {
  const [oldest] = views.keys();
  if (views.size > mostSessions && oldest !== undefined) views.delete(oldest);
  return views;
}

function refused(message: string, hint: string): BackendError {
  return new BackendError({ code: 'invalid', op: 'chat.memory', message, hint });
}
