import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { Draft, FileView, ImageUpload, MemoryChip } from '$lib/backend/types';
import { moved } from '$lib/moved';

const saveAfterMs = 350;
/** A disk that was full may have space again. */
const saveAgainAfterMs = 3_000;
/** A text longer than this is beside the field, not in it: no text field stays quick with a book inside. */
export const longText = 60_000;
/** What a message is made of. */
export type Written = Pick<Draft, 'text' | 'images' | 'files' | 'memories'>;
export const nothing: Written = { text: '', images: [], files: [], memories: [] };
const empty: Draft = { ...nothing, queued: false };

/** The unsent message of the open branch: saved a moment after each change, and at once when the branch is left. */
export class DraftState {
  #branchId = $state('');
  #typed = $state('');
  #long = $state.raw<readonly string[]>([]);
  #images = $state.raw<readonly ImageUpload[]>([]);
  #files = $state.raw<readonly FileView[]>([]);
  #memories = $state.raw<readonly MemoryChip[]>([]);
  #queued = $state(false);
  #unsaved = false;
  /** Moves with the text: what was read before it moved is old. */
  #version = 0;
  /** The branch whose message is on its way to the program. */
  #handed = '';
  #saving: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The branch that was left for one that is not open yet; empty otherwise. */
  #left = '';
  /** What stood in the field before an old message took its place there, and that message as it came. */
  #aside: { before: Written; came: Written } | null = null;
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

