import type { Backend } from '$lib/backend/backend';
import { base64, checkDocument, pieceBytes } from './documents.svelte';

/** Adds a document to a project, in parts. Throws if it could not be added. */
export async function sendDocument({ projects }: Pick<Backend, 'projects'>, id: string, file: File): Promise<void> {
  checkDocument(file);
  let upload = '';
  try {
    for (let from = 0; from < file.size; from += pieceBytes) {
      const data = await base64(file.slice(from, from + pieceBytes), file.name);
      ({ upload } = await projects.addDocument(id, { branchId: '', name: file.name, upload, data, last: from + pieceBytes >= file.size }));
    }
  } catch (error) {
    if (upload !== '') await projects.cancelDocument(upload).catch(() => undefined);
    throw error;
  }
}
