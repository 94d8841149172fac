/**
 * Prints a conversation: an HTML export in a hidden frame. The frame may not run scripts; it has the window's origin
 * only so that the window can print it.
 */
import { t } from '$lib/i18n/i18n.svelte';
const timeoutMs = 20_000;

/** Opens the system's print dialog for a page. */
export async function printPage(html: string): Promise<void> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-same-origin allow-modals');
  frame.setAttribute('aria-hidden', 'true');
  frame.className = 'print-frame';
  frame.tabIndex = -1;
  const loaded = new Promise<void>((resolve, reject) => {
    frame.onload = () => resolve();
    setTimeout(() => reject(new Error(t('state.notPrintable'))), timeoutMs);
  });
  document.querySelectorAll('.print-frame').forEach((before) => before.remove()); // only now, since an engine may still print after print() has returned
  frame.srcdoc = html;
  document.body.append(frame);
  try {
    await loaded;
    const page = frame.contentWindow;
    if (!page) throw new Error(t('state.notPrinted'));
    page.focus();
    page.print();
  } catch (error) {
    frame.remove();
    throw error;
  }
}
