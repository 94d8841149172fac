/** How long a field may take to appear, in ms: some are read from the system first. */
const patience = 3_000;
const frameMs = 50;
/** How long it stays marked. */
const markedMs = 3_000;

/** The element of a page that shows a label, as a field, a heading or a group. */
function labelled(page: HTMLElement, label: string): HTMLElement | undefined {
  const named = [...page.querySelectorAll<HTMLElement>('label, h2, h3, dt, [data-find]')].find((element) => element.textContent.trim() === label || element.dataset.find === label);
  return named?.closest<HTMLElement>('.field-row, .check') ?? named;
}

/** Scrolls a page of the settings to a field, marks it for a moment and focuses its control. Returns whether it was found. */
export async function showField(page: HTMLElement, label: string): Promise<boolean> {
  for (let waited = 0; waited <= patience && page.isConnected; waited += frameMs) {
    const field = labelled(page, label);
    if (field) {
      field.scrollIntoView({ block: 'center' });
      field.dataset.found = '';
      setTimeout(() => delete field.dataset.found, markedMs);
      field.querySelector<HTMLElement>('input, select, textarea, [role="radio"][tabindex="0"], button')?.focus({ preventScroll: true });
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, frameMs));
  }
  return false;
}
