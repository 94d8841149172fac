/**
 * Prints a conversation: the page that an export would write, in a frame that is not seen. The frame may run no script; it
 * has the window's origin only so that the window may have it printed.
 */
import { t } from '$lib/words/words.svelte';
const patienceMs = 20_000;

/** Hands a page to the system's print dialog, and takes the frame away once it is no longer needed. */
export async function printPage(html: string): Promise<void> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-same-origin allow-modals');
  frame.setAttribute('aria-hidden', 'true');
  frame.className = 'print-frame';
  frame.tabIndex = -1;
  const loaded = new Promise<void>((resolve, reject) => {
    frame.onload = () => resolve();
    setTimeout(() => reject(new Error(t('state.notPrintable'))), patienceMs);
  });
  document.querySelectorAll('.print-frame').forEach((before) => before.remove()); // an engine may print on after print() has returned
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
