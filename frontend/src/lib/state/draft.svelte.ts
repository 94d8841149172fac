import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { Draft, DraftEdit, FileView, ImageUpload, MemoryChip } from '$lib/backend/types';
import { moved } from '$lib/moved';

const saveAfterMs = 350;
/** When saving is tried again: a full disk may have space again. */
const saveAgainAfterMs = 3_000;
/** A longer pasted text is shown beside the field instead of in it: text fields become slow with very long texts. */
export const longText = 60_000;
/** The contents of a message. */
export type DraftContent = Pick<Draft, 'text' | 'images' | 'files' | 'memories'>;
/** The turn whose message is being rewritten. */
export type Editing = Pick<DraftEdit, 'turnId' | 'seq'>;
export const nothing: DraftContent = { text: '', images: [], files: [], memories: [] };

/** The unsent message of the open branch: saved a moment after each change, and at once when the branch is left. */
export class DraftState {
  #branchId = $state('');
  #typed = $state('');
  #longTexts = $state.raw<readonly string[]>([]);
  #images = $state.raw<readonly ImageUpload[]>([]);
  #files = $state.raw<readonly FileView[]>([]);
  #memories = $state.raw<readonly MemoryChip[]>([]);
  #unsaved = false;
  /** Changes with the text, so that replies about an earlier text can be recognized. */
  #version = 0;
  /** The branch whose message is being sent to the program. */
  #sendingBranch = '';
  /** What its field contained when the branch was left meanwhile. */
  #leftWith: Draft | null = null;
  #saving: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The branch that was left while the next one is being opened; empty otherwise. */
  #left = '';
  /**
   * While an earlier message is being rewritten: the draft that was in the field before, and that message as it was
   * (null after the edit was restored: it was no longer that message).
   */
  #stash = $state.raw<{ turn: Editing; before: DraftContent; edited: DraftContent | null } | null>(null);
  /** Messages of branches that were left before they could be saved. */
  readonly #notSaved = new Map<string, Draft>();
  #unsavedWhy = $state.raw<BackendError | null>(null);
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get branchId(): string {
    return this.#branchId;
  }

