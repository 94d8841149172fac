import { describe, expect, it } from 'vitest';
import { block, turnView } from '$lib/backend/fake/shapes';
import type { Frame, StreamState } from '$lib/backend/types';
import { StepStream } from './stream';

const step = 'p1';

function frame(seq: number, text: string, more: Partial<Frame> = {}): Frame {
  return { session: 's', branch: 'b', turn: 't', step, attempt: 1, seq, block: 0, kind: 'text', text, tool: '', displayed: seq * 10, durable: seq * 5, ...more };
}

function journal(seq: number, text: string, more: Partial<StreamState> = {}): StreamState {
  return { step, attempt: 1, seq, blocks: [block('text', text)], displayed: seq * 10, durable: seq * 5, live: true, ...more };
}

const fresh = () => new StepStream(turnView({ live: true, liveStep: step, liveSeq: 0, assistant: [], displayed: 0, durable: 0 }));
const textOf = (stream: StepStream) => stream.blocks.map((block) => block.text).join('|');

describe('a step’s stream', () => {
  it('appends frames in order and counts bytes', () => {
    const stream = fresh();
    expect(['a', 'b', 'c'].map((text, i) => stream.accept(frame(i + 1, text)))).toEqual(['applied', 'applied', 'applied']);
    expect([textOf(stream), stream.seq, stream.displayed, stream.durable]).toEqual(['abc', 3, 30, 15]);
  });

  it('reorders frames that arrive out of order', () => {
    for (const order of [[2, 1, 3], [3, 2, 1], [2, 3, 1], [3, 1, 2]]) {
      const stream = fresh();
      for (const seq of order) stream.accept(frame(seq, String(seq)));
      expect([textOf(stream), stream.waiting]).toEqual(['123', 0]);
    }
  });

  it('drops duplicates, frames of another step, and frames older than its snapshot', () => {
    const stream = new StepStream(turnView({ live: true, liveStep: step, liveSeq: 2, assistant: [block('text', 'ab')] }));
    expect([stream.accept(frame(2, 'b')), stream.accept(frame(3, 'c', { step: 'p0' })), stream.accept(frame(3, 'c')), stream.accept(frame(3, 'c'))]).toEqual(['ignored', 'ignored', 'applied', 'ignored']);
    expect(textOf(stream)).toBe('abc');
  });

  it('reports a gap until it is filled', () => {
    const stream = fresh();
    expect([stream.accept(frame(1, 'a')), stream.accept(frame(3, 'c')), stream.accept(frame(4, 'd'))]).toEqual(['applied', 'gap', 'gap']);
    expect(textOf(stream)).toBe('a');
    expect(stream.accept(frame(2, 'b'))).toBe('applied');
    expect(textOf(stream)).toBe('abcd');
  });

  it('fills a gap from the journal and keeps later frames', () => {
    const stream = fresh();
    stream.accept(frame(1, 'a'));
    for (const seq of [4, 6]) stream.accept(frame(seq, String(seq)));
    stream.adopt(journal(5, 'a2345'));
    expect([textOf(stream), stream.seq, stream.waiting]).toEqual(['a23456', 6, 0]);
  });

  it('does not go back to an older journal', () => {
    const stream = fresh();
    for (const seq of [1, 2, 3]) stream.accept(frame(seq, String(seq)));
    stream.adopt(journal(2, '12'));
    expect(textOf(stream)).toBe('123');
  });

  it('opens blocks of the kinds that frames name', () => {
    const stream = fresh();
    stream.accept(frame(1, 'hm', { kind: 'reasoning' }));
    stream.accept(frame(2, 'Yes', { block: 1 }));
    stream.accept(frame(3, '', { block: 2, kind: 'tool', tool: 'run_job' }));
    stream.accept(frame(4, '{}', { block: 2, kind: 'tool' }));
    expect(stream.blocks.map(({ kind, text, name }) => [kind, text, name])).toEqual([['reasoning', 'hm', ''], ['text', 'Yes', ''], ['tool_use', '{}', 'run_job']]);
  });

  it('advances counters with frames without text, and never reduces them', () => {
    const stream = fresh();
    stream.accept(frame(1, 'a', { displayed: 20, durable: 0 }));
    const before = stream.blocks;
    stream.accept(frame(2, '', { displayed: 20, durable: 20 }));
    stream.accept(frame(3, '', { displayed: 20, durable: 4 }));
    expect([stream.durable, stream.blocks]).toEqual([20, before]);
  });

  it('continues in the block of an earlier step', () => {
    const stream = new StepStream(turnView({ live: true, liveStep: step, liveSeq: 0, assistant: [block('reasoning', 'hm'), block('text', 'One two')] }));
    stream.accept(frame(1, ' three', { block: 1 }));
    expect(textOf(stream)).toBe('hm|One two three');
    stream.adopt(journal(3, '', { blocks: [block('reasoning', 'hm'), block('text', 'One two three four')] }));
    stream.accept(frame(4, ' five', { block: 1 }));
    expect(textOf(stream)).toBe('hm|One two three four five');
  });
});
