/** Which code can be previewed. */
export type PreviewKind = 'mermaid' | 'svg' | 'html';

/** Longer code is not drawn. */
export const maxPreviewChars = 50_000;

export function previewKind(lang: string, text: string): PreviewKind | null {
  if (text.length > maxPreviewChars || text.trim() === '') return null;
  switch (lang.toLowerCase()) {
    case 'mermaid': return 'mermaid';
    case 'svg': return 'svg';
    case 'xml': return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)?<svg[\s/>]/i.test(text) ? 'svg' : null;
    case 'html': case 'xhtml': case 'htm': return 'html';
    default: return null;
  }
}

/** The texts of code whose preview is open: a virtual list draws a turn again whenever it is scrolled back to. */
export const openPreviews = new Set<string>();

export const isPreviewable = (lang: string, text: string): boolean => previewKind(lang, text) !== null;
