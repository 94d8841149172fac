import type { BlockView, ChatService, FileView } from '../types';
import { BackendError } from '../errors';
import { block, errorView } from './shapes';
import type { FakeStore } from './store';

/** Documents of the fake program, by content; files that are not text are rejected. */
export function documents(store: FakeStore): Pick<ChatService, 'attach' | 'attachCancel' | 'document'> {
  const arriving = new Map<string, { name: string; data: string }>();
  const kept = new Map<string, { file: FileView; text: string }>();
  let count = 0;
  return {
    attach: async (part) => {
      const upload = part.upload || `upload${++count}`;
      const before = arriving.get(upload);
      if (part.upload !== '' && !before) throw new BackendError(errorView('This document is no longer being attached.', 'attach it again', 'not_found'));
      store.branch(part.branchId);
      const data = (before?.data ?? '') + atob(part.data);
      if (!part.last) {
        arriving.set(upload, { name: part.name, data });
        return { upload, file: null, image: null };
      }
      arriving.delete(upload);
      if (data.includes('\0')) throw new BackendError(errorView(`${part.name} is not a text file; nothing was attached.`, 'text, Markdown, source code and PDF can be attached'));
      const text = new TextDecoder().decode(Uint8Array.from(data, (letter) => letter.charCodeAt(0)));
      const known = [...kept.values()].find((document) => document.text === text);
      const file = { id: known?.file.id ?? `file${++count}`, name: part.name, mediaType: 'text/plain', tokens: Math.ceil(text.length / 4) };
      kept.set(file.id, { file, text });
      return { upload, file, image: null };
    },
    attachCancel: async (upload) => void arriving.delete(upload),
    document: async (fileId) => {
      const found = kept.get(fileId);
      if (!found) throw new BackendError(errorView('That document is not kept', '', 'not_found'));
      return found;
    },
  };
}

/** Documents as blocks of a message. */
export function documentBlocks(files: readonly FileView[]): BlockView[] {
  return files.map((file) => block('document', '', { name: file.name, id: file.id, tokens: file.tokens, whole: file.tokens <= 12_500 }));
}
