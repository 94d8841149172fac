import type { BlockView, ToolCallView } from '$lib/backend/types';

/**
 * Which call of the tool journal each block of an answer represents. A result that its call's card shows has null: it is
 * not drawn twice. Providers may give one id to several calls; they are then told apart by their order.
 */
export function callsByBlock(blocks: readonly BlockView[], calls: readonly ToolCallView[]): Map<number, ToolCallView | null> {
  const out = new Map<number, ToolCallView | null>();
  if (calls.length === 0) return out;
  const left = [...calls];
  const ids = new Set(calls.map((call) => call.toolUseId));
  blocks.forEach((block, index) => {
    if (block.kind === 'tool_result' && ids.has(block.id)) out.set(index, null);
    if (block.kind !== 'tool_use') return;
    const at = left.findIndex((call) => call.toolUseId === block.id);
    if (at >= 0) out.set(index, left.splice(at, 1)[0]!);
  });
  return out;
}
