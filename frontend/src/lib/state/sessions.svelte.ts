import type { Backend } from '$lib/backend/backend';
import { toBackendError } from '$lib/backend/errors';
import type { SearchGroup, SessionRow } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { Changes } from './changes';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';

/** A single letter of an alphabet would find everything; a single character of Chinese is a word. */
const tooShort = /^[\p{Lu}\p{Ll}\P{L}]?$/u;
const maxPassageSessions = 20;

/** The session list: its filters, the passages of messages that match them, and the actions on a session. */
export class SessionsState {
  #list = $state.raw<SessionRow[]>([]);
  #filter = $state('');
  #archived = $state(false);
  #loaded = $state(false);
  #passages = $state.raw<readonly SearchGroup[]>([]);
  /** If two loads overlap, only the one that started later applies. */
  #serial = 0;
  #newest: Promise<void> = Promise.resolve();
  readonly #backend: Backend;
  readonly #toasts: ToastsState;
  readonly #undo: UndoState;
  readonly #refresh = new Refresh(() => this.#load());
  readonly #search = new Refresh(() => this.#load(), 120);
  readonly #messages = new Refresh(() => this.findPassages(), 120);
  readonly #off: () => void;

  constructor(backend: Backend, changes: Changes, toasts: ToastsState, undo: UndoState) {
    this.#undo = undo;
    this.#backend = backend;
    this.#toasts = toasts;
    this.#off = changes.on(['sessions', 'session', 'turn', 'head', 'projects'], () => this.#refresh.soon());
  }

  get list(): readonly SessionRow[] {
    return this.#list;
  }

  get filter(): string {
    return this.#filter;
  }

  set filter(title: string) {
    this.#filter = title;
    this.#search.soon();
    if (title.trim() === '') void this.#messages.now();
    else this.#messages.soon();
  }

  /** The messages that contain the filter's words, by session; those of an earlier filter stay until the next are found. */
  get passages(): readonly SearchGroup[] {
    return this.#passages;
  }

  /** Shows the archive in place of the list. */
  get archived(): boolean {
    return this.#archived;
  }

  set archived(archived: boolean) {
    this.#archived = archived;
    void this.#refresh.now();
    void this.#messages.now();
  }

  get loaded(): boolean {
    return this.#loaded;
  }

  find(id: string): SessionRow | undefined {
    return this.#list.find((row) => row.id === id);
  }

  /** When it returns, the list matches the text typed by then, whatever was being loaded. */
  async load(): Promise<void> {
    this.#search.cancel();
    this.#refresh.cancel();
    await this.#load();
  }

  async findPassages(): Promise<void> {
    const [text, archived] = [this.#filter.trim(), this.#archived];
    if (tooShort.test(text)) {
      this.#passages = [];
      return;
    }
    try {
      const query = { text, archived, sessionId: '', role: '', since: 0, until: 0, meaning: false, limit: maxPassageSessions };
      const { groups } = await this.#backend.search.everything(query);
      const isCurrent = text === this.#filter.trim() && archived === this.#archived;
      if (isCurrent) this.#passages = groups.filter((group) => group.hits.length > 0 && group.archived === archived);
    } catch (error) {
      if (toBackendError(error).code !== 'cancelled') this.#toasts.error(error); // the search of the panel replaced it
    }
  }

  /** Messages were permanently deleted: passages may quote them. */
  forget(): void {
    this.#passages = [];
    this.#messages.soon();
  }

  async rename(id: string, title: string): Promise<void> {
    const name = title.trim();
    const before = (this.find(id) ?? (await this.#row(id)))?.title;
    if (name === '' || name === before || !(await this.#do(() => this.#backend.sessions.rename(id, name)))) return;
    if (before) this.#undo.record({ text: t('state.renamed', { name }), undo: () => this.#again(() => this.#backend.sessions.rename(id, before)) });
  }

  async pin(id: string, pinned: boolean): Promise<void> {
    await this.#do(() => this.#backend.sessions.pin(id, pinned));
  }

  /** Archives a session, or restores it from the archive. Nothing is deleted, and the toast can undo it. */
  async archive(row: SessionRow, archived: boolean): Promise<boolean> {
    const done = await this.#do(() => this.#backend.sessions.archive(row.id, archived));
    if (!done) return false;
    const name = t('state.quoted', { title: row.title || t('shell.newConversation') });
    this.#undo.record({ text: archived ? t('state.archivedBranch', { name }) : t('state.unarchivedBranch', { name }), undone: archived ? t('state.unarchivedBranch', { name }) : t('state.archivedBranchAgain', { name }), undo: () => this.#again(() => this.#backend.sessions.archive(row.id, !archived)) });
    return true;
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
    this.#search.cancel();
    this.#messages.cancel();
  }

  #load(): Promise<void> {
    return (this.#newest = this.#fetch());
  }

  /** A load that is superseded by a later one waits for that one. */
  async #fetch(): Promise<void> {
    const serial = ++this.#serial;
    try {
      const list = await this.#backend.sessions.list(this.#archived, this.#filter.trim());
      if (serial !== this.#serial) return await this.#newest;
      this.#list = list;
      this.#loaded = true;
    } catch (error) {
      if (serial !== this.#serial) return await this.#newest;
      this.#toasts.error(error);
    }
  }

  /** A session that the filter excludes from the list. */
  async #row(id: string): Promise<SessionRow | undefined> {
    try {
      return (await this.#backend.sessions.list(this.#archived, '')).find((row) => row.id === id);
    } catch {
      return undefined;
    }
  }

  /** Throws on failure. */
  async #again(act: () => Promise<void>): Promise<void> {
    await act();
    await this.#refresh.now();
  }

  async #do(act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
    } catch (error) {
      this.#toasts.error(error);
      return false;
    }
    await this.#refresh.now();
    return true;
  }
}
