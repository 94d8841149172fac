import type { Backend } from '$lib/backend/backend';
import { BackendError, toBackendError } from '$lib/backend/errors';
import type { AttachResult, FileView, ImageUpload } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { DraftState } from './draft.svelte';

/** Bytes of a document sent to the program in one call: a multiple of three, so that base64 needs no padding. */
export const pieceBytes = 3 * 1024 * 1024;
const maxBytes = 200 * 1024 * 1024;
/** A longer pasted text may be intended as a document; the user is offered that, and the text stays in place. */
export const minOfferLength = 4_000;
const pastedName = (): string => t('state.pastedName');

/** A document that is being attached to the draft of a branch. */
export interface Upload {
  id: number;
  branchId: string;
  name: string;
  /** The fraction of its bytes that was sent, 0 to 1. */
  progress: number;
}

/** Attached documents: being sent, rejected, offered after a paste, and opened for reading. */
export class DocumentsState {
  #uploads = $state.raw<readonly Upload[]>([]);
  #error = $state.raw<BackendError | null>(null);
  #offered = $state('');
  #reading = $state.raw<{ id: string; name: string } | null>(null);
  #next = 1;
  readonly #backend: Backend;
  readonly #draft: DraftState;

  constructor(backend: Backend, draft: DraftState) {
    this.#backend = backend;
    this.#draft = draft;
  }

  /** Those that are being attached to the open draft. */
  get uploads(): readonly Upload[] {
    return this.#uploads.filter((upload) => upload.branchId === this.#draft.branchId);
  }

  /** Why the last document was not attached. */
  get error(): BackendError | null {
    return this.#error;
  }

  /** A long text that was just pasted and is still in the message. */
  get offered(): boolean {
    const { typed, longTexts } = this.#draft;
    return this.#offered !== '' && (longTexts.includes(this.#offered) || typed.includes(this.#offered));
  }

  /** The document that is open for reading. */
  get reading(): { id: string; name: string } | null {
    return this.#reading;
  }

  read(file: { id: string; name: string } | null): void {
    this.#reading = file;
  }

  dismissError(): void {
    this.#error = null;
  }

  offer(pasted: string): void {
    if (pasted.length > minOfferLength) this.#offered = pasted.replace(/\r\n?/g, '\n');
  }

  declineOffer(): void {
    this.#offered = '';
  }

  /** Replaces the pasted text in the message by a document. The text stays in the message until the document is attached. */
  async acceptOffer(): Promise<void> {
    const text = this.#offered;
    if (!this.offered) return;
    this.#offered = '';
    const branchId = this.#draft.branchId;
    if (!(await this.attach(new File([text], pastedName(), { type: 'text/plain' })))) return;
    try {
      await this.#removeText(branchId, text);
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    }
  }

  /** Sends a document to the program in parts; returns whether it was attached. */
  async attach(file: File): Promise<boolean> {
    this.#error = null;
    const name = file.name || pastedName();
    const branchId = this.#draft.branchId;
    if (file.size === 0 || file.size > maxBytes || branchId === '') {
      this.#error = branchId === '' ? tooEarly(name) : refusal(name, file.size);
      return false;
    }
    const id = this.#next++;
    this.#uploads = [...this.#uploads, { id, branchId, name, progress: 0 }];
    try {
      const stored = await this.#send(id, file, name, branchId);
      if (stored) await this.#deliver(branchId, stored);
      return stored !== null;
    } catch (thrown) {
      this.#error = toBackendError(thrown);
      return false;
    } finally {
      this.cancel(id);
    }
  }

