/** Reads files of the library in the page, so that the program gets their text. */
import { BackendError } from '$lib/backend/errors';
import { t } from '$lib/i18n/i18n.svelte';

/** The text of a file chosen by the user. A file that is far too large is not read. */
export async function textOfFile(file: File, megabytes: number): Promise<string> {
  if (file.size > megabytes * 1024 * 1024) {
    throw new BackendError({ code: 'too_large', op: 'library.import', message: t('library.tooLarge', { megabytes }), hint: '' });
  }
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsText(file);
  });
}

/** A name as part of a file's name. */
export const fileName = (name: string): string => `${name.replace(/[^\p{L}\p{N} _-]/gu, '_')}.json`;
