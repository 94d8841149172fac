import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import type { MemoryFilter } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { ComposerState } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import type { DraftState } from './draft.svelte';
import type { InspectorState } from './inspector.svelte';
import type { LayoutState } from './layout.svelte';
import type { Listing } from './memoryListing';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

/** The maximum number of memories attached to one message. */
export const maxAttached = 20;

/** The filters of the Memory tab. Times are Unix ms; 0 and "" mean no filter. */
export type MemoryFilters = Pick<MemoryFilter, 'scope' | 'type' | 'role' | 'since' | 'until'>;
const unfiltered: MemoryFilters = { scope: 'lineage', type: '', role: '', since: 0, until: 0 };

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
  readonly filter: MemoryFilters;
  readonly opened: string;
}
const emptyView: MemoryView = { query: '', filter: unfiltered, opened: '' };

/** The number of sessions whose view and list are remembered. */
const maxSessions = 30;
/** A longer text is shown for editing before it is pinned, because its tokens are part of every request. */
const maxQuickPinChars = 300;

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
  #requests = $state(0);
  readonly #lists = new Map<string, Listing>();
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get #view(): MemoryView {
    return this.#views.get(this.#parts.conversation.sessionId) ?? emptyView;
  }

  #change(change: Partial<MemoryView>): void {
    const { sessionId } = this.#parts.conversation;
    const views = new Map(this.#views);
    views.delete(sessionId);
    views.set(sessionId, { ...this.#view, ...change });
    this.#views = newest(views);
  }

  /** The query in this session; empty: all memories are listed, newest first. */
  get query(): string {
    return this.#view.query;
  }

  set query(query: string) {
    if (query !== this.query) this.#change({ query, opened: '' });
  }

  get filter(): MemoryFilters {
    return this.#view.filter;
  }

  narrow(change: Partial<MemoryFilters>): void {
    this.#change({ opened: '', filter: { ...this.filter, ...change } });
  }

  /** How many filters are set, not counting the scope, which always has a value. */
  get narrowed(): number {
    const { type, role, since, until } = this.filter;
    return [type !== '', role !== '', since > 0, until > 0].filter(Boolean).length;
  }

  widen(): void {
    this.#change({ filter: { ...unfiltered, scope: this.filter.scope } });
  }

  /** The expanded chunk; empty for none. */
  get opened(): string {
    return this.#view.opened;
  }

  /** Changes each time something outside the tab starts a search or opens a chunk. */
  get requests(): number {
    return this.#requests;
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
    if (this.#lists.size > maxSessions && oldest !== undefined) this.#lists.delete(oldest);
  }

  /** Opens the tab with a search. */
  search(query: string): void {
    this.#change({ query, opened: '' });
    this.#requests++;
    this.#parts.inspector.show('memory');
  }

  /** Opens the tab at a chunk. */
  open(chunkId: string): void {
    this.#change({ opened: chunkId });
    this.#requests++;
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
    this.#requests++;
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
      if (text.length > maxQuickPinChars) this.#pinDraft = { chunkId, branchId, text };
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
    const pin = await backend.inspect.addPin(branchId, text);
    const key = pinKey(branchId, chunkId);
    this.#pinned = new Set([...this.#pinned, key]);
    undo.record({
      text: t('state.pinnedWhole'),
      undone: t('state.unpinned'),
      undo: async () => {
        await backend.inspect.removePin(branchId, pin.id);
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
      this.#checkLimit();
      const chip = await backend.memory.chip(chunkId);
      if (draft.branchId !== branchId || this.isAttached(chunkId)) return;
      this.#checkLimit();
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

  #checkLimit(): void {
    const { draft } = this.#parts;
    if (draft.memories.length >= maxAttached) throw limitError(t('state.mostAttached', { count: maxAttached }), t('state.removeOne'));
  }
}

function pinKey(branchId: string, chunkId: string): string {
  return `${branchId}/${chunkId}`;
}

/** The views of the most recently used sessions. */
function newest(views: Map<string, MemoryView>): Map<string, MemoryView> {
  const [oldest] = views.keys();
  if (views.size > maxSessions && oldest !== undefined) views.delete(oldest);
  return views;
}

function limitError(message: string, hint: string): BackendError {
  return new BackendError({ code: 'invalid', op: 'chat.memory', message, hint });
}