  /** The same for a file that the program reads itself. */
  async attachBy(name: string, read: () => Promise<AttachResult>): Promise<boolean> {
    this.#error = null;
    const branchId = this.#draft.branchId;
    const id = this.#next++;
    this.#uploads = [...this.#uploads, { id, branchId, name, progress: 0 }];
    try {
      const { file, image } = await read();
      if (!this.#uploads.some((upload) => upload.id === id)) return false;
      if (image) await this.#deliverImage(branchId, image);
      if (file) await this.#deliver(branchId, file);
      return true;
    } catch (thrown) {
      this.#error = toBackendError(thrown);
      return false;
    } finally {
      this.cancel(id);
    }
  }

  /** Cancels attaching a document; the parts already sent are discarded. */
  cancel(id: number): void {
    this.#uploads = this.#uploads.filter((upload) => upload.id !== id);
  }

  async #send(id: number, file: File, name: string, branchId: string): Promise<FileView | null> {
    let upload = '';
    for (let from = 0; from < file.size; from += pieceBytes) {
      const data = await base64(file.slice(from, from + pieceBytes), name);
      if (!this.#uploads.some((upload) => upload.id === id)) {
        if (upload !== '') await this.#backend.chat.attachCancel(upload);
        return null;
      }
      const last = from + pieceBytes >= file.size;
      const result = await this.#backend.chat.attach({ branchId, name, upload, data, last });
      if (last) return this.#uploads.some((upload) => upload.id === id) ? result.file : null;
      upload = result.upload;
      this.#uploads = this.#uploads.map((upload) => (upload.id === id ? { ...upload, progress: (from + pieceBytes) / file.size } : upload));
    }
    return null;
  }

  async #deliverImage(branchId: string, image: ImageUpload): Promise<void> {
    if (branchId === this.#draft.branchId) {
      this.#draft.images = [...this.#draft.images, image];
      return;
    }
    const draft = await this.#backend.sessions.draft(branchId);
    await this.#backend.sessions.saveDraft(branchId, { ...draft, images: [...draft.images, image] });
  }

  /** Removes a text from the draft of a branch, which may no longer be open, unless it was edited. */
  async #removeText(branchId: string, text: string): Promise<void> {
    const without = <Content extends { text: string }>(content: Content): Content => ({ ...content, text: content.text.replace(text, () => '').trim() });
    if (branchId !== this.#draft.branchId) {
      const draft = await this.#backend.sessions.draft(branchId);
      const changed = draft.edit?.text.includes(text) ? { ...draft, edit: without(draft.edit) } : draft.text.includes(text) ? without(draft) : null;
      if (changed) await this.#backend.sessions.saveDraft(branchId, changed);
      return;
    }
    const at = this.#draft.longTexts.indexOf(text);
    if (at >= 0) this.#draft.removeLongText(at);
    else if (this.#draft.typed.includes(text)) this.#draft.typed = this.#draft.typed.replace(text, () => '');
    else if (this.#draft.text.includes(text)) this.#draft.text = this.#draft.text.replace(text, () => '').trim(); // the branch was opened again meanwhile, and its text is one piece
  }

  /** Adds it to the draft of the branch where it was attached, which may no longer be open. */
  async #deliver(branchId: string, file: FileView): Promise<void> {
    if (branchId === this.#draft.branchId) {
      this.#draft.addFile(file);
      await this.#draft.flush(); // what took long to send must not be lost if the window closes
      return;
    }
    const draft = await this.#backend.sessions.draft(branchId);
    await this.#backend.sessions.saveDraft(branchId, { ...draft, files: [...draft.files.filter((other) => other.id !== file.id), file] });
  }
}

/** Documents are stored in a session, and there is none yet. */
function tooEarly(name: string): BackendError {
  return new BackendError({ code: 'busy', op: 'document.read', message: t('state.stillOpening', { name }), hint: t('state.attachAgain') });
}

/** Throws if a file cannot be sent, with the reason. */
export function checkDocument({ name, size }: Pick<File, 'name' | 'size'>): void {
  if (size === 0 || size > maxBytes) throw refusal(name, size);
}

function refusal(name: string, size: number): BackendError {
  const message = size === 0 ? t('state.fileEmpty', { name }) : t('state.fileTooLarge', { name, size: Math.floor(size / 1024 / 1024), most: 200 });
  return new BackendError({ code: 'invalid', op: 'document.read', message, hint: size === 0 ? '' : t('state.attachPart') });
}

export async function base64(piece: Blob, name: string): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new BackendError({ code: 'invalid', op: 'document.read', message: t('state.fileUnreadable', { name }), hint: t('state.checkFile') }));
    reader.readAsDataURL(piece);
  });
  return url.slice(url.indexOf(',') + 1);
}
