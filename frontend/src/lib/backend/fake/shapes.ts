import type { BlockKind, BlockView, BranchView, Code, Draft, ErrorView, JobView, ModelView, SessionRow, Setting, TurnView } from '../types';

/** Builders of blocks and rows, with defaults for everything a test does not care about. */
export function block(kind: BlockKind, text: string, more: Partial<BlockView> = {}): BlockView {
  return { kind, text, name: '', id: '', data: '', isError: false, tokens: 0, whole: false, ...more };
}

export function turnView(more: Partial<TurnView> = {}): TurnView {
  return {
    id: 't1', branchId: 'b1', seq: 1, phase: 'Done', outcome: 'completed',
    user: [block('text', 'Hello')], assistant: [block('text', 'Hello to you.')],
    state: 'committed', live: false, liveStep: '', liveSeq: 0, displayed: 13, durable: 13,
    model: 'sonnet', provider: 'anthropic', inputTokens: 120, outputTokens: 5, cachedTokens: 0,
    durationMs: 900, attempts: 1, retryOf: '', error: null, indexStatus: 'ok', stateAfter: '',
    createdAt: 0, updatedAt: 0, canContinue: false, cost: null, notice: '', cutFrom: 0, calls: [], memories: 0, memoryError: '', deletedAt: 0, ...more,
  };
}

export function sessionRow(more: Partial<SessionRow> = {}): SessionRow {
  return {
    id: 's1', title: '', activeBranch: 'b1', createdAt: 0, updatedAt: 0, pinned: false, archived: false, folder: '', leftOut: 0,
    branches: 1, turns: 0, pending: 0, status: '', ...more,
  };
}

export function branchView(more: Partial<BranchView> = {}): BranchView {
  return { id: 'b1', label: 'main', parentId: '', forkSeq: 0, turns: 0, updatedAt: 0, active: true, archived: false, machine: '', continues: '', foreign: false, ...more };
}

export function jobView(more: Partial<JobView> = {}): JobView {
  return {
    id: 0, type: 'summarize_turn', turnId: '', turnSeq: 0, sessionId: '', session: '', state: 'queued', attempts: 0,
    lastError: '', waitsFor: 0, runAfter: 0, updatedAt: 0, ...more,
  };
}

export function modelView(more: Partial<ModelView> = {}): ModelView {
  return {
    name: 'recall', provider: 'recall', modelId: 'recall', baseUrl: '', apiKeyEnv: '', contextLimit: 200_000, maxOutput: 8_000,
    limitSource: 'table: gpt-5', ceiling: 50_000, stream: true, keyHeader: '', headers: [], allowPlainHttp: false, usable: true, reason: '', default: false, builtIn: true, options: '',
    images: '', tools: '', reasoning: '', favourite: false, local: false, priceInput: 0, priceCached: 0, priceOutput: 0, priceSource: '', ...more,
  };
}

export function setting(more: Partial<Setting> = {}): Setting {
  return {
    key: '', group: 'General', label: '', help: '', type: 'string', value: '', default: '', choices: [], min: 0, max: 0,
    unit: '', origin: 'default', ...more,
  };
}

export function errorView(message: string, hint = '', code: Code = 'invalid'): ErrorView {
  return { code, op: 'fake', message, hint };
}

export function emptyDraft(): Draft {
  return { text: '', images: [], files: [], memories: [] };
}

export const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

/** The number of replacements of the oldest turns, as the meter writes it: "", " [2S]", " [2S 1E]". */
export function replacedMark(summaries: number, extracts: number): string {
  const marks = [summaries > 0 ? `${summaries}S` : '', extracts > 0 ? `${extracts}E` : ''].filter(Boolean);
  return marks.length > 0 ? ` [${marks.join(' ')}]` : '';
}
