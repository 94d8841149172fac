import { grouped } from '$shared/format';

/** Tokens as the context meter writes them: "850", "12.4k". */
export function short(tokens: number): string {
  if (tokens < 1_000) return grouped(tokens);
  return `${(tokens / 1_000).toFixed(tokens < 99_950 ? 1 : 0).replace(/\.0$/, '')}k`;
}

/** What the next request would hold with this message: "next 14.1k / 50k", or by how much it is too much. */
export function budgetWords(tokens: number, context: number, ceiling: number): { words: string; over: boolean } {
  const next = context + tokens;
  if (ceiling > 0 && next > ceiling) return { words: `over budget by ${short(next - ceiling)}`, over: true };
  return { words: `next ${short(next)} / ${short(ceiling)}`, over: false };
}
