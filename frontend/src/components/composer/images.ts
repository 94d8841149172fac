/** Pictures that were pasted or dropped, as the program takes them. */
import type { ImageUpload } from '$lib/backend/types';

export const imageTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
export const imageMost = 5 * 1024 * 1024;

/** Why a file cannot be attached; empty if it can. */
export function refusal(file: Pick<File, 'type' | 'size' | 'name'>): string {
  const name = file.name || 'The picture';
  if (!imageTypes.includes(file.type)) return `${name} is not a picture that can be sent. PNG, JPEG, GIF and WebP can.`;
  if (file.size > imageMost) return `${name} is larger than 5 MB. Make it smaller and try again.`;
  if (file.size === 0) return `${name} is empty.`;
  return '';
}

export async function readImage(file: File): Promise<ImageUpload> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name || 'The picture'} could not be read.`));
    reader.readAsDataURL(file);
  });
  return { mediaType: file.type, data: url.slice(url.indexOf(',') + 1), name: file.name || 'picture' };
}
