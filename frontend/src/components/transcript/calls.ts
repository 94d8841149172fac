import type { BlockView, ToolCallView } from '$lib/backend/types';

/**
 * The tool call for each block of an answer. A result that is shown on the card of its call has null, so that it is not
 * drawn twice. Providers sometimes give several calls the same id; their order tells them apart.
 */
export function callsByBlock(blocks: readonly BlockView[], calls: readonly ToolCallView[]): Map<number, ToolCallView | null> {
  const out = new Map<number, ToolCallView | null>();
  if (calls.length === 0) return out;
  const remaining = [...calls];
  const ids = new Set(calls.map((call) => call.toolUseId));
  blocks.forEach((block, index) => {
    if (block.kind === 'tool_result' && ids.has(block.id)) out.set(index, null);
    if (block.kind !== 'tool_use') return;
    const at = remaining.findIndex((call) => call.toolUseId === block.id);
    if (at >= 0) out.set(index, remaining.splice(at, 1)[0]!);
  });
  return out;
}