  /** The whole message: what is typed, then the long texts beside it. */
  get text(): string {
    return [this.#typed, ...this.#long].filter((part) => part !== '').join('\n\n');
  }

  set text(text: string) {
    this.#split(text);
    this.#changed();
  }

  /** What is in the field. */
  get typed(): string {
    return this.#typed;
  }

  set typed(text: string) {
    this.#typed = text;
    this.#changed();
  }

  /** Long texts that were pasted, each as it came. */
  get long(): readonly string[] {
    return this.#long;
  }

  addLong(text: string): void {
    this.#long = [...this.#long, text];
    this.#changed();
  }

  removeLong(index: number): void {
    this.#long = this.#long.filter((_, at) => at !== index);
    this.#changed();
  }

  moveLong(from: number, to: number): void {
    this.#long = moved(this.#long, from, to);
    this.#changed();
  }

  get images(): readonly ImageUpload[] {
    return this.#images;
  }

  set images(images: readonly ImageUpload[]) {
    this.#images = images;
    this.#changed();
  }

  /** Documents that go with the message; the program keeps them. */
  get files(): readonly FileView[] {
    return this.#files;
  }

  set files(files: readonly FileView[]) {
    this.#files = files;
    this.#changed();
  }

  /** A document that has arrived; the same one twice goes once. */
  addFile(file: FileView): void {
    this.files = [...this.#files.filter((other) => other.id !== file.id), file];
  }

  /** Pieces of memory that go with the message, chosen by hand. */
  get memories(): readonly MemoryChip[] {
    return this.#memories;
  }

  set memories(memories: readonly MemoryChip[]) {
    this.#memories = memories;
    this.#changed();
  }

  /** The message is sent automatically when the running turn is final. */
  get queued(): boolean {
    return this.#queued;
  }

  /** Why what is written could not be saved; it is tried again by itself until it can. */
  get unsavedWhy(): BackendError | null {
    return this.#unsavedWhy;
  }

  get isEmpty(): boolean {
    return this.#typed.trim() === '' && this.#long.length === 0 && this.#images.length === 0 && this.#files.length === 0;
  }

  get written(): Written {
    return { text: this.text, images: [...this.#images], files: [...this.#files], memories: [...this.#memories] };
  }

  /** The message as it is in the field, for whoever asks what it would come to. */
  get message(): Draft {
    return { ...this.written, queued: this.#queued };
  }

  set written({ text, images, files, memories }: Written) {
    this.#split(text);
    this.#images = images;
    this.#files = files;
    this.#memories = memories;
    this.#changed();
  }

  /** An old message takes the place of what was being written, which is saved along with it: nothing is lost in between. */
  setAside(came: Written): void {
    this.#aside = { before: this.#aside?.before ?? this.written, came };
    this.written = came;
  }

  /** What was set aside. */
  get before(): Written {
    return this.#aside?.before ?? nothing;
  }

  /** What was set aside is in the field again. */
  takeBack(): void {
    if (!this.#aside) return;
    const { before } = this.#aside;
    this.#aside = null;
    this.written = before;
  }

  /** Another branch is about to open: what is typed from here on is kept for that one. */
  async leave(): Promise<void> {
    const saved = this.flush();
    if (this.#branchId !== '') {
      this.#left = this.#branchId;
      this.#branchId = '';
      this.#take(empty);
    }
    await saved;
  }

  /** It did not open: back to the branch that was left, with what was typed since. */
  async stay(): Promise<void> {
    const left = this.#left;
    if (left === '') return;
    const draft = await this.#backend.sessions.draft(left).catch(() => empty);
    if (left === this.#left) await this.load(left, draft);
  }

  /** Another branch is open: what it holds unsent. */
  async load(branchId: string, draft: Draft = empty): Promise<void> {
    // The same branch, read again: what is being typed wins, whether or not it can be saved just now.
    if (branchId === this.#branchId && (this.#unsaved || this.#aside)) return this.flush();
    // What was written before any branch had opened belongs to the first one that does.
    const early = this.#branchId === '' && this.#unsaved ? this.written : nothing;
    const saved = this.flush();
    this.#left = '';
    this.#branchId = branchId; // at once: what is typed while the old text is saved belongs here
    const notSaved = this.#notSaved.get(branchId);
    this.#take(notSaved ?? draft);
    if (notSaved) {
      this.#notSaved.delete(branchId);
      this.#changed();
    }
    if (early !== nothing) this.written = together(this.written, early);
    await saved;
  }

  /**
   * Hands the message to the program. Nothing of it is saved meanwhile, and no save is left under way: one that came
   * late would bring back what was sent, or make a queued message wait forever.
   */
  async handOver<T>(send: () => Promise<T>): Promise<T> {
    const branchId = this.#branchId;
    const draft = this.#current();
    this.#cancel();
    this.#handed = branchId;
    try {
      await this.#saving;
      return await send();
    } catch (error) {
      // The branch was left and its text is in the field no more: it is kept where it was written.
      if (this.#branchId !== branchId) await this.#backend.sessions.saveDraft(branchId, draft).catch((unsaved: unknown) => this.#strand(branchId, draft, unsaved));
      throw error;
    } finally {
      this.#handed = '';
      if (this.#unsaved) this.#schedule();
    }
  }

  /** The program queued the message. It may have sent it since, and told so before it answered: hence the second look. */
  async waits(branchId: string, draft: Draft): Promise<void> {
    if (branchId !== this.#branchId) return;
    this.take(draft);
    await this.reload(branchId).catch(() => undefined);
  }

  /** Its message was sent or queued: the program already holds what there is. */
  take(draft: Draft): void {
    this.#cancel();
    this.#take(draft);
  }

  /** Something else changed the draft of this branch. What is being typed here wins. */
  async reload(branchId: string): Promise<void> {
    if (branchId !== this.#branchId || this.#unsaved || this.#aside) return;
    const version = ++this.#version;
    const draft = await this.#backend.sessions.draft(branchId);
    if (version === this.#version) this.#take(draft);
  }

  /** Takes a queued message back for editing. */
  async unqueue(): Promise<void> {
    this.#queued = false;
    this.#unsaved = true;
    await this.flush();
  }

  clear(): void {
    this.take(empty);
  }

  /** A message was sent. What was written in the field since it was taken from there stays. */
  sent({ text, images, files, memories }: Written): void {
    const now = this.written;
    this.take({
      text: now.text.startsWith(text) ? now.text.slice(text.length).trimStart() : now.text,
      images: now.images.filter((image) => !images.includes(image)),
      files: withoutId(now.files, files),
      memories: withoutId(now.memories, memories),
      queued: false,
    });
    if (!this.isEmpty || this.#memories.length > 0) this.#changed();
  }

  /** What belongs to a branch that may be open no more: kept here until it can be saved. */
  async keep(branchId: string, written: Written): Promise<void> {
    await this.#saving;
    await this.#save(branchId, { ...written, queued: false });
  }

  async flush(): Promise<void> {
    this.#cancel();
    for (const [branchId, draft] of this.#notSaved) this.#saving = this.#saving.then(() => this.#save(branchId, draft));
    if (!this.#unsaved || this.#branchId === '' || this.#branchId === this.#handed) return;
    this.#unsaved = false;
    // In order: the program takes calls side by side, and an older text must not overtake a newer one.
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
      this.#strand(branchId, draft, error);
    }
  }

  /** What could not be saved stays here, also of a branch that was left, and is tried again. */
  #strand(branchId: string, draft: Draft, error: unknown): void {
    if (branchId === this.#branchId) this.#unsaved = true;
    else this.#notSaved.set(branchId, draft);
    this.#unsavedWhy = toBackendError(error);
    this.#schedule(saveAgainAfterMs);
  }

  /** What is saved. An edit that changed nothing need not be: its message is in the history. */
  #current(): Draft {
    const now = this.written;
    if (!this.#aside) return { ...now, queued: this.#queued };
    const { before, came } = this.#aside;
    return { ...(same(now, came) ? before : together(before, now)), queued: this.#queued };
  }

  #take(draft: Draft): void {
    this.#version++;
    this.#aside = null;
    this.#split(draft.text);
    this.#images = draft.images;
    this.#files = draft.files;
    this.#memories = draft.memories;
    this.#queued = draft.queued;
    this.#unsaved = false;
  }

  #split(text: string): void {
    const long = text.length > longText;
    this.#typed = long ? '' : text;
    this.#long = long ? [text] : [];
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

/** One message of two, the first above the second. */
export function together(a: Written, b: Written): Written {
  const text = [a.text, b.text].filter((part) => part !== '').join('\n\n');
  return { text, images: [...a.images, ...b.images], files: [...a.files, ...withoutId(b.files, a.files)], memories: [...a.memories, ...withoutId(b.memories, a.memories)] };
}

function same(a: Written, b: Written): boolean {
  const alike = <T>(one: readonly T[], other: readonly T[]) => one.length === other.length && one.every((item, i) => item === other[i]);
  return a.text === b.text && alike(a.images, b.images) && alike(a.files, b.files) && alike(a.memories, b.memories);
}

const withoutId = <T extends { id: string }>(all: readonly T[], some: readonly T[]) => all.filter((item) => !some.some((other) => other.id === item.id));
