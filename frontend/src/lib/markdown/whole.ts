/**
 * Long texts whose parts were all drawn recently. A virtual list draws the same ones again and again: then they are
 * drawn completely from the renderer's cache, and keep their height.
 */
const maxRemembered = 40;
const texts = new Set<string>();

export const drawnCompletely = {
  has: (text: string): boolean => texts.has(text),
  add(text: string): void {
    texts.delete(text);
    texts.add(text);
    if (texts.size > maxRemembered) texts.delete(texts.values().next().value!);
  },
};
