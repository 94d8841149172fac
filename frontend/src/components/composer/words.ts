import { short } from '$shared/format';

/** What the next request would hold with this message: "next 14.1k / 50k", or by how much it is too much. */
export function budgetWords(tokens: number, context: number, ceiling: number): { words: string; over: boolean } {
  const next = context + tokens;
  if (ceiling > 0 && next > ceiling) return { words: `over budget by ${short(next - ceiling)}`, over: true };
  return { words: `next ${short(next)} / ${short(ceiling)}`, over: false };
}