  /** The whole message: the typed text, then the long texts beside it. */
  get text(): string {
    return [this.#typed, ...this.#longTexts].filter((part) => part !== '').join('\n\n');
  }

  set text(text: string) {
    this.#split(text);
    this.#changed();
  }

  /** The text in the field. */
  get typed(): string {
    return this.#typed;
  }

  set typed(text: string) {
    this.#typed = text;
    this.#changed();
  }

  /** Long pasted texts, unchanged. */
  get longTexts(): readonly string[] {
    return this.#longTexts;
  }

  addLongText(text: string): void {
    this.#longTexts = [...this.#longTexts, text];
    this.#changed();
  }

  removeLongText(index: number): void {
    this.#longTexts = this.#longTexts.filter((_, at) => at !== index);
    this.#changed();
  }

  moveLongText(from: number, to: number): void {
    this.#longTexts = moved(this.#longTexts, from, to);
    this.#changed();
  }

  get images(): readonly ImageUpload[] {
    return this.#images;
  }

  set images(images: readonly ImageUpload[]) {
    this.#images = images;
    this.#changed();
  }

  /** The documents of the message; the program stores them. */
  get files(): readonly FileView[] {
    return this.#files;
  }

  set files(files: readonly FileView[]) {
    this.#files = files;
    this.#changed();
  }

  /** Adds a document; the same one is added only once. */
  addFile(file: FileView): void {
    this.files = [...this.#files.filter((other) => other.id !== file.id), file];
  }

  /** Manually attached memory. */
  get memories(): readonly MemoryChip[] {
    return this.#memories;
  }

  set memories(memories: readonly MemoryChip[]) {
    this.#memories = memories;
    this.#changed();
  }

  /** Why the draft could not be saved; saving is repeated until it succeeds. */
  get unsavedWhy(): BackendError | null {
    return this.#unsavedWhy;
  }

  get isEmpty(): boolean {
    return this.#typed.trim() === '' && this.#longTexts.length === 0 && this.#images.length === 0 && this.#files.length === 0;
  }

  get content(): DraftContent {
    return { text: this.text, images: [...this.#images], files: [...this.#files], memories: [...this.#memories] };
  }

  /** The message in the field, for an estimate of the request. */
  get message(): Draft {
    return this.content;
  }

  set content({ text, images, files, memories }: DraftContent) {
    this.#split(text);
    this.#images = images;
    this.#files = files;
    this.#memories = memories;
    this.#changed();
  }

  /** Begins rewriting a message; the draft is kept for afterwards. Replaces another edit: see `rewritten`. */
  beginEdit(turn: Editing, edited: DraftContent): void {
    this.#stash = { turn, before: this.#stash?.before ?? this.content, edited };
    this.content = edited;
  }

  /** Continues an edit that was ended. Replaces another one, like beginEdit. */
  resume({ turnId, seq, ...content }: DraftEdit): void {
    this.#stash = { turn: { turnId, seq }, before: this.#stash?.before ?? this.content, edited: null };
    this.content = content;
  }

  /** The turn whose message is being rewritten in the field. */
  get editing(): Editing | null {
    return this.#stash?.turn ?? null;
  }

  /** The edit in the field, if it differs from the message: ending it would lose text. */
  get rewritten(): DraftEdit | null {
    if (!this.#stash) return null;
    const { turn, edited } = this.#stash;
    const now = this.content;
    return edited && same(now, edited) ? null : { turnId: turn.turnId, seq: turn.seq, ...now };
  }

  /** The draft that an old message replaced. */
  get before(): DraftContent {
    return this.#stash?.before ?? nothing;
  }

  /** Restores the draft that an old message replaced. */
  restoreBefore(): void {
    if (!this.#stash) return;
    const { before } = this.#stash;
    this.#stash = null;
    this.content = before;
  }

  /** Another branch is about to open: text typed from here on is for that one. */
  async leave(): Promise<void> {
    void this.flush();
    if (this.#branchId !== '') {
      if (this.#branchId === this.#sendingBranch && this.#unsaved) this.#leftWith = this.#current();
      this.#left = this.#branchId;
      this.#branchId = '';
      this.#take(nothing);
    }
    await this.#saving; // also what was being saved before: `stay` reads it
  }

  /** It could not be opened: returns to the branch that was left, with the text typed since. */
  async stay(): Promise<void> {
    const left = this.#left;
    if (left === '') return;
    const draft = await this.#backend.sessions.draft(left).catch(() => nothing);
    if (left === this.#left) await this.load(left, draft);
  }

  /** Another branch is open: shows its draft. */
  async load(branchId: string, draft: Draft = nothing): Promise<void> {
    // The same branch was read again: unsaved text here wins, whether or not it can be saved just now.
    if (branchId === this.#branchId && (this.#unsaved || this.#stash)) return this.flush();
    // Text written before any branch was open belongs to the first one that is.
    const early = this.#branchId === '' && this.#unsaved ? this.content : nothing;
    const saved = this.flush();
    this.#left = '';
    this.#branchId = branchId; // at once, since text typed while the old draft is saved belongs to the new branch
    const notSaved = this.#notSaved.get(branchId);
    this.#take(notSaved ?? draft);
    if (notSaved) {
      this.#notSaved.delete(branchId);
      this.#changed();
    }
    if (early !== nothing) this.content = merge(this.content, early);
    await saved;
  }

  /**
   * Runs an action of the program that changes the draft, such as sending it. Drafts are neither saved nor read
   * meanwhile, and a running save is awaited: a late save would restore the sent message.
   */
  async handOver<T>(send: () => Promise<T>): Promise<T> {
    const { branchId, content } = this;
    const draft = this.#current();
    this.#cancel();
    this.#version++;
    this.#sendingBranch = branchId;
    try {
      await this.#saving;
      const result = await send();
      if (this.#leftWith) await this.#keepSince(branchId, content, this.#leftWith);
      return result;
    } catch (error) {
      // The branch was left and its text is no longer in the field: it is saved where it was written.
      if (this.#branchId !== branchId) await this.#save(branchId, this.#leftWith ?? draft);
      throw error;
    } finally {
      this.#sendingBranch = '';
      this.#leftWith = null;
      if (this.#unsaved) this.#schedule();
    }
  }

  /** Keeps what was written after a message was handed over and before its branch was left. */
  async #keepSince(branchId: string, message: DraftContent, { edit, ...before }: Draft): Promise<void> {
    const since = without(before, message);
    if (!edit && same(since, nothing)) return;
    const { edit: _, ...now } = await this.#backend.sessions.draft(branchId).catch((): Draft => nothing);
    const merged = merge(now, since);
    if (this.#branchId === branchId) this.content = merged;
    else await this.#save(branchId, edit ? { ...merged, edit } : merged);
  }

  /** Replaces the draft by the one that the program has. */
  take(draft: Draft): void {
    this.#cancel();
    this.#take(draft);
  }

  /** The draft of this branch was changed elsewhere. Unsaved text here wins. */
  async reload(branchId: string): Promise<void> {
    if (branchId !== this.#branchId || branchId === this.#sendingBranch || this.#unsaved || this.#stash) return;
    const version = ++this.#version;
    const draft = await this.#backend.sessions.draft(branchId);
    if (version === this.#version) this.#take(draft);
  }

  clear(): void {
    this.take(nothing);
  }

  /** A message was sent. Text written in the field since then stays. */
  sent(message: DraftContent): void {
    if (this.#stash) {
      // An edit was begun since: the message is in the draft that it replaced.
      this.#stash = { ...this.#stash, before: without(this.#stash.before, message) };
      this.#changed();
      return;
    }
    this.take(without(this.content, message));
    if (!this.isEmpty || this.#memories.length > 0) this.#changed();
  }

  /** Keeps a message of a branch that may no longer be open, until it can be saved. */
  async keep(branchId: string, content: DraftContent): Promise<void> {
    await this.#saving;
    await this.#save(branchId, content);
  }

  async flush(): Promise<void> {
    this.#cancel();
    for (const [branchId, draft] of this.#notSaved) this.#saving = this.#saving.then(() => this.#save(branchId, draft));
    if (!this.#unsaved || this.#branchId === '' || this.#branchId === this.#sendingBranch) return;
    this.#unsaved = false;
    // In order: the program handles calls concurrently, and an older text must not overwrite a newer one.
    const { branchId } = this;
    const draft = this.#current();
    this.#saving = this.#saving.then(() => this.#save(branchId, draft));
    await this.#saving;
  }

  async #save(branchId: string, draft: Draft): Promise<void> {
    try {
      await this.#backend.sessions.saveDraft(branchId, draft);
      this.#notSaved.delete(branchId);
      if (this.#notSaved.size === 0) this.#unsavedWhy = null;
    } catch (error) {
      this.#keepUnsaved(branchId, draft, error);
    }
  }

  /** Keeps a draft that could not be saved, also of a branch that was left, and tries again later. */
  #keepUnsaved(branchId: string, draft: Draft, error: unknown): void {
    if (branchId === this.#branchId) this.#unsaved = true;
    else this.#notSaved.set(branchId, draft);
    this.#unsavedWhy = toBackendError(error);
    this.#schedule(saveAgainAfterMs);
  }

  /** The draft to save. An unchanged edit is not saved: its message is in the history. */
  #current(): Draft {
    if (!this.#stash) return this.content;
    const { before } = this.#stash;
    const edit = this.rewritten;
    return edit ? { ...before, edit } : before;
  }

  #take({ edit, ...before }: Draft): void {
    const { text, images, files, memories } = edit ?? before;
    this.#version++;
    this.#stash = edit ? { turn: { turnId: edit.turnId, seq: edit.seq }, before, edited: null } : null;
    this.#split(text);
    this.#images = images;
    this.#files = files;
    this.#memories = memories;
    this.#unsaved = false;
  }

  #split(text: string): void {
    const long = text.length > longText;
    this.#typed = long ? '' : text;
    this.#longTexts = long ? [text] : [];
  }

  #changed(): void {
    this.#version++;
    this.#unsaved = true;
    this.#schedule();
  }

  #schedule(afterMs = saveAfterMs): void {
    this.#cancel();
    this.#timer = setTimeout(() => void this.flush(), afterMs);
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Merges two messages, the first above the second. */
export function merge(a: DraftContent, b: DraftContent): DraftContent {
  const text = [a.text, b.text].filter((part) => part !== '').join('\n\n');
  return { text, images: [...a.images, ...b.images], files: [...a.files, ...withoutId(b.files, a.files)], memories: [...a.memories, ...withoutId(b.memories, a.memories)] };
}

/** What was written in addition to a message. */
function without(now: DraftContent, { text, images, files, memories }: DraftContent): DraftContent {
  return {
    text: now.text.startsWith(text) ? now.text.slice(text.length).trimStart() : now.text,
    images: now.images.filter((image) => !images.includes(image)),
    files: withoutId(now.files, files),
    memories: withoutId(now.memories, memories),
  };
}

function same(a: DraftContent, b: DraftContent): boolean {
  const sameItems = <T>(left: readonly T[], right: readonly T[]) => left.length === right.length && left.every((item, i) => item === right[i]);
  return a.text === b.text && sameItems(a.images, b.images) && sameItems(a.files, b.files) && sameItems(a.memories, b.memories);
}

const withoutId = <T extends { id: string }>(all: readonly T[], some: readonly T[]) => all.filter((item) => !some.some((other) => other.id === item.id));
