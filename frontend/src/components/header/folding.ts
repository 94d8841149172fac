/**
 * A row of fields that are never cut off: those that do not fit are left out entirely, in the given order, and the
 * row's last element, which lists them, is shown. Measured while nothing is painted, so that nothing flickers.
 */
interface Folding {
  /** Names of the fields, the first to be left out first. */
  order: readonly string[];
  /** Reports the fields that were left out, in the order of the row. */
  onfold: (names: string[]) => void;
}

const folded = 'data-left-out';

export function folding(row: HTMLElement, { order, onfold }: Folding): { destroy: () => void } {
  const fields = () => [...row.querySelectorAll<HTMLElement>('[data-field]')];
  const rest = row.lastElementChild as HTMLElement;
  let last = '';

  /** The row does not wrap and its fields do not shrink, so a field beyond its end makes it wider than its place. */
  const overflows = () => row.scrollWidth > row.clientWidth;

  function fold() {
    const all = fields();
    for (const field of all) field.removeAttribute(folded);
    rest.setAttribute(folded, '');
    if (overflows()) {
      rest.removeAttribute(folded);
      for (const name of order) {
        if (!overflows()) break;
        all.find((field) => field.dataset['field'] === name)?.setAttribute(folded, '');
      }
    }
    const names = all.filter((field) => field.hasAttribute(folded)).map((field) => field.dataset['field'] ?? '');
    if (names.join() !== last) onfold(names);
    last = names.join();
  }

  // What is around the row: its size does not depend on the fields that are left out, so that observing it cannot loop.
  // The texts of the fields change with each phase and language, and the title takes space from them.
  const bar = row.parentElement ?? row;
  const size = new ResizeObserver(fold);
  size.observe(bar);
  const texts = new MutationObserver(fold);
  texts.observe(bar, { childList: true, characterData: true, subtree: true });
  void document.fonts?.ready.then(fold);
  fold();
  return {
    destroy() {
      size.disconnect();
      texts.disconnect();
    },
  };
}
