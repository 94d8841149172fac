/** How long a field may take to appear, in ms: some are read from the system first. */
const timeoutMs = 3_000;
const frameMs = 50;
/** How long it stays marked. */
const markedMs = 3_000;

/** The element of a page that shows a label, as a field, a heading or a group. */
function labelled(page: HTMLElement, label: string): HTMLElement | undefined {
  const named = [...page.querySelectorAll<HTMLElement>('label, h2, h3, dt, [data-find]')].find((element) => element.textContent.trim() === label || element.dataset.find === label);
  return named?.closest<HTMLElement>('.field-row, .check') ?? named;
}

function focusIn(field: HTMLElement): void {
  const control = field.querySelector<HTMLElement>('input, select, textarea, [role="radio"][tabindex="0"], button');
  if (!control) field.tabIndex = -1;
  (control ?? field).focus({ preventScroll: true });
}

/** Keeps a field in the middle while what is above it is still loaded, until the user does something. */
function keepInView(page: HTMLElement, field: HTMLElement): void {
  const content = new ResizeObserver(() => field.scrollIntoView({ block: 'center' }));
  content.observe(page.firstElementChild!);
  const end = () => content.disconnect();
  for (const act of ['wheel', 'pointerdown', 'keydown']) page.addEventListener(act, end, { once: true });
  setTimeout(end, markedMs);
}

/**
 * Scrolls a page of the settings to a field, marks it for a moment and focuses its control, or the heading. Returns
 * whether it was found. Stops waiting for it once it is no longer wanted, and leaves the focus alone if the user has
 * moved it meanwhile.
 */
export async function showField(page: HTMLElement, label: string, isWanted: () => boolean = () => true): Promise<boolean> {
  const focusedBefore = document.activeElement;
  for (let waited = 0; waited <= timeoutMs && page.isConnected && isWanted(); waited += frameMs) {
    const field = labelled(page, label);
    if (field) {
      field.scrollIntoView({ block: 'center' });
      keepInView(page, field);
      field.dataset.found = '';
      setTimeout(() => delete field.dataset.found, markedMs);
      if (document.activeElement === focusedBefore || document.activeElement === document.body) focusIn(field);
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, frameMs));
  }
  return false;
}
