/**
 * Marks drawn text without touching the page's nodes: the engine paints the marks over the text (CSS Custom Highlight
 * API), so redrawing the page does not conflict with them.
 */
interface Registry {
  get(name: string): Set<AbstractRange> | undefined;
  set(name: string, highlight: Set<AbstractRange>): void;
}

/** The ranges the engine paints under a name; null where it cannot. */
export function painted(name: string): Set<AbstractRange> | null {
  const highlights = (globalThis.CSS as unknown as { highlights?: Registry } | undefined)?.highlights;
  const Make = (globalThis as unknown as { Highlight?: new () => Set<AbstractRange> }).Highlight;
  if (!highlights || !Make) return null;
  let ranges = highlights.get(name);
  if (!ranges) highlights.set(name, (ranges = new Make()));
  return ranges;
}
