/** Converts pasted or dropped pictures for the program. */
import type { ImageUpload } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

export const imageTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const imageMost = 5 * 1024 * 1024;

/** Why a file cannot be attached; empty: it can. */
export function refusal(file: Pick<File, 'type' | 'size' | 'name'>): string {
  const name = file.name || t('composer.thePicture');
  if (!imageTypes.includes(file.type)) return t('composer.notPicture', { name });
  if (file.size > imageMost) return t('composer.tooLarge', { name });
  if (file.size === 0) return t('composer.emptyFile', { name });
  return '';
}

export async function readImage(file: File): Promise<ImageUpload> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(t('composer.unreadable', { name: file.name || t('composer.thePicture') })));
    reader.readAsDataURL(file);
  });
  return { mediaType: file.type, data: url.slice(url.indexOf(',') + 1), name: file.name || 'picture' };
}
