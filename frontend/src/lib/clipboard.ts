import { t } from '$lib/i18n/i18n.svelte';

/**
 * Copies a text. Uses the old method if the page may not use the clipboard (not every engine permits it for a desktop
 * page).
 */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyBySelection(text)) throw new Error(t('shared.textNotCopied'));
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  document.body.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    focused?.focus();
  }
}
